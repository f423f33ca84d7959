import PerchApple
package import PerchBase
import PerchJSON
import PerchModel
import PerchStore

/// A request of a performance test, to a backend's endpoint for retention messages.
package struct TwinProbe: Sendable {
    package let test: String
    package let url: String
    package let body: [UInt8]
}

/// The environment that a caller's host stands for.
struct MessagingKey: Hashable {
    var app: AppNumber
    var isProduction: Bool
}

// Retention messaging: what Apple shows to a customer who is about to cancel.
extension TwinDesk {
    func messaging(_ endpoint: MessagingEndpoint, _ call: Call) throws(TwinError) -> TwinStep {
        let key = MessagingKey(app: call.app.number, isProduction: call.request.host == .production)
        var held = self.messagings[key] ?? TwinMessaging(isReviewed: key.isProduction)
        defer { self.messagings[key] = held }
        switch endpoint {
        case .uploadImage(let identifier):
            guard let size = ImageSize(rawValue: call.request.value("imageSize") ?? "FULL_SIZE") else {
                throw .invalidImageSize
            }
            let identifier = try Self.identifier(identifier)
            guard size.fits(call.request.body) else { throw .invalidImage }
            try held.add(image: identifier, size)
        case .deleteImage(let identifier): try held.remove(image: try Self.identifier(identifier))
        case .images:
            let images = held.images
            return .answer { writer in
                writer.key("imageIdentifiers")
                writer.beginArray()
                for (identifier, image) in images.sorted(by: { $0.key < $1.key }) {
                    writer.beginObject()
                    writer.member("imageIdentifier", identifier)
                    writer.member("imageState", image.state.rawValue)
                    writer.member("imageSize", image.size.rawValue)
                    writer.endObject()
                }
                writer.endArray()
            }
        case .uploadMessage(let identifier):
            try held.add(message: try Self.identifier(identifier), try MessageText(try call.request.fields()))
        case .deleteMessage(let identifier): try held.remove(message: try Self.identifier(identifier))
        case .messages:
            let messages = held.messages
            return .answer { writer in
                writer.key("messageIdentifiers")
                writer.beginArray()
                for (identifier, message) in messages.sorted(by: { $0.key < $1.key }) {
                    writer.beginObject()
                    writer.member("messageIdentifier", identifier)
                    writer.member("messageState", message.state.rawValue)
                    writer.endObject()
                }
                writer.endArray()
            }
        case .setDefault(let product, let locale): return try self.setDefault(product, locale, key, call)
        case .deleteDefault(let product, let locale):
            let place = try Self.place(product, locale)
            guard held.defaults.removeValue(forKey: place) != nil else { throw .defaultNotFound }
        case .defaultMessage(let product, let locale):
            guard let identifier = held.defaults[try Self.place(product, locale)] else { throw .defaultNotFound }
            return .answer { $0.member("messageIdentifier", identifier) }
        case .setRealtimeURL:
            guard let url = try call.request.fields()["realtimeURL"]?.string, Self.isRealtimeURL(url) else {
                throw .invalidRealtimeURL
            }
            guard !key.isProduction || self.passedTests.contains(key.app) else { throw .noPassingTest }
            held.realtimeURL = url
        case .deleteRealtimeURL:
            guard held.realtimeURL != nil else { throw .noRealtimeURL }
            held.realtimeURL = nil
        case .realtimeURL:
            guard let url = held.realtimeURL else { throw .noRealtimeURL }
            return .answer { $0.member("realtimeURL", url) }
        case .beginTest: return try self.beginTest(of: held.realtimeURL, call)
        case .testResult(let identifier): return try self.testResult(identifier, call)
        }
        return .answer(TwinResponse(status: 200))
    }

    private static func identifier(_ text: String) throws(TwinError) -> String {
        guard let identifier = UUIDText.canonical(text) else { throw .badRequest }
        return identifier
    }

