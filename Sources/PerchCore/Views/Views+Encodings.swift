import PerchBase
import PerchModel
import PerchWire

// Encodings: the forms of a value that its watchers share, made once and freed when none is pending.
extension Views {
    /// Encodes the forms that watches need: at most two forms of a value, each plain and compressed.
    mutating func encode(
        _ view: Int32, _ key: ViewKey, _ value: ViewValue, _ info: inout ValueInfo, _ token: ResumeToken, cause: Cause,
        previous: Digest, snapshot: Bool, change: Bool, unchanged: Bool, _ tables: inout Tables
    ) {
        var encodings = Encodings()
        encodings.previousDigest = previous
        var value = value
        if key.isSigned, change || snapshot {
            tables.signing(of: self.slots[view].app).sign(&value, at: info.position)
        }
        if change {
            info.cause = cause
            encodings.change = self.encodeValue(value, info, token, of: key, &tables)
        }
        info.cause = .snapshot
        if snapshot, !change || self.needsSnapshotNow(view, &tables) {
            encodings.snapshot = self.encodeValue(value, info, token, of: key, &tables)
        }
        if unchanged {
            info.token = token.bytes
            let response: Response =
                switch key {
                case .status: .subscriptionStatusTask(.unchanged(info))
                case .entitlement: .currentEntitlementTask(.unchanged(info))
                case .products: .productsTask(.unchanged(info))
                case .intents: .purchaseIntents(.unchanged(info))
                case .messages: .messages(.unchanged(info))
                case .entitlements: .entitlementsTask(.unchanged(info))
                }
            encodings.unchanged = tables.encoded { codec throws(MessageError) in try codec.encode(response) }
        }
        if change || snapshot || unchanged { self.keepEncodings(view, encodings) }
    }

    /// A snapshot is encoded beside a change only if a watch waits for one.
    private mutating func needsSnapshotNow(_ view: Int32, _ tables: inout Tables) -> Bool {
        var call = self.slots[view].firstWatch
        while call >= 0 {
            let flags = tables.calls[call].flags
            if flags.contains(.isFirst), flags.contains(.hasUnsentValue), !flags.contains(.hasUnsentUnchanged) {
                return true
            }
            call = tables.calls[call].nextInTarget
        }
        return false
    }

    private mutating func encodeValue(
        _ value: ViewValue, _ info: ValueInfo, _ token: ResumeToken, of key: ViewKey, _ tables: inout Tables
    ) -> PayloadHandle {
        tables.counters.viewsEncoded += 1
        let plain: PayloadHandle
        do throws(MessageError) {
            switch value {
            case .statuses(let statuses):
                plain = tables.payloads.insert(try tables.codec.encodeStatuses(statuses, info, token: token).prefixed)
            case .entitlement(let transaction):
                plain = tables.payloads.insert(
                    try tables.codec.encodeEntitlement(transaction, info, token: token).prefixed)
            case .products, .intents, .messages, .entitlements:
                var info = info
                info.token = token.bytes
                plain = tables.payloads.insert(try self.encodeAtLength(value, info, tables).prefixed)
            case .failure(let failure):
                plain = self.encodeFailure(failure, info, of: key, &tables)
            }
        } catch {
            // The value is too long for a frame. A failure state, like any failed load.
            plain = self.encodeFailure(
                Failure(reason: "LOAD_FAILED", message: "the value cannot be sent: \(error)"), info, of: key, &tables)
        }
        return plain
    }

    /// Encodes rarely pushed values in the general way.
    private func encodeAtLength(
        _ value: ViewValue, _ info: ValueInfo, _ tables: borrowing Tables
    ) throws(MessageError) -> MessageCodec.Encoded {
        switch value {
        case .products(let products): try tables.codec.encodeProducts(products, info)
        case .intents(let intents): try tables.codec.encodeIntents(intents, info)
        case .messages(let messages): try tables.codec.encodeMessages(messages, info)
        case .entitlements(let entitlements): try tables.codec.encodeEntitlements(entitlements, info)
        case .statuses, .entitlement, .failure: preconditionFailure("there is a shorter way")
        }
    }

    /// The failure message for readers of a view without a value. It has no resume token.
    private mutating func encodeFailure(_ failure: Failure, _ info: ValueInfo, of key: ViewKey, _ tables: inout Tables)
        -> PayloadHandle
    {
        var info = info
        info.token = []
        info.forecast = nil
        let response = key.failed(failure, info)
        return tables.encoded { codec throws(MessageError) in try codec.encode(response) }
    }

