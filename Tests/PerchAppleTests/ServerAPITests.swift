import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchTesting
import Testing

/// The App Store Server API as values. `Tests/Apple/reconcile.py` verifies the tokens with another library.
@Suite struct `the server API` {
    private static let made = MadeCertificate("key")

    @Test func `a token names its key, its issuer and its app, for five minutes`() throws {
        let key = try AppleAPIKey(p8: Self.made.key, id: "ABC123", issuerID: "issuer")
        let token = key.token(for: "com.example.app", at: Instant(milliseconds: 1_800_000_000_999))
        let parts = token.split(separator: ".").map { String($0) }
        #expect(parts.count == 3)
        func json(_ part: String) throws -> JSONValue { try JSONReader.read(Base64URL.decode(part.utf8) ?? []) }
        let (header, claims) = (try json(parts[0]), try json(parts[1]))
        #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == "ABC123" && header["typ"]?.string == "JWT")
        #expect(claims["iss"]?.string == "issuer" && claims["bid"]?.string == "com.example.app")
        #expect(claims["aud"]?.string == "appstoreconnect-v1")
        #expect(claims["iat"]?.integer == 1_800_000_000 && claims["exp"]?.integer == 1_800_000_300)
        #expect(Base64URL.decode(parts[2].utf8)?.count == 64)
    }

    @Test func `a file that is no key is refused`() {
        #expect(throws: AppleAPIKeyFault.noKey) {
            try AppleAPIKey(p8: Self.made.certificate, id: "A", issuerID: "B")
        }
        #expect(throws: AppleAPIKeyFault.noKey) { try AppleAPIKey(p8: [], id: "A", issuerID: "B") }
        #expect(throws: AppleAPIKeyFault.unnamed) { try AppleAPIKey(p8: Self.made.key, id: "", issuerID: "B") }
        #expect(throws: AppleAPIKeyFault.unnamed) { try AppleAPIKey(p8: Self.made.key, id: "A", issuerID: "") }
    }

    @Test func `calls have the App Store's paths, and half of its rates`() {
        let walk = AppleAPICall.notifications(
            from: Instant(milliseconds: 1), to: Instant(milliseconds: 2), onlyFailures: true, page: "a+b/=")
        #expect(walk.path == "/inApps/v1/notifications/history?paginationToken=a%2Bb%2F%3D")
        #expect(
            String(decoding: walk.body, as: UTF8.self) == "{\"startDate\":1,\"endDate\":2,\"onlyFailures\":true}")
        #expect(AppleAPICall.statuses(7).path == "/inApps/v1/subscriptions/7")
        #expect(AppleAPICall.history(7, revision: "").path == "/inApps/v2/history/7")
        #expect(AppleAPICall.history(7, revision: "a/b").path == "/inApps/v2/history/7?revision=a%2Fb")
        let answer = AppleAPICall.consumption(
            7,
            ConsumptionAnswer(hasConsent: true, delivery: .wrongItem, consumedMilli: 50_000, preference: .grantProrated)
        )
        #expect(answer.path == "/inApps/v2/transactions/consumption/7" && answer.method == "PUT")
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == "{\"customerConsented\":true,\"sampleContentProvided\":false,\"deliveryStatus\":\"UNDELIVERED_WRONG_ITEM\",\"consumptionPercentage\":50000,\"refundPreference\":\"GRANT_PRORATED\"}"
        )
        let finish = AppleAPICall.finish(7)
        #expect(finish.path == "/inApps/v1/transactions/7/finish" && finish.method == "POST" && finish.body.isEmpty)
        #expect(finish.perThousandSeconds(in: .production) == 25_000)
        let token = AppleAPICall.accountToken(7, "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d")
        #expect(token.path == "/inApps/v1/transactions/7/appAccountToken" && token.method == "PUT")
        #expect(
            String(decoding: token.body, as: UTF8.self)
                == "{\"appAccountToken\":\"7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d\"}")
        #expect(token.perThousandSeconds(in: .production) == 10_000 && token.perThousandSeconds(in: .sandbox) == 1_000)
        #expect(AppleAPICall.requestTest.method == "POST" && AppleAPICall.statuses(7).method == "GET")
        #expect(walk.perThousandSeconds(in: .production) == 25_000 && walk.perThousandSeconds(in: .sandbox) == 2_500)
        let test = AppleAPICall.requestTest
        #expect(test.perThousandSeconds(in: .production) == 500 && test.perThousandSeconds(in: .sandbox) == 50)
    }

    @Test func `answers are read as far as they go`() {
        func answer(_ text: String) -> AppleAPIAnswer? { AppleAPIAnswer(Array(text.utf8)) }
        #expect(answer("") == nil && answer("[]") == nil && answer("{") == nil)
        let page = answer(
            "{\"notificationHistory\":[{\"signedPayload\":\"a\"},{}],\"hasMore\":true,\"paginationToken\":\"t\"}")
        #expect(page?.notifications?.values == ["a"] && page?.notifications?.next == "t")
        #expect(answer("{\"notificationHistory\":[],\"paginationToken\":\"t\"}")?.notifications?.next == nil)
        #expect(
            answer("{\"errorCode\":4040007,\"errorMessage\":\"m\"}")?.error
                == AppleAPIError(code: 4_040_007, message: "m"))
        #expect(AppleAPIError(code: 5_000_001, message: "").isRetryable)
        #expect(AppleAPIError(code: 4_290_000, message: "").isRetryable)
        #expect(!AppleAPIError(code: 4_040_010, message: "").isRetryable)
        let statuses = answer(
            "{\"data\":[{\"lastTransactions\":[{\"status\":2,\"originalTransactionId\":\"7\",\"signedTransactionInfo\":\"x\"}]},{}]}"
        )?.statuses
        #expect(statuses?.map(\.original) == [7] && statuses?.map(\.state) == [.expired])
        #expect(statuses?.map(\.values) == [["x"]])
        #expect(statuses?.first?.end == nil)
    }
}