    private static func place(_ product: String, _ locale: String) throws(TwinError) -> TwinMessaging.Place {
        // Words of letters and digits, joined by hyphens: `en-US`, `zh-Hans`.
        let words = locale.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = words.first, (2...3).contains(language.utf8.count),
            language.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }),
            words.dropFirst().allSatisfy({ word in
                (2...8).contains(word.utf8.count)
                    && word.utf8.allSatisfy {
                        Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber
                    }
            })
        else { throw .invalidLocale }
        return TwinMessaging.Place(product: product, locale: locale)
    }

    private static func isRealtimeURL(_ url: String) -> Bool {
        guard url.utf8.count <= 256, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        // Beside the twin, a backend that is rehearsed needs no certificate.
        return ["https://", "http://127.0.0.1", "http://localhost", "http://[::1]"].contains { url.hasPrefix($0) }
            && url.utf8.count > "https://".utf8.count
    }

    /// The product must be a subscription of the app.
    private func setDefault(
        _ product: String, _ locale: String, _ key: MessagingKey, _ call: Call
    ) throws(TwinError) -> TwinStep {
        let place = try Self.place(product, locale)
        guard
            let identifier = try call.request.fields()["messageIdentifier"]?.string.flatMap({ UUIDText.canonical($0) })
        else { throw .badRequest }
        return .ask(.history(AccountKey(app: call.app.number, bytes: [0]), nil)) { answer throws(TwinError) in
            guard case .history(let history) = answer else { throw .generalRetryable }
            let isSold = history.app.catalogue.products.contains { $0.id == product && $0.type == .autoRenewable }
            guard isSold else { throw .invalidProductID }
            var held = self.messagings[key] ?? TwinMessaging(isReviewed: key.isProduction)
            try held.setDefault(identifier, at: place)
            self.messagings[key] = held
            return .answer(TwinResponse(status: 200))
        }
    }

    // MARK: Performance tests

    private func beginTest(of url: String?, _ call: Call) throws(TwinError) -> TwinStep {
        guard let text = try call.request.fields()["originalTransactionId"]?.string else {
            throw .invalidPerformanceTest
        }
        let id = try Self.number(text, else: .invalidTransactionID)
        // The requests go out as the notifications do.
        guard let url, self.deliveries[call.app.number] != nil, call.request.host != .production else {
            throw .invalidPerformanceTest
        }
        guard !self.performanceTests.values.contains(where: { $0.app == call.app && $0.pending > 0 }) else {
            throw .performanceTestRuns
        }
        return try self.transaction(id, call, else: .invalidTransactionID) { _, row throws(TwinError) in
            let transaction = row.transaction
            guard transaction.originalID == id else { throw .notOriginalID }
            guard transaction.ownership != .familyShared else { throw .familyTransaction }
            guard transaction.productType == .autoRenewable else { throw .invalidPerformanceTest }
            self.testCount += 1
            let name = Array("performance \(call.wall.milliseconds) \(self.testCount)".utf8)
            let identifier = UUIDText.of(ContentHash(of: self.store + name).bytes)
            // One that runs is the newest, so none that runs is forgotten.
            if self.performanceTests.count >= Limits.twinTestsKept {
                self.performanceTests = self.performanceTests.filter { $0.value.pending > 0 }
            }
            self.performanceTests[identifier] = PerformanceTest(
                target: url, app: call.app, originalID: id, productID: transaction.productID)
            return .answer { writer in
                PerformanceTest.writeConfig(&writer)
                writer.member("requestId", identifier)
            }
        }
    }

    private func testResult(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        guard let identifier = UUIDText.canonical(text) else { throw .invalidTestID }
        guard let test = self.performanceTests[identifier], test.app == call.app, call.request.host != .production
        else { throw .performanceTestNotFound }
        return .answer { writer in
            PerformanceTest.writeConfig(&writer)
            writer.member("target", test.target)
            writer.member("result", test.status)
            let count = test.milliseconds.count
            writer.member("successRate", count == 0 ? 0 : test.succeeded * 100 / count)
            writer.member("numPending", test.pending)
            writer.key("responseTimes")
            writer.beginObject()
            writer.member("average", count == 0 ? 0 : test.milliseconds.reduce(0, +) / Int64(count))
            for percent in [50, 90, 95, 99] { writer.member("p\(percent)", test.percentile(percent)) }
            writer.endObject()
            writer.key("failures")
            writer.beginObject()
            for (name, count) in test.failures.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
            writer.endObject()
        }
    }

    /// The next request of a performance test, if one may be sent now.
    package func nextProbe(wall: Instant) -> TwinProbe? {
        for (identifier, test) in self.performanceTests
        where test.started < PerformanceTest.total
            && test.started - test.milliseconds.count < PerformanceTest.concurrent
        {
            self.performanceTests[identifier]?.started += 1
            let name = Array("\(identifier) \(test.started)".utf8)
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("originalTransactionId", "\(test.originalID)")
            // A test app has no number at the App Store.
            writer.member("appAppleId", 1)
            writer.member("productId", test.productID)
            writer.member("userLocale", "en-US")
            writer.member("requestIdentifier", UUIDText.of(ContentHash(of: self.store + name).bytes))
            writer.member("environment", "Sandbox")
            writer.member("signedDate", wall.milliseconds)
            writer.endObject()
            guard let payload = try? writer.finish() else { preconditionFailure("a request has some hundred bytes") }
            let signed = self.signer.signAgain(payload)
            let body = TwinResponse { $0.member("signedPayload", signed) }.body
            return TwinProbe(test: identifier, url: test.target, body: body)
        }
        return nil
    }

    /// A request of a performance test has ended, with this body where it was answered.
    package func probed(_ probe: TwinProbe, _ result: SendAttemptResult, body: [UInt8], milliseconds: Int64) {
        guard let test = self.performanceTests[probe.test] else { return }
        var result = result
        if result == .success, !self.isRealtimeAnswer(body, of: test.app) { result = .invalidResponse }
        if result == .success, milliseconds > PerformanceTest.thresholdMilliseconds { result = .timedOut }
        self.performanceTests[probe.test]?.milliseconds.append(milliseconds)
        if result == .success {
            self.performanceTests[probe.test]?.succeeded += 1
        } else {
            self.performanceTests[probe.test]?.failures[result.rawValue, default: 0] += 1
        }
        if self.performanceTests[probe.test]?.hasPassed == true { self.passedTests.insert(test.app.number) }
    }

    /// Whether a backend's answer says one thing to show, of what was uploaded.
    private func isRealtimeAnswer(_ body: [UInt8], of app: TwinApp) -> Bool {
        guard let value = try? JSONReader.read(body), value.members != nil else { return false }
        let shown = ["message", "alternateProduct", "promotionalOffer", "advancedCommerceInfo"].compactMap { name in
            value[name].flatMap { $0.isNull ? nil : $0 }
        }
        guard shown.count == 1 else { return false }
        guard let identifier = shown[0]["messageIdentifier"]?.string else {
            return value["advancedCommerceInfo"] != nil
        }
        let held = self.messagings[MessagingKey(app: app.number, isProduction: false)]
        return held?.messages[identifier.lowercased()] != nil
    }
}

