import PerchBase
import PerchJSON
import Testing

@testable import PerchApple

@Suite struct `a signed value` {
    private let chain: TestChain
    private let roots: TrustedRoots

    init() throws {
        self.chain = try TestChain()
        self.roots = try self.chain.trusted
    }

    @Test func `of a trusted chain opens`() throws {
        var verifier = AppleVerifier(roots: self.roots)
        let payload = try verifier.open(try self.chain.sign(transactionJSON), now: signedDate)
        #expect(payload["transactionId"]?.string == "12")
        let app = AppleApp.sandbox(bundleID: "com.example.app")
        let transaction = try app.transaction(payload)
        #expect(transaction.originalTransactionID == "11")
        #expect(transaction.unknownFields.isEmpty && transaction.mistypedFields.isEmpty)
    }

    @Test func `is refused for each byte that is replaced`() throws {
        let text = try self.chain.sign(transactionJSON)
        var verifier = AppleVerifier(roots: self.roots)
        #expect(fault(&verifier, text) == nil)
        for place in text.indices {
            for flip in [UInt8(0x01), 0x20] {
                var other = text
                other[place] ^= flip
                #expect(fault(&verifier, other) != nil, "byte \(place) ^ \(flip)")
            }
        }
        for count in stride(from: 0, to: text.count, by: 7) {
            #expect(fault(&verifier, Array(text[..<count])) != nil, "the first \(count) bytes")
        }
        #expect(fault(&verifier, text + [UInt8(ascii: "A")]) != nil)
        #expect(fault(&verifier, text + [UInt8(ascii: ".")]) != nil)
    }

    @Test(arguments: ["none", "HS256", "RS256", "ES384", "es256", ""])
    func `with another algorithm is refused`(_ name: String) throws {
        let text = try self.chain.sign(transactionJSON, algorithm: name)
        #expect(fault(of: text, roots: self.roots) == .algorithm(name))
    }

    @Test func `without an algorithm is refused`() throws {
        #expect(fault(of: try self.chain.sign(transactionJSON, algorithm: nil), roots: self.roots) == .algorithm(""))
    }

    @Test func `without a signature is refused`() throws {
        let text = try self.chain.sign(transactionJSON)
        let cut = Array(text[..<(try #require(text.lastIndex(of: UInt8(ascii: "."))) + 1)])
        #expect(fault(of: cut, roots: self.roots) == .signature)
    }

    @Test func `that is signed by another key of the same chain is refused`() throws {
        let other = try TestChain()
        #expect(
            fault(of: try self.chain.sign(transactionJSON, key: other.leaf.key), roots: self.roots) == .signature)
    }

    @Test func `has exactly three certificates`() throws {
        let all = self.chain.certificates
        for certificates in [[all[0]], [all[0], all[1]], all + [all[2]]] {
            let text = try self.chain.sign(transactionJSON, certificates: certificates)
            let found = fault(of: text, roots: self.roots)
            #expect(found == .chainLength(certificates.count))
            #expect(found?.libraryStatus == .invalidChainLength)
        }
        let none = try self.chain.sign(transactionJSON, certificates: [])
        #expect(fault(of: none, roots: self.roots) == .noChain)
        let missing = try self.chain.sign(transactionJSON, header: #"{"alg":"ES256","x5cwrong":[]}"#)
        #expect(fault(of: missing, roots: self.roots) == .noChain)
    }

    @Test func `is not trusted because of its third certificate`() throws {
        let text = try self.chain.sign(transactionJSON)
        let found = fault(of: text, roots: .apple)
        guard case .untrusted = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        let garbage = try self.chain.sign(
            transactionJSON, certificates: [self.chain.certificates[0], self.chain.certificates[1], [1, 2, 3]])
        #expect(fault(of: garbage, roots: self.roots) == nil)
    }

    @Test func `with certificates that are no DER is refused`() throws {
        let all = self.chain.certificates
        for (place, certificates) in [
            (ChainPlace.leaf, [[1, 2, 3], all[1], all[2]]), (.leaf, [[], all[1], all[2]]),
            (.leaf, [all[0] + [0], all[1], all[2]]), (.intermediate, [all[0], [0x30, 0], all[2]]),
            (.intermediate, [all[0], Array(all[1].dropLast()), all[2]]),
        ] {
            let text = try self.chain.sign(transactionJSON, certificates: certificates)
            #expect(fault(of: text, roots: self.roots) == .certificate(place))
        }
        for chain in ["\"abc\"", "\"-_-_\"", "7", "null"] {
            let header = "{\"alg\":\"ES256\",\"x5c\":[\(chain),\"\",\"\"]}"
            #expect(
                fault(of: try self.chain.sign(transactionJSON, header: header), roots: self.roots)
                    == .certificate(.leaf))
        }
    }

    @Test func `whose header requires an extension is refused`() throws {
        for member in ["crit", "b64"] {
            let text = try self.chain.sign(transactionJSON, more: "\"\(member)\":[\"x\"],")
            #expect(fault(of: text, roots: self.roots) == .extended(member))
        }
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "a.b.c.d", "e30.e30.", "e30=.e30=.AA", " e30.e30.AA", "bnVsbA.W10.AA"])
    func `that is none is refused`(_ text: String) {
        #expect(fault(of: Array(text.utf8), roots: self.roots)?.libraryStatus == .verificationFailure)
    }

    @Test func `with a payload that is no object is refused`() throws {
        for payload in ["[]", "7", "", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}", "{} {}"] {
            #expect(fault(of: try self.chain.sign(payload), roots: self.roots) == .notJSON("payload"), "\(payload)")
        }
    }

