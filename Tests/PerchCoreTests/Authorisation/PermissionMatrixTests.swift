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

    /// The shop's answers to permitted callers without data.
    private static let empty: [PerchWire.Method: String] = [
        .getImage: "IMAGE_UNKNOWN", .redeemOfferCode: "PURCHASE_INVALID_OFFER", .backup: "BACKUP_FAILED",
        .offerConsoleCode: "FIELD_INVALID", .redeemConsoleCode: "FIELD_INVALID",
    ]

    /// A request about anna that succeeds for a permitted caller.
    private static func request(_ method: PerchWire.Method, bought: TransactionID, coins: TransactionID) -> Request {
        let anna = AccountWatchRequest(account: "anna")
        switch method {
        case .productsTask: return .products()
        case .subscriptionStatusTask: return .status()
        case .currentEntitlementTask: return .entitlement()
        case .getProducts: return .getProducts(ProductsRequest(productIDs: ["gold"]))
        case .getImage: return .getImage(GetImageRequest(imageID: "none"))
        case .getSubscriptionStatus: return .readStatus()
        case .getCurrentEntitlement:
            return .getCurrentEntitlement(CurrentEntitlementRequest(account: "anna", productID: "gold"))
        case .listCurrentEntitlements: return .listCurrentEntitlements(ListCurrentEntitlementsRequest(account: "anna"))
        case .listPlanOptions: return .listPlanOptions(PlanOptionsRequest(account: "anna", groupID: "plans"))
        case .getOfferEligibility:
            return .getOfferEligibility(OfferEligibilityRequest(account: "anna", groupID: "plans"))
        case .getAppPolicies: return .getAppPolicies(AppPoliciesRequest())
        case .explain: return .explain(ExplainRequest(account: "anna", about: .group("plans")))
        case .purchase: return .buy("coins")
        case .finish: return .finish(FinishRequest(account: "anna", transactionID: bought))
        case .listTransactions: return .listTransactions(ListTransactionsRequest(account: "anna"))
        case .listUnfinished: return .listUnfinished(ListUnfinishedRequest(account: "anna"))
        case .getLatestTransaction:
            return .getLatestTransaction(LatestTransactionRequest(account: "anna", productID: "gold"))
        case .transactionUpdates: return .updates()
        case .sync: return .sync(SyncRequest(account: "anna"))
        case .requestRefund: return .requestRefund(RefundRequest(account: "anna", transactionID: coins))
        case .redeemOfferCode:
            return .redeemOfferCode(RedeemOfferCodeRequest(account: "anna", code: "none", productID: "gold"))
        case .manageSubscriptions:
            return .manageSubscriptions(
                ManageSubscriptionsRequest(account: "anna", productID: "gold", isAutoRenewOn: true))
        case .getAppTransaction: return .getAppTransaction(AppTransactionRequest(account: "anna"))
        case .purchaseIntents: return .purchaseIntents(anna)
        case .messages: return .messages(anna)
        case .operate:
            return .operate(.setAutoRenew(.product("gold"), isOn: true), "anna")
        case .inspectAccount: return .inspectAccount(InspectAccountRequest(account: "anna"))
        case .listAccounts: return .listAccounts(ListAccountsRequest())
        case .configure: return .configure(.locale("de"))
        case .getSettings: return .getSettings(SettingsRequest())
        case .getClock: return .getClock(ClockRequest())
        case .setClock: return .clock(.freeze)
        case .listApps: return .listApps
        case .checkCatalog: return .checkCatalog(CheckCatalogRequest(file: [1]))
        case .loadCatalog: return .loadCatalog(LoadCatalogRequest(file: [1], source: "test"))
        case .getCatalog: return .getCatalog(GetCatalogRequest())
        case .getServerStatus: return .getServerStatus
        case .backup: return .backup(BackupRequest(path: "/none"))
        case .revokeToken: return .revokeToken(RevokeTokenRequest(tokenID: "another"))
        case .offerConsoleCode: return .offerConsoleCode(OfferConsoleCodeRequest(token: "a.b.c"))
        case .redeemConsoleCode: return .redeemConsoleCode(RedeemConsoleCodeRequest(code: "none"))
        }
    }

    /// One column: a separate world, in which this caller calls every method.
    private static func column(_ caller: Caller) throws -> [PerchWire.Method: String] {
        let world = Gate.world()
        world.catalogueFiles[[1]] = (TestShop.catalogue(names: ["gold": "Other"]), TestShop.settings())
        let owner = world.welcomedClient(authorization: Gate.token(.admin, app: .all, subject: "owner"))
        let bought = try world.buy("gold", from: owner).id
        let coins = try world.buy("coins", from: owner).id
        try world.require(.revokeToken(RevokeTokenRequest(tokenID: "stolen")), from: owner)
        let client = world.welcomedClient(
            authorization: caller.greeting, certificate: caller == .certificateOnly ? Gate.backend : nil)
        let app = AppReference(bundleID: TestShop.bundleID, environment: .xcode)
        let metadata = caller.metadata
        var cells: [PerchWire.Method: String] = [:]
        for method in PerchWire.Method.allCases {
            let stream = client.call(
                Self.request(method, bought: bought, coins: coins).naming(app), authorization: metadata)
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
                #expect(reason == Self.empty[method] ?? "", "\(method): \(status?.message ?? "no status")")
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
        let service = method.path.split(separator: "/")[0]
        let writes: Set<PerchWire.Method> = [
            .purchase, .finish, .sync, .requestRefund, .redeemOfferCode, .manageSubscriptions,
        ]
        let needed: Scope =
            switch service {
            // Every holder of a token may offer it, and the code is the credential of its browser.
            case _ where [.offerConsoleCode, .redeemConsoleCode].contains(method): .read
            case "perch.v1.AdminService": .admin
            case "perch.v1.TestStoreService": .test
            default: writes.contains(method) ? .write : .read
            }
        let ofServer: Set<PerchWire.Method> = [.getServerStatus, .backup, .revokeToken]
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
            let withoutApp: Set<PerchWire.Method> = [.listApps, .checkCatalog, .offerConsoleCode, .redeemConsoleCode]
            return withoutApp.contains(method) ? "yes" : "PERMISSION_DENIED"
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
            "`read`, `write` and `test` are for the app, `admin` for every app; `certificate only` is mapped to `write`.",
            "",
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
    /// The same about an app that it names.
    fileprivate func naming(_ app: AppReference) -> Request {
        func named<Asked>(_ asked: Asked, _ path: WritableKeyPath<Asked, AppReference>) -> Asked {
            var asked = asked
            asked[keyPath: path] = app
            return asked
        }
        switch self {
        case .productsTask(let asked): return .productsTask(named(asked, \.app))
        case .getProducts(let asked): return .getProducts(named(asked, \.app))
        case .getImage(let asked): return .getImage(named(asked, \.app))
        case .subscriptionStatusTask(let asked): return .subscriptionStatusTask(named(asked, \.app))
        case .getSubscriptionStatus(let asked): return .getSubscriptionStatus(named(asked, \.app))
        case .currentEntitlementTask(let asked): return .currentEntitlementTask(named(asked, \.app))
        case .getCurrentEntitlement(let asked): return .getCurrentEntitlement(named(asked, \.app))
        case .listCurrentEntitlements(let asked): return .listCurrentEntitlements(named(asked, \.app))
        case .purchase(let asked): return .purchase(named(asked, \.app))
        case .finish(let asked): return .finish(named(asked, \.app))
        case .listTransactions(let asked): return .listTransactions(named(asked, \.app))
        case .listUnfinished(let asked): return .listUnfinished(named(asked, \.app))
        case .getLatestTransaction(let asked): return .getLatestTransaction(named(asked, \.app))
        case .transactionUpdates(let asked): return .transactionUpdates(named(asked, \.app))
        case .sync(let asked): return .sync(named(asked, \.app))
        case .requestRefund(let asked): return .requestRefund(named(asked, \.app))
        case .redeemOfferCode(let asked): return .redeemOfferCode(named(asked, \.app))
        case .manageSubscriptions(let asked): return .manageSubscriptions(named(asked, \.app))
        case .getAppTransaction(let asked): return .getAppTransaction(named(asked, \.app))
        case .purchaseIntents(let asked): return .purchaseIntents(named(asked, \.app))
        case .messages(let asked): return .messages(named(asked, \.app))
        case .listPlanOptions(let asked): return .listPlanOptions(named(asked, \.app))
        case .getOfferEligibility(let asked): return .getOfferEligibility(named(asked, \.app))
        case .getAppPolicies(let asked): return .getAppPolicies(named(asked, \.app))
        case .explain(let asked): return .explain(named(asked, \.app))
        case .operate(let asked): return .operate(named(asked, \.app))
        case .inspectAccount(let asked): return .inspectAccount(named(asked, \.app))
        case .listAccounts(let asked): return .listAccounts(named(asked, \.app))
        case .configure(let asked): return .configure(named(asked, \.app))
        case .getSettings(let asked): return .getSettings(named(asked, \.app))
        case .getClock(let asked): return .getClock(named(asked, \.app))
        case .setClock(let asked): return .setClock(named(asked, \.app))
        case .loadCatalog(let asked): return .loadCatalog(named(asked, \.app))
        case .getCatalog(let asked): return .getCatalog(named(asked, \.app))
        case .listApps, .checkCatalog, .getServerStatus, .backup, .revokeToken, .offerConsoleCode, .redeemConsoleCode:
            return self
        }
    }
}