/// The endpoints of retention messaging.
enum MessagingEndpoint: Hashable {
    case uploadImage(String)
    case deleteImage(String)
    case images
    case uploadMessage(String)
    case deleteMessage(String)
    case messages
    case setDefault(product: String, locale: String)
    case deleteDefault(product: String, locale: String)
    case defaultMessage(product: String, locale: String)
    case setRealtimeURL
    case deleteRealtimeURL
    case realtimeURL
    case beginTest
    case testResult(String)

    /// From the words behind `/inApps/v1/messaging`.
    init?(method: String, _ words: [String]) {
        switch (method, words.first, words.count) {
        case ("GET", "image", 2) where words[1] == "list": self = .images
        case ("PUT", "image", 2): self = .uploadImage(words[1])
        case ("DELETE", "image", 2): self = .deleteImage(words[1])
        case ("GET", "message", 2) where words[1] == "list": self = .messages
        case ("PUT", "message", 2): self = .uploadMessage(words[1])
        case ("DELETE", "message", 2): self = .deleteMessage(words[1])
        case ("PUT", "default", 3): self = .setDefault(product: words[1], locale: words[2])
        case ("DELETE", "default", 3): self = .deleteDefault(product: words[1], locale: words[2])
        case ("GET", "default", 3): self = .defaultMessage(product: words[1], locale: words[2])
        case ("PUT", "realtime", 2) where words[1] == "url": self = .setRealtimeURL
        case ("DELETE", "realtime", 2) where words[1] == "url": self = .deleteRealtimeURL
        case ("GET", "realtime", 2) where words[1] == "url": self = .realtimeURL
        case ("POST", "performanceTest", 1): self = .beginTest
        case ("GET", "performanceTest", 3) where words[1] == "result": self = .testResult(words[2])
        default: return nil
        }
    }

    /// Apple's, where it is known to us: 10 for the default message, 1 for each that deletes and for the endpoint's address.
    var rate: TwinRate {
        switch self {
        case .uploadImage: TwinRate("upload image", 10)
        case .deleteImage: TwinRate("delete image", 1)
        case .images: TwinRate("images", 10)
        case .uploadMessage: TwinRate("upload message", 10)
        case .deleteMessage: TwinRate("delete message", 1)
        case .messages: TwinRate("messages", 10)
        case .setDefault: TwinRate("set default message", 10)
        case .deleteDefault: TwinRate("delete default message", 1)
        case .defaultMessage: TwinRate("default message", 10)
        case .setRealtimeURL: TwinRate("set realtime URL", 1)
        case .deleteRealtimeURL: TwinRate("delete realtime URL", 1)
        case .realtimeURL: TwinRate("realtime URL", 10)
        case .beginTest: TwinRate("performance test", 1)
        case .testResult: TwinRate("performance test result", 10)
        }
    }
}