    @Test func `that is too long is refused before it is read`() throws {
        let text = [UInt8](repeating: UInt8(ascii: "A"), count: Limits.appleSignedBytesMax + 1)
        #expect(
            fault(of: text, roots: self.roots)
                == .tooLong(bytes: text.count, limit: Limits.appleSignedBytesMax))
    }

    @Test func `with JSON beyond the limits is refused`() throws {
        let deep =
            "{\"a\":" + String(repeating: "[", count: Limits.appleDepthMax)
            + String(repeating: "]", count: Limits.appleDepthMax) + "}"
        #expect(fault(of: try self.chain.sign(deep), roots: self.roots) == .notJSON("payload"))
        let wide = "{\"a\":[" + String(repeating: "0,", count: Limits.appleValuesMax) + "0]}"
        #expect(fault(of: try self.chain.sign(wide), roots: self.roots) == .notJSON("payload"))
    }
}

@Suite struct `a certificate chain` {
    private func fault(
        _ chain: TestChain, roots: [[UInt8]]? = nil, signed milliseconds: Int64 = signedDate.milliseconds
    ) throws -> VerificationFault? {
        let text = try chain.sign("{\"signedDate\":\(milliseconds)}")
        return PerchAppleTests.fault(
            of: text, roots: try .sandbox(further: roots ?? [chain.root.certificate]))
    }

