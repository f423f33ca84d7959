import PerchBase
import PerchJSON
import PerchModel
import Testing

@testable import PerchApple

@Suite struct `the intake` {
    private let chain: TestChain
    private let other: TestChain
    private let app = AppleApp.sandbox(bundleID: "com.example.app")

    init() throws {
        self.chain = try TestChain()
        self.other = try TestChain()
    }

    private func intake() throws -> AppleIntake {
        AppleIntake([
            try .sandbox(bundleID: "com.example.app", further: [self.chain.root.certificate]),
            .production(bundleID: "com.example.app", appAppleID: 7),
        ])
    }

    private func sign(_ payload: String, by chain: TestChain? = nil) throws -> String {
        String(decoding: try (chain ?? self.chain).sign(payload), as: UTF8.self)
    }

    private let renewalJSON =
        #"{"originalTransactionId":"11","productId":"pro","autoRenewStatus":1,"signedDate":1700000000000,"renewalDate":1702591999000,"environment":"Sandbox"}"#

    /// A notification, as the App Store signs it.
    private func signed(
        type: String = "DID_RENEW", data: String, by chain: TestChain? = nil, more: String = ""
    ) throws -> String {
        let payload =
            #"{"notificationType":"\#(type)","notificationUUID":"u-1","version":"2.0","signedDate":1700000000000,"data":{\#(data)}\#(more)}"#
        return try self.sign(payload, by: chain)
    }

    private func data(_ more: String = "", bundleID: String = "com.example.app", environment: String = "Sandbox")
        -> String
    {
        #""bundleId":"\#(bundleID)","environment":"\#(environment)"\#(more)"#
    }

    private func refusal(_ text: String) throws -> IntakeRefusal? {
        var intake = try self.intake()
        do throws(IntakeRefusal) {
            _ = try intake.notification(text, now: signedDate)
            return nil
        } catch {
            return error
        }
    }

