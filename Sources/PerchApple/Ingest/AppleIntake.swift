package import PerchBase
import PerchJSON
package import PerchModel

/// An app that takes reports of the App Store.
package struct IntakeApp: Hashable, Sendable {
    package let app: AppleApp
    package let roots: TrustedRoots

    /// A production app trusts Apple's root alone.
    package static func production(bundleID: String, appAppleID: Int64) -> IntakeApp {
        IntakeApp(app: .production(bundleID: bundleID, appAppleID: appAppleID), roots: .apple)
    }

    /// A sandbox app trusts Apple's root and the operator's.
    package static func sandbox(bundleID: String, further roots: [[UInt8]] = []) throws(RootFault) -> IntakeApp {
        IntakeApp(app: .sandbox(bundleID: bundleID), roots: try .sandbox(further: roots))
    }

    private init(app: AppleApp, roots: TrustedRoots) {
        self.app = app
        self.roots = roots
    }
}

/// Turns what the App Store sends into reports. Verification happens here, before the store's thread. Used by one thread.
package struct AppleIntake {
    private struct Name: Hashable {
        let bundleID: String
        let environment: String
    }

    private var apps: [Name: IntakeApp] = [:]
    private var verifiers: [TrustedRoots: AppleVerifier] = [.apple: AppleVerifier(roots: .apple)]

    /// Of two apps with one bundle ID and environment the last one counts.
    package init(_ apps: [IntakeApp]) {
        for app in apps {
            self.apps[Name(bundleID: app.app.bundleID, environment: app.app.environment.rawValue)] = app
            self.verifiers[app.roots] = AppleVerifier(roots: app.roots)
        }
    }

    /// Certificate chains that were checked, for metrics.
    package var chainsChecked: UInt64 { self.verifiers.values.reduce(0) { $0 + $1.chainsChecked } }

    /// Whether the chain of a signed value was good before, so that it costs one signature. Nothing else of it is known.
    package func knowsChain(of text: String) -> Bool {
        let header = Array(text.utf8.prefix { $0 != UInt8(ascii: ".") })
        return self.verifiers.values.contains { $0.knows(header) }
    }

    // MARK: Notifications

    /// Takes a signed notification.
    package mutating func notification(_ text: String, now: Instant) throws(IntakeRefusal) -> SourceReport {
        let (payload, subject) = try self.open(text, limit: Limits.appleNotificationBytesMax, now: now) {
            let notification = NotificationPayload($0)
            return (notification.bundleID, notification.environment)
        }
        let notification: NotificationPayload
        do throws(VerificationFault) {
            notification = try subject.app.notification(payload.value)
        } catch {
            throw IntakeRefusal(.notConfigured, error)
        }
        var report = SourceReport(
            kind: .notification, app: subject.app,
            eventID: notification.uuid ?? payload.contentDigest.description, signed: notification.signedDate ?? now)
        report.type = notification.type ?? ""
        report.subtype = notification.subtype ?? ""
        report.consumptionReason = notification.consumptionRequestReason ?? ""
        report.statedStatus = notification.status.flatMap { Int32(exactly: $0) }.map { RenewalState(rawValue: $0) }
        report.unknownFields = notification.unknownFields
        // A TEST notification has none of these, and is taken.
        if let text = notification.signedTransaction {
            try self.add(text, .transaction, to: &report, subject, now: now)
        }
        if let text = notification.signedRenewalInfo {
            try self.add(text, .renewalInfo, to: &report, subject, now: now)
        }
        if let text = notification.signedAppTransaction {
            try self.add(text, .appTransaction, to: &report, subject, now: now)
        }
        return report
    }

    /// Adds a signed value that a notification holds.
    private mutating func add(
        _ text: String, _ kind: SourceReport.Kind, to report: inout SourceReport, _ subject: IntakeApp, now: Instant
    ) throws(IntakeRefusal) {
        do throws(VerificationFault) {
            let payload = try self.verified(text, limit: Limits.appleSignedBytesMax, by: subject.roots, now: now)
            try Self.read(payload, kind, of: subject.app, into: &report)
        } catch {
            if case .tooLong = error { throw IntakeRefusal(.tooLarge, error) }
            throw IntakeRefusal(.innerRefused, error)
        }
        report.values.append(SourceReport.SignedValue(kind: kind, jws: text))
    }

    /// What a notification says of itself, for a dead letter. Nothing of it is verified here.
    package static func outer(_ text: String) -> NotificationPayload? {
        do throws(VerificationFault) {
            let text = try SignedText(Array(text.utf8), limit: Limits.appleNotificationBytesMax)
            return NotificationPayload(PayloadFields(text.payload))
        } catch {
            return nil
        }
    }

    /// Whom a notification is about, for a dead letter, as far as its values can be read. Nothing of them is verified here.
    package static func about(_ text: String) -> (originals: [TransactionID], aliases: [AccountAlias]) {
        var (originals, aliases): ([TransactionID], [AccountAlias]) = ([], [])
        guard let outer = Self.outer(text) else { return (originals, aliases) }
        for inner in [outer.signedTransaction, outer.signedRenewalInfo, outer.signedAppTransaction] {
            guard let inner, let fields = Self.fields(inner) else { continue }
            if let id = fields.transactionID("originalTransactionId"), !originals.contains(id) {
                originals.append(id)
            }
            let named = [
                fields.text("appAccountToken").map { AccountAlias.appAccountToken($0.lowercased()) },
                fields.text("appTransactionId").map { AccountAlias.appTransactionID($0) },
            ]
            for alias in named.compactMap({ $0 }) where !aliases.contains(alias) { aliases.append(alias) }
        }
        return (originals, aliases)
    }

    private static func fields(_ text: String) -> PayloadFields? {
        do throws(VerificationFault) {
            return PayloadFields(try SignedText(Array(text.utf8), limit: Limits.appleSignedBytesMax).payload)
        } catch {
            return nil
        }
    }

    // MARK: Values that a backend submits

    /// Takes a signed transaction, renewal information, app transaction or notification, whichever it is.
    ///
    /// Renewal information has no bundle ID, so `app` is the app that it was submitted for. Values of other apps are refused.
    package mutating func value(
        _ text: String, for app: AppleApp, now: Instant
    ) throws(IntakeRefusal) -> SourceReport {
        guard let subject = self.apps[Name(bundleID: app.bundleID, environment: app.environment.rawValue)] else {
            throw Self.notConfigured(app.bundleID, app.environment.rawValue)
        }
        let payload: PayloadFields
        do throws(VerificationFault) {
            payload = try self.verified(text, limit: Limits.appleNotificationBytesMax, by: subject.roots, now: now)
        } catch {
            throw Self.refusal(of: error)
        }
        let kind = Self.kind(of: payload)
        guard kind != .notification else { return try self.notification(text, of: subject.app, now: now) }
        guard text.utf8.count <= Limits.appleSignedBytesMax else {
            throw IntakeRefusal(
                .tooLarge, .tooLong(bytes: text.utf8.count, limit: Limits.appleSignedBytesMax))
        }
        var report = SourceReport(
            kind: kind, app: subject.app, eventID: payload.contentDigest.description,
            signed: payload.instant("signedDate") ?? payload.instant("receiptCreationDate") ?? now)
        do throws(VerificationFault) {
            try Self.read(payload, kind, of: subject.app, into: &report)
        } catch {
            throw IntakeRefusal(.innerRefused, error)
        }
        report.values = [SourceReport.SignedValue(kind: kind, jws: text)]
        return report
    }

    /// A notification that was submitted for one app. What it names decides about its app, so it may name another one of this
    /// server, for which the caller has no credentials.
    private mutating func notification(
        _ text: String, of app: AppleApp, now: Instant
    ) throws(IntakeRefusal) -> SourceReport {
        let report = try self.notification(text, now: now)
        guard report.app.bundleID == app.bundleID else {
            throw IntakeRefusal(.innerRefused, .bundleID(found: report.app.bundleID, expected: app.bundleID))
        }
        guard report.app.environment == app.environment else {
            throw IntakeRefusal(
                .innerRefused,
                .environment(found: report.app.environment.rawValue, expected: app.environment.rawValue))
        }
        return report
    }

    /// The kind of a payload, by fields that only this kind has.
    private static func kind(of payload: PayloadFields) -> SourceReport.Kind {
        if payload.value["notificationType"] != nil { return .notification }
        if payload.value["receiptType"] != nil { return .appTransaction }
        if payload.value["autoRenewStatus"] != nil || payload.value["autoRenewProductId"] != nil {
            return .renewalInfo
        }
        return .transaction
    }

    // MARK: Parts

    /// Opens a value of an app that it names itself. What it names is trusted only once the signature is verified.
    private mutating func open(
        _ text: String, limit: Int, now: Instant, name: (PayloadFields) -> (bundleID: String?, environment: String?)
    ) throws(IntakeRefusal) -> (payload: PayloadFields, app: IntakeApp) {
        let payload: PayloadFields
        do throws(VerificationFault) {
            let signed = try SignedText(Array(text.utf8), limit: limit)
            let claimed = name(PayloadFields(signed.payload))
            let roots = self.app(claimed.bundleID, claimed.environment)?.roots ?? .apple
            payload = try self.verified(signed, by: roots, now: now)
        } catch {
            throw Self.refusal(of: error)
        }
        let named = name(payload)
        guard let app = self.app(named.bundleID, named.environment) else {
            throw Self.notConfigured(named.bundleID, named.environment)
        }
        return (payload, app)
    }

    private func app(_ bundleID: String?, _ environment: String?) -> IntakeApp? {
        guard let bundleID, let environment else { return nil }
        return self.apps[Name(bundleID: bundleID, environment: environment)]
    }

    private mutating func verified(
        _ text: String, limit: Int, by roots: TrustedRoots, now: Instant
    ) throws(VerificationFault) -> PayloadFields {
        try self.verified(try SignedText(Array(text.utf8), limit: limit), by: roots, now: now)
    }

    private mutating func verified(
        _ text: SignedText, by roots: TrustedRoots, now: Instant
    ) throws(VerificationFault) -> PayloadFields {
        PayloadFields(try self.verifiers[roots, default: AppleVerifier(roots: roots)].open(text, now: now))
    }

    /// Reads a verified payload into a report.
    private static func read(
        _ payload: PayloadFields, _ kind: SourceReport.Kind, of app: AppleApp, into report: inout SourceReport
    ) throws(VerificationFault) {
        switch kind {
        case .transaction:
            let transaction = try app.transaction(payload.value)
            let value = try self.usable { () throws(PayloadFault) in try transaction.transaction() }
            report.reports.append(.transaction(value, content: payload.contentDigest))
            report.unknownFields += transaction.unknownFields
        case .renewalInfo:
            let info = try app.renewalInfo(payload.value)
            let value = try self.usable { () throws(PayloadFault) in try info.renewalInfo() }
            // A date that is there was found usable.
            report.reports.append(.renewal(value, renewalDate: info.renewalDate, content: payload.contentDigest))
            report.unknownFields += info.unknownFields
        case .appTransaction:
            let transaction = try app.appTransaction(payload.value)
            report.appTransactionID = try self.usable { () throws(PayloadFault) in
                try payload.usableText("appTransactionId") ?? ""
            }
            report.unknownFields += transaction.unknownFields
        case .notification: break
        }
    }

    /// The model's value, or the field that it misses.
    private static func usable<Value>(
        _ value: () throws(PayloadFault) -> Value
    ) throws(VerificationFault) -> Value {
        do throws(PayloadFault) {
            return try value()
        } catch {
            throw .missingField(error.field)
        }
    }

    private static func notConfigured(_ bundleID: String?, _ environment: String?) -> IntakeRefusal {
        IntakeRefusal(
            .notConfigured, code: "APPLE_APP_UNKNOWN",
            message: "no app of this server has the bundle ID \(quoted(bundleID ?? "")) and the environment "
                + "\(quoted(environment ?? "")); configure it, and the App Store sends this again")
    }

    private static func refusal(of fault: VerificationFault) -> IntakeRefusal {
        switch fault {
        case .tooLong: IntakeRefusal(.tooLarge, fault)
        case .notCompact, .notJSON: IntakeRefusal(.malformed, fault)
        default: IntakeRefusal(.untrusted, fault)
        }
    }
}