    @Test func `needs the marker of each certificate`() throws {
        #expect(try self.fault(TestChain()) == nil)
        #expect(try self.fault(TestChain(leaf: { $0.marker = nil })) == .noMarker(.leaf))
        #expect(try self.fault(TestChain(intermediate: { $0.marker = nil })) == .noMarker(.intermediate))
        #expect(try self.fault(TestChain(leaf: { $0.marker = AppleMarkers.intermediate })) == .noMarker(.leaf))
        #expect(
            try self.fault(TestChain(intermediate: { $0.marker = AppleMarkers.leaf })) == .noMarker(.intermediate))
        #expect(try self.fault(TestChain(root: { $0.marker = AppleMarkers.intermediate })) == nil)
    }

    @Test func `needs its own root`() throws {
        let (one, other) = (try TestChain(), try TestChain())
        for roots in [[], [other.root.certificate]] {
            guard case .untrusted? = try self.fault(one, roots: roots) else {
                Issue.record("trusted by \(roots.count) other roots")
                continue
            }
        }
        #expect(try self.fault(one, roots: [other.root.certificate, one.root.certificate]) == nil)
    }

    @Test func `has an intermediate between leaf and root`() throws {
        var direct = try TestChain()
        direct.leaf = try TestChain.issued(
            CertificateRecipe(commonName: "Leaf", marker: AppleMarkers.leaf, issuer: direct.root))
        guard case .untrusted? = try self.fault(direct) else {
            Issue.record("a leaf of the root itself")
            return
        }
    }

    /// `Tests/Apple` has the other cases: what lacks a subject key identifier cannot issue certificates here.
    @Test func `is strict about authorities`() throws {
        let spoiled: [(String, TestChain)] = [
            ("no authority", try TestChain(intermediate: { $0.isAuthority = false })),
            ("no identifiers of the leaf", try TestChain(leaf: { $0.lacksIdentifiers = true })),
        ]
        for (name, chain) in spoiled {
            guard case .untrusted? = try self.fault(chain) else {
                Issue.record("\(name)")
                continue
            }
        }
    }

    @Test func `has a leaf with a key of P-256`() throws {
        let chain = try TestChain(leaf: { $0.isP384 = true })
        let text = try chain.sign("{\"signedDate\":1}", key: try TestChain().leaf.key)
        #expect(PerchAppleTests.fault(of: text, roots: try chain.trusted) == .keyType)
    }

    /// Both edges count, as RFC 5280 says: valid from the second of notBefore through that of notAfter.
    @Test func `is checked when its value was signed, to the second`() throws {
        let (begins, ends) = (signedSeconds, signedSeconds + 1_000)
        let window: (inout CertificateRecipe) -> Void = {
            $0.begins = begins
            $0.ends = ends
        }
        for (place, chain) in [
            (ChainPlace.leaf, try TestChain(leaf: window)), (.intermediate, try TestChain(intermediate: window)),
            (.root, try TestChain(root: window)),
        ] {
            var verifier = AppleVerifier(roots: try chain.trusted)
            // Without the cache, and then with it.
            for _ in 0..<2 {
                for (milliseconds, isValid) in [
                    (begins * 1_000 - 1, false), (begins * 1_000, true), (ends * 1_000 + 999, true),
                    ((ends + 1) * 1_000, false), (Int64.max, false), (Int64.min, false), (0, false),
                ] {
                    let text = try chain.sign("{\"signedDate\":\(milliseconds)}")
                    let found = PerchAppleTests.fault(&verifier, text)
                    switch found {
                    case nil: #expect(isValid, "\(place) at \(milliseconds)")
                    case .notYetValid(let at, _)?:
                        #expect(!isValid && milliseconds < begins * 1_000 && (at == place || milliseconds < 0))
                    case .ended(let at, _)?:
                        #expect(!isValid && milliseconds >= (ends + 1) * 1_000 && (at == place || milliseconds == .max))
                    case let other?: Issue.record("\(place) at \(milliseconds): \(other)")
                    }
                }
            }
        }
    }

    @Test func `of a value without a signing date is checked now, of an app transaction at its creation`() throws {
        let chain = try TestChain(leaf: { $0.ends = signedSeconds - 1 })
        var verifier = AppleVerifier(roots: try chain.trusted)
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}")) == .ended(.leaf, at: signedDate))
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{\"receiptCreationDate\":1}")) == nil)
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{\"signedDate\":1.75}")) == nil)
    }

    @Test func `is checked once while it is cached`() throws {
        let chain = try TestChain()
        var verifier = AppleVerifier(roots: try chain.trusted)
        for number in 0..<10 {
            #expect(PerchAppleTests.fault(&verifier, try chain.sign("{\"signedDate\":\(number)}")) == nil)
        }
        #expect(verifier.chainsChecked == 1)
        #expect(verifier.chainsKept == 1)
        // A bad signature under a cached chain is refused, and costs no check of the chain.
        let other = try TestChain()
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}", key: other.leaf.key)) == .signature)
        #expect(verifier.chainsChecked == 1)
    }

    @Test func `enters the cache only with a good signature, and the cache is bounded`() throws {
        let (chain, other) = (try TestChain(), try TestChain())
        var verifier = AppleVerifier(roots: try chain.trusted)
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}", key: other.leaf.key)) == .signature)
        #expect(verifier.chainsKept == 0)
        for number in 0..<Limits.appleChainsKeptMax + 5 {
            #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}", more: "\"n\":\(number),")) == nil)
        }
        #expect(verifier.chainsKept == Limits.appleChainsKeptMax)
        let checked = verifier.chainsChecked
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}", more: "\"n\":0,")) == nil)
        #expect(verifier.chainsChecked == checked + 1)
        #expect(PerchAppleTests.fault(&verifier, try chain.sign("{}", more: "\"n\":36,")) == nil)
        #expect(verifier.chainsChecked == checked + 1)
    }

    @Test func `of Apple ends in the root whose fingerprint Apple publishes`() {
        let root = TrustedRoots.apple.certificates[0]
        #expect(
            ContentHash(of: root).description.uppercased()
                == "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179")
        #expect(TrustedRoots.apple.certificates.count == 1 && root.count == 583)
    }

    @Test func `has roots that are checked where they are configured`() throws {
        let chain = try TestChain()
        for bad in [[], [1, 2], chain.leaf.certificate, chain.root.certificate + [0]] {
            #expect(throws: RootFault.notRoot(index: 0)) { try TrustedRoots.sandbox(further: [bad]) }
        }
        let many = [[UInt8]](repeating: chain.root.certificate, count: Limits.appleRootsMax + 1)
        #expect(throws: RootFault.tooMany(many.count)) { try TrustedRoots.sandbox(further: many) }
    }
}

