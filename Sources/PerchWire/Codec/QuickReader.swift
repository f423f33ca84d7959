import PerchBase
package import PerchModel

/// Reads the calls of the hot path in one pass, if they have the form that every serializer writes: known fields, each
/// once, in ascending order, and none with its default value. So to write what was read gives the same bytes. On anything else it gives up, and `MessageScan` and protobuf-c read or refuse the call
/// from the beginning. So it never decides what is valid; it only saves the second pass.
///
/// The general way reads an order with two scans, a tree of structures and a copy of each text, which exceeds the rest
/// of the loop's work for it.
struct QuickReader {
    private let bytes: UnsafeRawBufferPointer
    /// Recently read names of apps and products.
    private let names: RecentTexts?
    private var at: Int
    private let end: Int
    private var last: UInt8 = 0

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, names: RecentTexts? = nil) {
        self.bytes = bytes
        self.names = names
        self.at = range.lowerBound
        self.end = range.upperBound
    }

    enum Field {
        case end
        case number(UInt8, UInt64)
        case range(UInt8, Range<Int>)
    }

    /// The next field; nil: give up.
    @inline(__always)
    mutating func next() -> Field? {
        guard self.at < self.end else { return .end }
        let tag = self.bytes[self.at]
        self.at += 1
        let number = tag >> 3
        guard tag < 0x80, number > self.last, let value = self.varint() else { return nil }
        self.last = number
        switch tag & 7 {
        case 0 where value > 0:
            return .number(number, value)
        case 2:
            guard value > 0, value <= UInt64(self.end - self.at) else { return nil }
            defer { self.at += Int(value) }
            return .range(number, self.at..<(self.at + Int(value)))
        default:
            return nil
        }
    }

    /// A varint of up to four bytes: lengths and small numbers.
    @inline(__always)
    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while self.at < self.end, shift < 28 {
            let byte = self.bytes[self.at]
            self.at += 1
            value |= UInt64(byte & 0x7F) << shift
            // The last byte of a longer one is not zero.
            if byte < 0x80 { return byte == 0 && shift > 0 ? nil : value }
            shift += 7
        }
        return nil
    }

    func text(_ range: Range<Int>) -> String? {
        String(checking: UnsafeRawBufferPointer(rebasing: self.bytes[range]))
    }

    /// Text that many requests repeat.
    func name(_ range: Range<Int>) -> String? {
        guard let names = self.names else { return self.text(range) }
        return names.text(UnsafeRawBufferPointer(rebasing: self.bytes[range]))
    }

    func blob(_ range: Range<Int>) -> [UInt8] { [UInt8](self.bytes[range]) }

    // MARK: Messages

    /// A call of a known method without metadata.
    static func call(_ bytes: UnsafeRawBufferPointer) -> Call? {
        var reader = QuickReader(bytes, 0..<bytes.count)
        var method: Method?
        var call = Call(nil)
        while let field = reader.next() {
            switch field {
            case .end:
                guard let method else { return nil }
                call.method = method
                return call
            case .range(1, let range): method = Method(path: UnsafeRawBufferPointer(rebasing: bytes[range]))
            case .number(2, let value): call.timeoutMilliseconds = value
            case .range(4, let range): call.request = range
            default: return nil
            }
        }
        return nil
    }

    /// A HELLO. Unknown encodings are allowed, as in the general way.
    static func hello(_ bytes: UnsafeRawBufferPointer) -> Hello? {
        var reader = QuickReader(bytes, 0..<bytes.count)
        var hello = Hello()
        while let field = reader.next() {
            switch field {
            case .end: return hello
            case .number(1, let value): hello.protocolVersion = UInt32(value)
            case .range(2, let range):
                guard let text = reader.text(range) else { return nil }
                hello.authorization = text
            case .range(3, let range):
                guard let text = reader.text(range) else { return nil }
                hello.clientName = text
            case .range(4, let range):
                guard range.count <= Self.encodingsMax, bytes[range].allSatisfy({ $0 < 0x80 }) else { return nil }
                hello.accepts = bytes[range].map { Encoding(rawValue: Int32($0)) }
            case .number(5, let value): hello.heartbeatSeconds = UInt32(value)
            case .range(6, let range): hello.clientID = reader.blob(range)
            default: return nil
            }
        }
        return nil
    }

    /// One byte each; longer lists are read the general way.
    private static let encodingsMax = 8

    /// An operation that is a purchase order; other operations are read the general way.
    static func operateRequest(
        _ bytes: UnsafeRawBufferPointer, names: RecentTexts? = nil
    ) -> OperateRequest? {
        var reader = QuickReader(bytes, 0..<bytes.count)
        var request = OperateRequest()
        var orderRange: Range<Int>?
        while let field = reader.next() {
            switch field {
            case .end:
                guard let orderRange, let order = Self.order(bytes, orderRange, names) else { return nil }
                request.operation = .buy(order)
                return request
            case .range(1, let range):
                guard let app = Self.appReference(bytes, range, names) else { return nil }
                request.app = app
            case .range(2, let range):
                guard let account = reader.text(range) else { return nil }
                request.account = account
            case .range(3, let range): request.idempotencyKey = reader.blob(range)
            case .range(4, let range):
                var inner = QuickReader(bytes, range)
                guard case .range(1, let found)? = inner.next(), case .end? = inner.next() else { return nil }
                orderRange = found
            default: return nil
            }
        }
        return nil
    }

    static func purchaseRequest(
        _ bytes: UnsafeRawBufferPointer, names: RecentTexts? = nil
    ) -> PurchaseRequest? {
        var reader = QuickReader(bytes, 0..<bytes.count)
        var request = PurchaseRequest(order: .blank)
        while let field = reader.next() {
            switch field {
            case .end: return request
            case .range(1, let range):
                guard let app = Self.appReference(bytes, range, names) else { return nil }
                request.app = app
            case .range(2, let range):
                guard let account = reader.text(range) else { return nil }
                request.account = account
            case .range(3, let range):
                guard let order = Self.order(bytes, range, names) else { return nil }
                request.order = order
            case .range(8, let range): request.idempotencyKey = reader.blob(range)
            default: return nil
            }
        }
        return nil
    }

    /// The parameters of a watch, with or without a resume token.
    static func entitlementRequest(
        _ bytes: UnsafeRawBufferPointer, names: RecentTexts? = nil
    ) -> CurrentEntitlementRequest? {
        var reader = QuickReader(bytes, 0..<bytes.count, names: names)
        var request = CurrentEntitlementRequest()
        while let field = reader.next() {
            switch field {
            case .end: return request
            case .range(1, let range):
                guard let app = Self.appReference(bytes, range, names) else { return nil }
                request.app = app
            case .range(2, let range):
                guard let account = reader.text(range) else { return nil }
                request.account = account
            case .range(3, let range):
                guard let product = reader.name(range) else { return nil }
                request.productID = product
            case .range(4, let range): request.resumeToken = reader.blob(range)
            default: return nil
            }
        }
        return nil
    }

    /// A plain order of either method; nil for any other request.
    static func order(
        _ bytes: UnsafeRawBufferPointer, isPurchase: Bool, _ names: RecentTexts
    ) -> QuickOrder? {
        var reader = QuickReader(bytes, 0..<bytes.count)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var order = QuickOrder(account: none, key: none)
        var inner: Range<Int>?
        while let field = reader.next() {
            switch field {
            case .end:
                guard let inner, !order.account.isEmpty, Self.readOrder(bytes, inner, names, &order) else { return nil }
                return order
            case .range(1, let range):
                guard let app = Self.appReference(bytes, range, names) else { return nil }
                order.app = app
            case .range(2, let range):
                order.account = UnsafeRawBufferPointer(rebasing: bytes[range])
                guard order.account.isPlainText else { return nil }
            case .range(3, let range) where isPurchase:
                inner = range
            case .range(let number, let range) where number == (isPurchase ? 8 : 3):
                order.key = UnsafeRawBufferPointer(rebasing: bytes[range])
            case .range(4, let range) where !isPurchase:
                var operation = QuickReader(bytes, range)
                guard case .range(1, let found)? = operation.next(), case .end? = operation.next() else { return nil }
                inner = found
            default: return nil
            }
        }
        return nil
    }

    private static func readOrder(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ names: RecentTexts, _ order: inout QuickOrder
    ) -> Bool {
        var reader = QuickReader(bytes, range)
        while let field = reader.next() {
            switch field {
            case .end: return order.productPlace >= 0
            case .range(1, let range):
                guard let place = names.place(of: UnsafeRawBufferPointer(rebasing: bytes[range])) else { return false }
                order.productPlace = place
                order.productVersion = names.version(of: place)
            case .number(2, let value): order.quantity = UInt32(value)
            case .range(3, let range):
                // Upper case is read, and never written.
                let text = UnsafeRawBufferPointer(rebasing: bytes[range])
                guard let token = AccountToken(parsing: text), text.isLowerCase else { return false }
                order.accountToken = token
            default: return false
            }
        }
        return false
    }

    private static func appReference(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ names: RecentTexts?
    ) -> AppReference? {
        var reader = QuickReader(bytes, range, names: names)
        var app = AppReference()
        while let field = reader.next() {
            switch field {
            case .end: return app
            case .range(1, let range):
                guard let bundleID = reader.name(range) else { return nil }
                app.bundleID = bundleID
            case .number(2, let value): app.environment = AppEnvironment(rawValue: Int32(value))
            default: return nil
            }
        }
        return nil
    }

    /// An order with product, quantity and account, without offers.
    private static func order(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ names: RecentTexts?
    ) -> PurchaseOrder? {
        var reader = QuickReader(bytes, range, names: names)
        var product = ""
        var token = WrittenAccountToken()
        var quantity: UInt32 = 0
        while let field = reader.next() {
            switch field {
            case .end:
                return PurchaseOrder(productID: product, quantity: quantity, accountToken: token)
            case .range(1, let range):
                guard let text = reader.name(range) else { return nil }
                product = text
            case .number(2, let value): quantity = UInt32(value)
            case .range(3, let range):
                if let uuid = AccountToken(parsing: UnsafeRawBufferPointer(rebasing: bytes[range])) {
                    token.uuid = uuid
                    continue
                }
                guard let text = reader.text(range) else { return nil }
                token.other = text
            default: return nil
            }
        }
        return nil
    }
}

