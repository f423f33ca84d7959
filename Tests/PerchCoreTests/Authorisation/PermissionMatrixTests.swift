import Glibc
import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// The callers, as columns of the matrix.
private enum Caller: String, CaseIterable {
    case anonymous
    case otherAccount = "other account"
    case otherApp = "other app"
    case ingest
    case ingestOfOne = "ingest for one"
    case ingestOfAnother = "ingest for another"
    case readAndIngest = "read, ingest"
    case read, write, test, admin
    case expired, revoked
    case wrongAudience = "wrong audience"
    case certificateOnly = "certificate only"

    /// With HELLO; the last four come with the call instead, on a connection that greeted without.
    var greeting: String {
        switch self {
        case .anonymous, .certificateOnly, .expired, .revoked, .wrongAudience: ""
        case .otherAccount: Gate.token(.admin, account: "ben")
        case .otherApp: Gate.token(.admin, app: .apps([AppName(bundleID: "com.example.other", environment: .xcode)]))
        case .ingest: Gate.token(.ingest)
        case .ingestOfOne: Gate.token(.ingest, account: "anna")
        case .ingestOfAnother: Gate.token(.ingest, account: "ben")
        case .readAndIngest: Gate.token(.read, ingests: true)
        case .read: Gate.token(.read)
        case .write: Gate.token(.write)
        case .test: Gate.token(.test)
        // The operator may use all of it.
        case .admin: Gate.token(.admin, app: .all)
        }
    }

    var metadata: String? {
        switch self {
        case .expired: Gate.token(.admin, app: .all, lifetime: -1_000)
        case .revoked: Gate.token(.admin, app: .all, id: "stolen")
        case .wrongAudience: Gate.token(.admin, app: .all, audience: "another")
        default: nil
        }
    }
}

/// Calls every RPC as every caller, through the frames of a real core, and compares the answers.
@Suite struct `The matrix of RPC and identity` {
    private static let refusals: Set<String> = [
        "UNAUTHENTICATED", "PERMISSION_DENIED", "CREDENTIALS_EXPIRED", "CREDENTIALS_REVOKED", "CREDENTIALS_MISDIRECTED",
        "CREDENTIALS_MALFORMED", "CREDENTIALS_UNTRUSTED", "CREDENTIALS_NOT_YET_VALID",
    ]