    /// The compressed form, made for the first reader that accepts it.
    mutating func compressed(_ plain: PayloadHandle, _ known: PayloadHandle, _ tables: inout Tables) -> PayloadHandle {
        guard known.isNone, tables.payloads[plain].count >= Limits.compressBytesMin + 5 else { return known }
        let message = UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...])
        if let shared = tables.payloads.forms[plain.index]?.zlib, !shared.isNone {
            tables.payloads.retain(shared)
            return shared
        }
        guard let smaller = tables.codec.compressed(message) else { return .none }
        tables.counters.valuesCompressed += 1
        let zlib = tables.payloads.insert(smaller.prefixed)
        // For readers of gzip, who get the same deflated bytes.
        tables.payloads.retain(zlib)
        tables.payloads.setForms(of: plain) { $0.zlib = zlib }
        return zlib
    }

    /// Compresses the value of a watch for the first reader that accepts it.
    mutating func compressForReader(_ call: Int32, _ tables: inout Tables) {
        let view = tables.calls[call].view
        let flags = tables.calls[call].flags
        guard view >= 0, !flags.contains(.hasUnsentUnchanged) else { return }
        let place = self.slots[view].encodings
        guard place >= 0 else { return }
        if flags.contains(.isFirst) {
            guard !self.encodings[place].snapshot.isNone, self.encodings[place].snapshotZlib.isNone else { return }
            self.encodings[place].snapshotZlib = self.compressed(self.encodings[place].snapshot, .none, &tables)
        } else {
            guard !self.encodings[place].change.isNone, self.encodings[place].changeZlib.isNone else { return }
            self.encodings[place].changeZlib = self.compressed(self.encodings[place].change, .none, &tables)
        }
    }

    /// The newest value of a watch has been sent.
    @inline(__always)
    mutating func valueTaken(_ call: Int32, _ tables: inout Tables) {
        if !self.lateReaders.isEmpty { self.lateReaders[call] = nil }
        if !tables.callTokens.isEmpty { tables.callTokens[call] = nil }
        let view = tables.calls[call].view
        // A value sent to its only watcher is not kept: it can be recomputed.
        if self.slots[view].watchCount == 1 { self.dropEncodings(view, &tables) }
    }

    /// The body that a watch gets next.
    func encoding(for call: Int32, zlib: Bool, _ tables: borrowing Tables) -> PayloadHandle {
        let flags = tables.calls[call].flags
        let value = self.encodings(of: tables.calls[call].view)
        if flags.contains(.hasUnsentUnchanged) { return value.unchanged }
        if flags.contains(.isFirst) { return zlib && !value.snapshotZlib.isNone ? value.snapshotZlib : value.snapshot }
        return zlib && !value.changeZlib.isNone ? value.changeZlib : value.change
    }

    @inline(__always)
    func encodings(of view: Int32) -> Encodings {
        let place = self.slots[view].encodings
        return place >= 0 ? self.encodings[place] : Encodings()
    }

    mutating func keepEncodings(_ view: Int32, _ encodings: Encodings) {
        precondition(self.slots[view].encodings < 0, "view \(view) has encodings that were not let go")
        self.slots[view].encodings = self.encodings.insert(encodings)
    }

    mutating func dropEncodings(_ view: Int32, _ tables: inout Tables) {
        let place = self.slots[view].encodings
        guard place >= 0 else { return }
        // Without `all`, which builds a list in memory for each changed view.
        self.releaseForm(self.encodings[place].snapshot, &tables)
        self.releaseForm(self.encodings[place].snapshotZlib, &tables)
        self.releaseForm(self.encodings[place].change, &tables)
        self.releaseForm(self.encodings[place].changeZlib, &tables)
        self.releaseForm(self.encodings[place].unchanged, &tables)
        self.encodings.remove(place)
        self.slots[view].encodings = -1
    }

    @inline(__always)
    private mutating func releaseForm(_ form: PayloadHandle, _ tables: inout Tables) {
        if !form.isNone { tables.payloads.release(form) }
    }
}

/// A computed value before its encoding.
enum ViewValue {
    case statuses(SubscriptionStatuses)
    case entitlement(Verified<Transaction>?)
    case products(Products)
    case intents([PurchaseIntent])
    case messages([StoreMessage])
    case entitlements([NamedEntitlement])
    /// A failure is armed for the part of the store that loads this view. A state like a value: it stays until the
    /// failure is disarmed.
    case failure(Failure)
}

extension ViewKey {
    /// The part of the store that loads the view; nil if it cannot be made to fail.
    var api: StoreKitAPI? {
        switch self {
        case .status: .subscriptionStatus
        case .entitlement: .currentEntitlement
        case .products: .loadProducts
        case .intents, .messages, .entitlements: nil
        }
    }

    /// The stream's message for a failure.
    func failed(_ failure: Failure, _ info: ValueInfo) -> Response {
        switch self {
        case .status: .subscriptionStatusTask(.failure(failure, info))
        case .entitlement: .currentEntitlementTask(.failure(failure, info))
        case .products: .productsTask(.failure(failure, info))
        case .intents: .purchaseIntents(.failure(failure, info))
        case .messages: .messages(.failure(failure, info))
        case .entitlements: .entitlementsTask(.failure(failure, info))
        }
    }
}