/// A purchase without an offer or a date, as it stands in its request. Valid as long as its bytes.
package struct QuickOrder {
    /// Nil where the request names no app.
    package var app: AppReference?
    /// UTF-8 without NUL, at least one byte.
    package var account: UnsafeRawBufferPointer
    /// The idempotency key; empty for none.
    package var key: UnsafeRawBufferPointer
    /// Where the codec keeps the product's name: see `MessageCodec.name(at:)`.
    package var productPlace = -1
    /// Another name at that place has another version.
    package var productVersion: UInt32 = 0
    package var quantity: UInt32 = 0
    package var accountToken: AccountToken?
}

extension UnsafeRawBufferPointer {
    /// Of a UUID's text, whose digits and hyphens have this bit too.
    fileprivate var isLowerCase: Bool {
        var common = UInt64.max
        for offset in stride(from: 0, to: self.count - 7, by: 8) {
            common &= self.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        for offset in (self.count & ~7)..<self.count where self[offset] & 0x20 == 0 { return false }
        return common & 0x2020_2020_2020_2020 == 0x2020_2020_2020_2020
    }

    /// Whether these bytes are UTF-8 without NUL. ASCII is checked eight bytes at a time.
    fileprivate var isPlainText: Bool {
        guard let base = self.baseAddress else { return true }
        var offset = 0
        var ascii = true
        while offset + 8 <= self.count {
            let word = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // A byte of 0x80 or more, or 0.
            if (word | (word &- 0x0101_0101_0101_0101)) & 0x8080_8080_8080_8080 != 0 { ascii = false }
            offset += 8
        }
        while offset < self.count {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            if byte == 0 || byte >= 0x80 { ascii = false }
            offset += 1
        }
        if ascii { return true }
        do {
            try self.bytes.checkText()
            return true
        } catch {
            return false
        }
    }
}