@Suite struct `the app of a value` {
    private func payload(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test func `is named by its bundle ID before its environment`() throws {
        let sandbox = AppleApp.sandbox(bundleID: "a")
        let wrong = try self.payload(#"{"bundleId":"b","environment":"Production"}"#)
        #expect(throws: VerificationFault.bundleID(found: "b", expected: "a")) { try sandbox.transaction(wrong) }
        let missing = try self.payload("{}")
        #expect(throws: VerificationFault.bundleID(found: nil, expected: "a")) { try sandbox.transaction(missing) }
        #expect(throws: VerificationFault.environment(found: nil, expected: "Sandbox")) {
            try sandbox.renewalInfo(missing)
        }
    }

    @Test(arguments: ["Xcode", "LocalTesting", "Sandbox", "production", "Tomorrow"])
    func `of production accepts production alone`(_ environment: String) throws {
        let app = AppleApp.production(bundleID: "a", appAppleID: 7)
        let value = try self.payload(#"{"bundleId":"a","environment":"\#(environment)"}"#)
        #expect(throws: VerificationFault.environment(found: environment, expected: "Production")) {
            try app.transaction(value)
        }
        #expect(throws: VerificationFault.environment(found: environment, expected: "Production")) {
            try app.renewalInfo(value)
        }
    }

    @Test func `of production is named by its Apple ID, where a payload has one`() throws {
        let app = AppleApp.production(bundleID: "a", appAppleID: 7)
        for text in [
            #"{"data":{"bundleId":"a","environment":"Production","appAppleId":8}}"#,
            #"{"data":{"bundleId":"a","environment":"Production"}}"#,
            #"{"data":{"bundleId":"a","environment":"Production","appAppleId":"7"}}"#,
        ] {
            #expect(throws: VerificationFault.self) { try app.notification(self.payload(text)) }
        }
        let good = try self.payload(#"{"data":{"bundleId":"a","environment":"Production","appAppleId":7}}"#)
        #expect(try app.notification(good).appAppleID == 7)
        let receipt = try self.payload(#"{"bundleId":"a","receiptType":"Production","appAppleId":7}"#)
        #expect(try app.appTransaction(receipt).appAppleID == 7)
        // A sandbox value may name any.
        let sandbox = try self.payload(#"{"data":{"bundleId":"a","environment":"Sandbox","appAppleId":8}}"#)
        #expect(try AppleApp.sandbox(bundleID: "a").notification(sandbox).type == nil)
    }

    @Test(arguments: [
        (#"{"data":{"bundleId":"a","environment":"Sandbox"},"summary":{"bundleId":"b"}}"#, "Sandbox"),
        (#"{"summary":{"bundleId":"a","environment":"Sandbox"}}"#, "Sandbox"),
        (#"{"externalPurchaseToken":{"bundleId":"a","externalPurchaseId":"SANDBOX_1"}}"#, "Sandbox"),
        (#"{"externalPurchaseToken":{"bundleId":"a","externalPurchaseId":"1"}}"#, "Production"),
        (#"{"externalPurchaseToken":{"bundleId":"a"}}"#, "Production"),
        (#"{"appData":{"bundleId":"a","environment":"Sandbox"}}"#, "Sandbox"),
    ])
    func `of a notification stands in the first of four objects`(_ text: String, _ environment: String) throws {
        let notification = NotificationPayload(PayloadFields(try self.payload(text)))
        #expect(notification.bundleID == "a")
        #expect(notification.environment == environment)
    }

    @Test func `of a realtime request needs all seven fields`() throws {
        let fields = [
            #""originalTransactionId":"1""#, #""appAppleId":7"#, #""productId":"p""#, #""userLocale":"en-US""#,
            #""requestIdentifier":"00000000-0000-0000-0000-000000000000""#, #""environment":"Sandbox""#,
            #""signedDate":1"#,
        ]
        let app = AppleApp.sandbox(bundleID: "a")
        let whole = try app.realtimeRequest(self.payload("{" + fields.joined(separator: ",") + "}"))
        #expect(whole.userLocale == "en-US" && whole.requestIdentifier != nil && whole.productID == "p")
        for index in fields.indices {
            var some = fields
            some.remove(at: index)
            #expect(throws: VerificationFault.self) {
                try app.realtimeRequest(self.payload("{" + some.joined(separator: ",") + "}"))
            }
        }
    }
}