    @Test func `reads a notification with both values`() throws {
        var intake = try self.intake()
        let (transaction, renewal) = (try self.sign(transactionJSON), try self.sign(self.renewalJSON))
        let text = try self.signed(
            data: self.data(
                #","signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewal)","status":1"#),
            more: #","new":1"#)
        let report = try intake.notification(text, now: signedDate)
        #expect(report.kind == .notification && report.type == "DID_RENEW" && report.eventID == "u-1")
        #expect(report.app == self.app && report.statedStatus == .subscribed && report.signed == signedDate)
        #expect(report.values.map(\.jws) == [transaction, renewal])
        #expect(report.unknownFields == ["new"])
        var book = ReportedBook()
        #expect(report.reports.map { book.fold($0) } == [.news, .news])
        #expect(book.originals[11]?.head(at: signedDate)?.id == 12)
        // A retry says the same.
        let again = try intake.notification(text, now: signedDate)
        #expect(again.reports.map { book.fold($0) } == [.duplicate, .duplicate])
    }

    @Test(arguments: ["TEST", "TYPE_OF_TOMORROW"]) func `takes a notification that holds no value`(_ type: String)
        throws
    {
        var intake = try self.intake()
        let report = try intake.notification(try self.signed(type: type, data: self.data()), now: signedDate)
        #expect(report.reports.isEmpty && report.values.isEmpty && report.type == type)
    }

    @Test(arguments: ["", "{", "a.b", "a.b.c", "e30.W10.e30", "a.b.c.d"])
    func `refuses what is no signed value, and keeps nothing`(_ text: String) throws {
        let refusal = try self.refusal(text)
        #expect(
            refusal?.kind == .malformed && refusal?.isDeadLetter == false, "\(text): \(String(describing: refusal))")
    }

    @Test func `refuses an outer signature that is wrong, and keeps nothing`() throws {
        for chain in [
            self.other, try TestChain(leaf: { $0.marker = nil }), try TestChain(intermediate: { $0.marker = nil }),
        ] {
            let refusal = try self.refusal(try self.signed(data: self.data(), by: chain))
            #expect(refusal?.kind == .untrusted && refusal?.isDeadLetter == false)
        }
        var spoiled = Array(try self.signed(data: self.data()).utf8)
        // Another character of base64url: any other byte would spoil the encoding instead of the signature.
        let place = spoiled.count - 10
        spoiled[place] = spoiled[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(try self.refusal(String(decoding: spoiled, as: UTF8.self))?.code == "APPLE_SIGNATURE")
    }

    @Test func `refuses a value inside that is wrong, and keeps a dead letter`() throws {
        let wrong = [
            "\"signedTransactionInfo\":\"\(try self.sign(transactionJSON, by: self.other))\"",
            "\"signedTransactionInfo\":\"a.b.c\"",
            "\"signedTransactionInfo\":\"\(try self.sign(transactionJSON.replacing("com.example.app", with: "com.other")))\"",
            "\"signedTransactionInfo\":\"\(try self.sign(transactionJSON.replacing("Sandbox", with: "Xcode")))\"",
            "\"signedTransactionInfo\":\"\(try self.sign(transactionJSON.replacing("purchaseDate", with: "x")))\"",
            "\"signedRenewalInfo\":\"\(try self.sign(self.renewalJSON.replacing("autoRenewStatus", with: "x")))\"",
            "\"signedRenewalInfo\":\"\(try self.sign(self.renewalJSON.replacing("Sandbox", with: "Production")))\"",
        ]
        for value in wrong {
            let refusal = try self.refusal(try self.signed(data: self.data("," + value)))
            #expect(
                refusal?.kind == .innerRefused && refusal?.isDeadLetter == true,
                "\(value.prefix(60)): \(String(describing: refusal))")
        }
    }

    @Test func `refuses a value where no app is configured, and keeps a dead letter of a good signature`() throws {
        // A sandbox value of another bundle is signed by Apple alone: this root is the app's own.
        var intake = AppleIntake([
            try .sandbox(bundleID: "com.example.app", further: [self.chain.root.certificate]),
            try .sandbox(bundleID: "com.second.app", further: [self.other.root.certificate]),
        ])
        let text = try self.signed(data: self.data(bundleID: "com.third.app"))
        #expect(try self.refusal(text)?.kind == .untrusted)
        // The root of one app does not vouch for another.
        let stolen = try self.signed(data: self.data(bundleID: "com.second.app"))
        #expect(throws: IntakeRefusal.self) { try intake.notification(stolen, now: signedDate) }
        // Of a value whose signature is good, what it names decides.
        do throws(IntakeRefusal) {
            _ = try intake.value(
                try self.signed(transactionJSON), for: .sandbox(bundleID: "com.third.app"), now: signedDate)
            Issue.record("an app that is not configured")
        } catch {
            #expect(error.kind == .notConfigured && error.isDeadLetter && error.code == "APPLE_APP_UNKNOWN")
        }
    }

    private func signed(_ payload: String) throws(IntakeRefusal) -> String {
        do {
            return try self.sign(payload)
        } catch {
            preconditionFailure("signing needs no more than memory")
        }
    }

    @Test func `refuses what is too long`() throws {
        let long = String(repeating: "A", count: Limits.appleNotificationBytesMax + 1)
        #expect(try self.refusal(long)?.kind == .tooLarge)
        let text = String(repeating: "A", count: Limits.appleSignedBytesMax + 1)
        let refusal = try self.refusal(try self.signed(data: self.data(",\"signedTransactionInfo\":\"\(text)\"")))
        #expect(refusal?.kind == .tooLarge && refusal?.isDeadLetter == false)
    }

    @Test func `knows a chain once a value of it was good, and no stranger's`() throws {
        var intake = try self.intake()
        let text = try self.signed(type: "TEST", data: self.data())
        #expect(!intake.knowsChain(of: text))
        _ = try intake.notification(text, now: signedDate)
        #expect(intake.knowsChain(of: try self.signed(type: "OTHER", data: self.data())))
        let strange = try self.signed(data: self.data(), by: self.other)
        #expect(throws: IntakeRefusal.self) { try intake.notification(strange, now: signedDate) }
        #expect(!intake.knowsChain(of: strange) && !intake.knowsChain(of: ""))
    }

    @Test func `does not trust a sandbox root for production`() throws {
        let refusal = try self.refusal(
            try self.signed(data: self.data(#","appAppleId":7"#, environment: "Production")))
        #expect(refusal?.kind == .untrusted)
        var intake = try self.intake()
        let app = AppleApp.production(bundleID: "com.example.app", appAppleID: 7)
        let value = try self.sign(transactionJSON.replacing("Sandbox", with: "Production"))
        #expect(throws: IntakeRefusal.self) { try intake.value(value, for: app, now: signedDate) }
    }

    @Test func `takes submitted values of every kind, and no other app's`() throws {
        var intake = try self.intake()
        let receipt =
            #"{"receiptType":"Sandbox","bundleId":"com.example.app","appTransactionId":"704","receiptCreationDate":1700000000000}"#
        for (payload, kind, count) in [
            (transactionJSON, SourceReport.Kind.transaction, 1), (self.renewalJSON, .renewalInfo, 1),
            (receipt, .appTransaction, 0),
            (#"{"notificationType":"TEST","data":{\#(self.data())},"signedDate":1700000000000}"#, .notification, 0),
        ] {
            let report = try intake.value(try self.sign(payload), for: self.app, now: signedDate)
            #expect(report.kind == kind && report.reports.count == count, "\(kind)")
            #expect(report.appTransactionID == (kind == .appTransaction ? "704" : ""))
            let again = try intake.value(try self.sign(payload), for: self.app, now: signedDate)
            #expect(again.eventID == report.eventID, "one value has one event ID, however it was signed")
        }
        let others = try self.sign(transactionJSON.replacing("com.example.app", with: "com.other"))
        do throws(IntakeRefusal) {
            _ = try intake.value(others, for: self.app, now: signedDate)
            Issue.record("another app's transaction")
        } catch {
            #expect(error.code == "APPLE_APP_IDENTIFIER")
        }
    }

    @Test func `refuses a submitted notification of another app of this server`() throws {
        let roots = [self.chain.root.certificate]
        var intake = AppleIntake([
            try .sandbox(bundleID: "com.example.app", further: roots),
            try .sandbox(bundleID: "com.second.app", further: roots),
        ])
        let text = try self.sign(
            #"{"notificationType":"TEST","data":{\#(self.data(bundleID: "com.second.app"))},"signedDate":1700000000000}"#
        )
        #expect(
            try intake.value(text, for: .sandbox(bundleID: "com.second.app"), now: signedDate).kind == .notification)
        do throws(IntakeRefusal) {
            _ = try intake.value(text, for: self.app, now: signedDate)
            Issue.record("another app's notification")
        } catch {
            #expect(error.code == "APPLE_APP_IDENTIFIER")
        }
    }

    @Test func `names every refusal`() {
        #expect(IntakeRefusal(.untrusted, .signature).libraryStatus == .verificationFailure)
    }
}
