import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// Checks of fields that many requests have. They need no store.
enum Check {
    static func present(_ value: String, _ field: String) throws(CallRefusal) {
        guard !value.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "\(field) is empty; it says what is asked for", details: [.field(field)])
        }
    }

    static func page(_ size: UInt32) throws(CallRefusal) {
        guard size <= Limits.pageSizeMax else {
            throw CallRefusal(
                .fieldInvalid, "page_size is \(size), the limit is \(Limits.pageSizeMax)",
                details: [.field("page_size"), .found(size), .limit(Limits.pageSizeMax)])
        }
    }

    /// Checked here, because the model accepts any text and would answer in the app's language and in US dollars.
    static func locale(_ locale: String, storefront: String = "") throws(CallRefusal) {
        do throws(Refusal) {
            if !locale.isEmpty { try checkLocale(locale, field: "locale") }
            if !storefront.isEmpty { try checkCountry(storefront, field: "storefront") }
        } catch {
            throw CallRefusal(WireStatus(error))
        }
    }

    static func entitlement(_ name: String) throws(CallRefusal) {
        let count = name.utf8.count
        guard (1...Limits.entitlementNameBytesMax).contains(count) else {
            throw CallRefusal(
                .fieldInvalid, "name has \(count) bytes; it must have 1 to \(Limits.entitlementNameBytesMax)",
                details: [.field("name"), .found(count), .limit(Limits.entitlementNameBytesMax)])
        }
    }

    /// Exactly one of the names of a customer must be given.
    static func oneName(_ names: [String]) throws(CallRefusal) {
        let count = names.count { !$0.isEmpty }
        guard count == 1 else {
            throw CallRefusal(
                count == 0 ? .fieldMissing : .fieldInvalid,
                "\(count) names of a customer are given; give exactly one of app_account_token, app_transaction_id, email_sha256 and, to find an account, transaction_id",
                details: [.field("app_account_token"), .found(count), .limit(1)])
        }
        guard names.allSatisfy({ $0.utf8.count <= Limits.accountKeyBytesMax }) else {
            throw CallRefusal(
                .fieldInvalid, "a name of a customer has more than \(Limits.accountKeyBytesMax) bytes",
                details: [.field("app_account_token"), .limit(Limits.accountKeyBytesMax)])
        }
    }

    /// The hash of an e-mail address; nil where none is given.
    static func emailHash(_ text: String) throws(CallRefusal) -> ContentHash? {
        if text.isEmpty { return nil }
        guard let hash = EmailHash.hash(hexadecimal: text) else {
            throw CallRefusal(
                .fieldInvalid,
                "email_sha256 is no SHA-256 in 64 hexadecimal digits; send the hash of the address, trimmed and in lower case",
                details: [.field("email_sha256"), .found(text.utf8.count), .limit(ContentHash.byteCount * 2)])
        }
        return hash
    }

    static func account(_ key: String, field: String = "account") throws(CallRefusal) {
        let count = key.utf8.count
        guard (1...Limits.accountKeyBytesMax).contains(count) else {
            throw CallRefusal(
                .accountKey,
                "the account key in \(field) has \(count) bytes; it must have 1 to \(Limits.accountKeyBytesMax)",
                details: [.field(field), .found(count), .limit(Limits.accountKeyBytesMax)])
        }
    }

    static func idempotencyKey(_ bytes: [UInt8]) throws(CallRefusal) {
        guard bytes.count <= Limits.idempotencyKeyBytesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "idempotency_key has \(bytes.count) bytes, the limit is \(Limits.idempotencyKeyBytesMax)",
                details: [.field("idempotency_key"), .found(bytes.count), .limit(Limits.idempotencyKeyBytesMax)])
        }
    }

    static func order(_ order: PurchaseOrder, at path: String) throws(CallRefusal) {
        guard !order.productID.isEmpty else {
            throw CallRefusal(
                .fieldMissing, "\(path).product_id is empty; it says what is bought",
                details: [.field("\(path).product_id")])
        }
        guard order.accountToken.other.isEmpty else {
            throw CallRefusal(
                .fieldInvalid, "\(path).app_account_token is not a UUID such as 123e4567-e89b-12d3-a456-426614174000",
                details: [.field("\(path).app_account_token")])
        }
        if let date = order.date, date.isPerhapsSeconds {
            throw CallRefusal(
                .fieldInvalid,
                "\(path).purchase_date_ms is \(date.milliseconds) (\(date)), which looks like seconds; send milliseconds",
                details: [
                    .field("\(path).purchase_date_ms"), .found(date.milliseconds),
                    StatusDetail(key: "expected", value: "milliseconds since 1970, from 1973 on"),
                ])
        }
        // Refuses enumeration values of a newer contract instead of treating them as unspecified.
        guard order.introductoryEligibility.isKnownOrUnspecified else {
            throw unknown("introductory_eligibility", order.introductoryEligibility.rawValue)
        }
        guard order.renewalBehaviour.isKnownOrUnspecified else {
            throw unknown("renewal_behaviour", order.renewalBehaviour.rawValue)
        }
        func unknown(_ name: String, _ found: Int32) -> CallRefusal {
            CallRefusal(
                .fieldInvalid, "\(path).\(name) is \(found), which this server does not know; leave it out",
                details: [.field("\(path).\(name)"), .found(found)])
        }
    }

    /// Who reads texts for people.
    static func reader(_ locale: String, _ offset: Int32) throws(CallRefusal) {
        try Self.locale(locale)
        guard abs(Int64(offset)) <= Limits.utcOffsetMinutesMax else {
            throw CallRefusal(
                .fieldInvalid,
                "utc_offset_minutes is \(offset), the limit is \(Limits.utcOffsetMinutesMax) in both directions",
                details: [.field("utc_offset_minutes"), .found(offset), .limit(Limits.utcOffsetMinutesMax)])
        }
    }

    static func supposition(_ supposed: Supposition) throws(CallRefusal) {
        guard supposed.event.isKnown else {
            throw CallRefusal(
                supposed.event == .unspecified ? .fieldMissing : .fieldInvalid,
                "suppose.event is \(supposed.event), which is no event that this server knows",
                details: [.field("suppose.event"), .found(supposed.event.rawValue)])
        }
        if supposed.event == .planChange { try Self.present(supposed.productID, "suppose.product_id") }
        guard (0...Limits.priceMilliunitsMax).contains(supposed.priceMilliunits) else {
            throw CallRefusal(
                .fieldInvalid,
                "suppose.price_milliunits is \(supposed.priceMilliunits), expected 0 to \(Limits.priceMilliunitsMax)",
                details: [.field("suppose.price_milliunits"), .found(supposed.priceMilliunits)])
        }
    }

    static func products(_ asked: ProductsRequest) throws(CallRefusal) {
        guard asked.productIDs.allSatisfy({ !$0.isEmpty }) else {
            throw CallRefusal(
                .fieldInvalid, "a product identifier in product_ids is empty",
                details: [.field("product_ids")])
        }
        try Self.locale(asked.locale, storefront: asked.storefront)
    }

    static func status(_ asked: SubscriptionStatusRequest) throws(CallRefusal) {
        guard asked.allGroups else { return try Self.present(asked.groupID, "group_id") }
        guard asked.groupID.isEmpty else {
            throw CallRefusal(
                .fieldInvalid, "group_id names a group, and all_groups asks for all; send one of them",
                details: [.field("group_id")])
        }
    }

    static func atMost(_ limit: Int, _ value: String, _ field: String) throws(CallRefusal) {
        let count = value.utf8.count
        guard count > limit else { return }
        throw CallRefusal(
            .fieldInvalid, "\(field) has \(count) bytes, the limit is \(limit)",
            details: [.field(field), .found(count), .limit(limit)])
    }

    static func readable(_ asOf: AsOf) throws(CallRefusal) {
        guard let instant = asOf.instant, !Limits.readableMilliseconds.contains(instant.milliseconds) else { return }
        throw CallRefusal(
            .fieldInvalid,
            "as_of.at_ms is \(instant.milliseconds), which is not from 1970 to 9999; ask for an instant in between",
            details: [
                .field("as_of.at_ms"),
                .found(instant.milliseconds),
                StatusDetail(key: "expected", value: "0 to \(Limits.readableMilliseconds.upperBound)"),
            ])
    }

    static func deadLetter(_ id: String) throws(CallRefusal) -> ItemKey {
        guard let key = DeadLetter.key(ofID: id) else {
            throw CallRefusal(
                .deadLetterUnknown,
                "\(printable(id)) is no identifier of a dead letter; `perch dead-letters list` shows them",
                details: [.field("id")])
        }
        return key
    }
}

extension Instant {
    /// Whether a number of milliseconds is probably in seconds: as milliseconds it lies before 1973, and as seconds
    /// before 5138.
    var isPerhapsSeconds: Bool { (1..<100_000_000_000).contains(self.milliseconds) }
}