    /// One column: a separate world, in which this caller calls every method.
    private static func column(_ caller: Caller) throws -> [PerchWire.Method: String] {
        let world = Gate.world()
        world.catalogueFiles[[1]] = (TestShop.catalogue(names: ["gold": "Other"]), TestShop.settings())
        let owner = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "owner"))
        let bought = try world.buy("gold", from: owner).id
        let coins = try world.buy("coins", from: owner).id
        try world.require(.revokeToken(RevokeTokenRequest(tokenID: "stolen")), from: owner)
        func connect() -> WireClient {
            world.welcomedClient(
                authorization: caller.greeting, certificate: caller == .certificateOnly ? Gate.backend : nil)
        }
        var client = connect()
        let app = AppReference(bundleID: TestShop.bundleID, environment: .xcode)
        let metadata = caller.metadata
        var cells: [PerchWire.Method: String] = [:]
        for method in PerchWire.Method.allCases {
            // A connection ends with too many credentials that fail.
            if cells.count == Limits.credentialFailuresMax - 4 { client = connect() }
            let row = MethodCase.of(method, bought: bought, coins: coins)
            let stream = client.call(try row.request.naming(app), authorization: metadata)
            world.settle()
            let status = client.status(of: stream)
            let reason = status?.reason ?? ""
            if Self.refusals.contains(reason) {
                #expect(client.messages(on: stream).isEmpty, "\(method) said something before it refused")
                cells[method] = reason
                continue
            }
            if method.isStreaming {
                #expect(status == nil && !client.messages(on: stream).isEmpty, "\(method): \(reason)")
                client.cancel(stream)
                world.settle()
            } else {
                #expect(reason == row.refusal, "\(method): \(status?.message ?? "no status")")
            }
            cells[method] = "yes"
        }
        #expect(client.isOpen)
        world.checkInvariants()
        world.checkNothingIsLeft()
        return cells
    }

    /// The expected cell, by the rules and not by the deciding code.
    private static func expected(_ method: PerchWire.Method, _ caller: Caller) -> String {
        let needed = MethodCase.of(method).scope
        let ofServer: Set<PerchWire.Method> = [
            .getServerStatus, .backup, .revokeToken, .listAudit, .listDeadLetters, .retryDeadLetter, .dropDeadLetter,
            .listNotifications, .getSignedPayload,
        ]
        // Requests about no account: data that every customer may see, and a file that is only checked.
        let shared: Set<PerchWire.Method> = [
            .productsTask, .getProducts, .getImage, .getAppPolicies, .getSettings, .getClock, .checkCatalog,
            .offerConsoleCode, .redeemConsoleCode,
        ]
        switch caller {
        case .anonymous: return method == .redeemConsoleCode ? "yes" : "UNAUTHENTICATED"
        case .expired: return "CREDENTIALS_EXPIRED"
        case .revoked: return "CREDENTIALS_REVOKED"
        case .wrongAudience: return "CREDENTIALS_MISDIRECTED"
        case .otherAccount: return shared.contains(method) ? "yes" : "PERMISSION_DENIED"
        // Calls without an app: the list has the caller's own apps, none here; a file belongs to no app.
        case .otherApp:
            let withoutApp: Set<PerchWire.Method> = [
                .listApps, .checkCatalog, .submitNotification, .offerConsoleCode, .redeemConsoleCode,
            ]
            return withoutApp.contains(method) ? "yes" : "PERMISSION_DENIED"
        // It stands beside the ladder.
        case .ingest: return needed == .ingest || method == .redeemConsoleCode ? "yes" : "PERMISSION_DENIED"
        // A notification may be about anybody, so only a submission that names the account is let through.
        case .ingestOfOne:
            return [.submitTransaction, .redeemConsoleCode].contains(method) ? "yes" : "PERMISSION_DENIED"
        case .ingestOfAnother: return method == .redeemConsoleCode ? "yes" : "PERMISSION_DENIED"
        case .readAndIngest: return needed <= .read || needed == .ingest ? "yes" : "PERMISSION_DENIED"
        case .read where needed == .ingest, .write where needed == .ingest, .certificateOnly where needed == .ingest,
            .test where needed == .ingest:
            return "PERMISSION_DENIED"
        case .read: return needed <= .read ? "yes" : "PERMISSION_DENIED"
        case .write, .certificateOnly: return needed <= .write ? "yes" : "PERMISSION_DENIED"
        case .test: return needed <= .test && !ofServer.contains(method) ? "yes" : "PERMISSION_DENIED"
        case .admin: return "yes"
        }
    }

    @Test func `the matrix of RPC and identity holds in every cell, and is the one that people read`() throws {
        var columns: [Caller: [PerchWire.Method: String]] = [:]
        for caller in Caller.allCases { columns[caller] = try Self.column(caller) }
        for method in PerchWire.Method.allCases {
            for caller in Caller.allCases {
                let found = columns[caller]?[method]
                #expect(found == Self.expected(method, caller), "\(method.path) for \(caller.rawValue)")
            }
        }
        let text = Self.markdown(columns)
        let path = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/PermissionMatrix.md"
        if getenv("PERCH_WRITE_TABLES") != nil { TemporaryDirectory.write(Array(text.utf8), to: path) }
        let committed = String(decoding: TemporaryDirectory.read(path), as: UTF8.self)
        #expect(committed == text, "write it anew: PERCH_WRITE_TABLES=1")
    }

    private static func markdown(_ columns: [Caller: [PerchWire.Method: String]]) -> String {
        let short = [
            "UNAUTHENTICATED": "who?", "PERMISSION_DENIED": "no", "CREDENTIALS_EXPIRED": "expired",
            "CREDENTIALS_REVOKED": "revoked", "CREDENTIALS_MISDIRECTED": "misdirected",
        ]
        var lines = [
            "# Every RPC, and who may call it", "",
            "Written by `PermissionMatrixTests.swift` (PERCH_WRITE_TABLES=1), which asserts every cell through the frames of a",
            "real loop. The rows of the table in `Sources/PerchIdentity/Identities/Permission.swift`, tried out.", "",
            "`yes`: it is let through. `no`: PERMISSION_DENIED. `who?`: UNAUTHENTICATED. The others: CREDENTIALS_EXPIRED,",
            "CREDENTIALS_REVOKED, CREDENTIALS_MISDIRECTED, of a token that would be an administrator's.", "",
            "`other account` and `other app` are an administrator's credentials for another one than the request names;",
            "`ingest`, `read`, `write` and `test` are for the app, `admin` for every app; `certificate only` is mapped to `write`.",
            "`ingest for one` is for the account that the request names, `ingest for another` for another one.", "",
            "| RPC | " + Caller.allCases.map(\.rawValue).joined(separator: " | ") + " |",
            "|---" + String(repeating: "|---", count: Caller.allCases.count) + "|",
        ]
        for method in PerchWire.Method.allCases {
            let name = method.path.split(separator: "/")[1]
            let cells = Caller.allCases.map { caller in
                let cell = columns[caller]?[method] ?? "?"
                return short[cell] ?? cell
            }
            lines.append("| \(name) | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Request {
    /// The same about an app that it names. `app` is field 1 of every request that has it.
    fileprivate func naming(_ app: AppReference) throws -> Request {
        if case .watch(let asked) = self {
            return .watch(WatchRequest(watches: try asked.watches.map { try $0.naming(app) }))
        }
        guard self.app != nil else { return self }
        let codec = MessageCodec()
        let field = [UInt8](try codec.encode(Request.getClock(ClockRequest(app: app))).message)
        let bytes = field + [UInt8](try codec.encode(self).message)
        let named = try codec.decodeRequest(self.method, bytes.span.bytes)
        #expect(named.app == app && named.method == self.method)
        return named
    }
}
