import PerchBase
import PerchModel
import PerchWire

/// Values with every field set, the same for the same seed.
struct Samples: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { self.generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { self.generator.next() }

    /// Never empty; of one to four bytes a character.
    mutating func text() -> String {
        let alphabet = Array("abcXYZ019._-é日🐦\u{10FFFF}")
        return String((0..<Int.random(in: 1...24, using: &self)).map { _ in alphabet.randomElement(using: &self)! })
    }

    mutating func texts() -> [String] { (0..<3).map { _ in self.text() } }
    mutating func bytes() -> [UInt8] {
        (0..<Int.random(in: 1...40, using: &self)).map { _ in UInt8(truncatingIfNeeded: self.next()) }
    }
    /// Never 0, of any length on the wire.
    mutating func u64() -> UInt64 { self.next() >> UInt64.random(in: 0...62, using: &self) | 1 }
    mutating func u32() -> UInt32 { UInt32(truncatingIfNeeded: self.u64()) | 1 }
    mutating func i64() -> Int64 { Int64(bitPattern: self.u64()) }
    mutating func i32() -> Int32 { Int32(bitPattern: self.u32()) }
    mutating func instant() -> Instant { Instant(milliseconds: self.i64()) }
    mutating func position() -> Position { Position(revision: self.u64(), asOf: self.instant()) }

    /// A known value or, one time in four, one that only a newer peer knows.
    mutating func value<Value: OpenEnumeration>(_ type: Value.Type = Value.self) -> Value {
        if self.next() % 4 == 0 { return Value(rawValue: self.i32()) }
        return Value(rawValue: Int32.random(in: 1..<Int32(Value.names.count), using: &self))
    }

    mutating func list<Value>(_ make: (inout Samples) -> Value) -> [Value] {
        (0..<Int.random(in: 1...3, using: &self)).map { _ in make(&self) }
    }
}

// MARK: Values of the model

extension Samples {
    mutating func money() -> Money { Money(milliunits: self.i64(), currency: self.text()) }
    mutating func storefront() -> Storefront { Storefront(countryCode: self.text(), id: self.text()) }
    mutating func period() -> Period { Period(self.i32(), self.value()) }

    mutating func appliedOffer() -> TransactionOffer {
        TransactionOffer(id: self.text(), type: self.value(), paymentMode: self.value(), period: self.period())
    }

    mutating func commitment() -> Commitment {
        Commitment(
            billingPeriodNumber: self.u32(), totalBillingPeriods: self.u32(), expirationDate: self.instant(),
            price: self.money(), willRenew: true)
    }

    mutating func transaction() -> Transaction {
        var transaction = Transaction(
            id: self.u64(), originalID: self.u64(), appBundleID: self.text(), productID: self.text(),
            productType: self.value(), purchaseDate: self.instant(), originalPurchaseDate: self.instant(),
            environment: self.value(), storefront: self.storefront(), reason: self.value(), signedDate: self.instant())
        transaction.webOrderLineItemID = self.text()
        transaction.appTransactionID = self.text()
        transaction.subscriptionGroupID = self.text()
        transaction.expirationDate = self.instant()
        transaction.quantity = self.u32()
        transaction.isUpgraded = true
        transaction.ownership = self.value()
        transaction.offer = self.appliedOffer()
        transaction.revocation = Revocation(
            date: self.instant(), reason: self.value(), type: self.value(), percentageMilli: self.u32())
        transaction.appAccountToken = self.text()
        transaction.price = self.money()
        transaction.deviceVerification = self.bytes()
        transaction.deviceVerificationNonce = self.text()
        transaction.billingPlan = self.value()
        transaction.commitment = self.commitment()
        transaction.advancedCommerceInfo = self.bytes()
        return transaction
    }

    mutating func verified() -> Verified<Transaction> {
        Verified(self.transaction(), failure: self.value(), jws: self.text())
    }

    mutating func renewalInfo() -> RenewalInfo {
        var info = RenewalInfo(
            originalTransactionID: self.u64(), currentProductID: self.text(), willAutoRenew: true,
            renewalDate: self.instant(), recentSubscriptionStartDate: self.instant(), environment: self.value(),
            signedDate: self.instant())
        info.autoRenewPreference = self.text()
        info.expirationReason = self.value()
        info.isInBillingRetry = true
        info.gracePeriodExpirationDate = self.instant()
        info.priceIncreaseStatus = self.value()
        info.renewalPrice = self.money()
        info.offer = self.appliedOffer()
        info.eligibleWinBackOfferIDs = self.texts()
        info.appAccountToken = self.text()
        info.appTransactionID = self.text()
        info.renewalBillingPlan = self.value()
        info.commitment = self.commitment()
        return info
    }

    mutating func statuses() -> SubscriptionStatuses {
        let statuses = self.list { samples in
            SubscriptionStatus(
                state: samples.value(), transaction: samples.verified(),
                renewalInfo: Verified(samples.renewalInfo(), failure: samples.value(), jws: samples.text()))
        }
        return SubscriptionStatuses(
            statuses: statuses, effectiveIndex: Int.random(in: 0..<9, using: &self), effectiveReason: self.value())
    }

    mutating func offer() -> SubscriptionOffer {
        var offer = SubscriptionOffer(
            id: self.text(), type: self.value(), paymentMode: self.value(), price: self.money(), period: self.period(),
            periodCount: self.i32())
        offer.displayPrice = self.text()
        offer.billingPlan = self.value()
        return offer
    }

    mutating func product() -> Product {
        var info = SubscriptionInfo(
            groupID: self.text(), groupDisplayName: self.text(), groupLevel: self.i32(), period: self.period())
        info.introductoryOffers = self.list { $0.offer() }
        info.promotionalOffers = self.list { $0.offer() }
        info.winBackOffers = self.list { $0.offer() }
        info.billingPlans = self.list { samples in
            var plan = BillingPlan(
                type: samples.value(), price: samples.money(), commitmentPrice: samples.money(),
                chargeCount: samples.u32())
            plan.displayPrice = samples.text()
            plan.commitmentDisplayPrice = samples.text()
            return plan
        }
        var product = Product(
            id: self.text(), type: self.value(), displayName: self.text(), description: self.text(),
            price: self.money(), displayPrice: self.text(), isFamilyShareable: true, storefront: self.storefront())
        product.promotionalImageID = self.text()
        product.promotionalImageHash = self.bytes()
        product.subscription = info
        product.jsonRepresentation = self.bytes()
        return product
    }

    mutating func products() -> Products {
        Products(products: self.list { $0.product() }, unavailableIDs: self.texts())
    }

    mutating func info() -> ValueInfo {
        ValueInfo(
            position: self.position(), committed: self.instant(), cause: self.value(),
            // Entitled, so that every field is on the wire.
            forecast: Forecast(
                at: self.instant(), kind: self.value(), originalTransactionID: self.u64(), state: .inGracePeriod),
            token: self.bytes(), isNotInCatalog: true)
    }
}

// MARK: Messages

extension Samples {
    mutating func app() -> AppReference { AppReference(bundleID: self.text(), environment: self.value()) }

    mutating func request(_ method: Method) -> Request {
        func products(_ samples: inout Samples, isStream: Bool) -> ProductsRequest {
            ProductsRequest(
                app: samples.app(), productIDs: samples.texts(), locale: samples.text(), storefront: samples.text(),
                resumeToken: isStream ? samples.bytes() : [], atLeast: samples.position())
        }
        func status(_ samples: inout Samples, isStream: Bool) -> SubscriptionStatusRequest {
            SubscriptionStatusRequest(
                app: samples.app(), account: samples.text(), groupID: samples.text(),
                resumeToken: isStream ? samples.bytes() : [], atLeast: samples.position(),
                asOf: isStream ? AsOf() : samples.asOf())
        }
        func entitlement(_ samples: inout Samples, isStream: Bool) -> CurrentEntitlementRequest {
            CurrentEntitlementRequest(
                app: samples.app(), account: samples.text(), productID: samples.text(),
                resumeToken: isStream ? samples.bytes() : [], atLeast: samples.position(),
                asOf: isStream ? AsOf() : samples.asOf())
        }
        switch method {
        case .productsTask: return .productsTask(products(&self, isStream: true))
        case .subscriptionStatusTask: return .subscriptionStatusTask(status(&self, isStream: true))
        case .currentEntitlementTask: return .currentEntitlementTask(entitlement(&self, isStream: true))
        case .getProducts: return .getProducts(products(&self, isStream: false))
        case .getImage:
            return .getImage(
                GetImageRequest(
                    app: self.app(), imageID: self.text(), knownHash: self.bytes(), atLeast: self.position()))
        case .getSubscriptionStatus: return .getSubscriptionStatus(status(&self, isStream: false))
        case .getCurrentEntitlement: return .getCurrentEntitlement(entitlement(&self, isStream: false))
        case .listCurrentEntitlements:
            return .listCurrentEntitlements(
                ListCurrentEntitlementsRequest(
                    app: self.app(), account: self.text(), atLeast: self.position(), asOf: self.asOf()))
        case .purchase:
            return .purchase(
                PurchaseRequest(
                    app: self.app(), account: self.text(), order: self.order(), idempotencyKey: self.bytes()))
        case .finish:
            return .finish(
                FinishRequest(
                    app: self.app(), account: self.text(), transactionID: self.u64(), idempotencyKey: self.bytes()))
        case .listTransactions:
            return .listTransactions(
                ListTransactionsRequest(
                    app: self.app(), account: self.text(), productID: self.text(), includesFinishedConsumables: true,
                    pageSize: self.u32(), pageToken: self.bytes(), atLeast: self.position()))
        case .listUnfinished:
            return .listUnfinished(
                ListUnfinishedRequest(
                    app: self.app(), account: self.text(), pageSize: self.u32(), pageToken: self.bytes(),
                    atLeast: self.position()))
        case .getLatestTransaction:
            return .getLatestTransaction(
                LatestTransactionRequest(
                    app: self.app(), account: self.text(), productID: self.text(), atLeast: self.position()))
        case .transactionUpdates:
            return .transactionUpdates(
                TransactionUpdatesRequest(
                    app: self.app(), account: self.text(), cursor: self.bytes(), atLeast: self.position()))
        case .listPlanOptions:
            return .listPlanOptions(
                PlanOptionsRequest(
                    app: self.app(), account: self.text(), groupID: self.text(), locale: self.text(),
                    atLeast: self.position()))
        case .getOfferEligibility:
            return .getOfferEligibility(
                OfferEligibilityRequest(
                    app: self.app(), account: self.text(), productID: self.text(), groupID: self.text(),
                    atLeast: self.position()))
        case .getAppPolicies: return .getAppPolicies(AppPoliciesRequest(app: self.app(), locale: self.text()))
        case .explain:
            let about: [ExplainRequest.About] = [.group(self.text()), .product(self.text())]
            return .explain(
                ExplainRequest(
                    app: self.app(), account: self.text(), about: about.randomElement(using: &self), asOf: self.asOf(),
                    atLeast: self.position()))
        case .sync:
            return .sync(SyncRequest(app: self.app(), account: self.text(), idempotencyKey: self.bytes()))
        case .requestRefund:
            return .requestRefund(
                RefundRequest(
                    app: self.app(), account: self.text(), transactionID: self.u64(), reason: self.value(),
                    text: self.text(), idempotencyKey: self.bytes()))
        case .redeemOfferCode:
            return .redeemOfferCode(
                RedeemOfferCodeRequest(
                    app: self.app(), account: self.text(), code: self.text(), productID: self.text(),
                    idempotencyKey: self.bytes()))
        case .manageSubscriptions:
            return .manageSubscriptions(
                ManageSubscriptionsRequest(
                    app: self.app(), account: self.text(), productID: self.text(), isAutoRenewOn: true,
                    idempotencyKey: self.bytes()))
        case .getAppTransaction:
            return .getAppTransaction(
                AppTransactionRequest(app: self.app(), account: self.text(), atLeast: self.position()))
        case .purchaseIntents: return .purchaseIntents(self.accountWatch())
        case .messages: return .messages(self.accountWatch())
        case .operate:
            return .operate(
                OperateRequest(
                    app: self.app(), account: self.text(), idempotencyKey: self.bytes(),
                    operation: self.operation()))
        case .inspectAccount:
            return .inspectAccount(
                InspectAccountRequest(app: self.app(), account: self.text(), atLeast: self.position()))
        case .listAccounts:
            return .listAccounts(
                ListAccountsRequest(
                    app: self.app(), pageSize: self.u32(), pageToken: self.bytes(), withSummaries: true))
        case .configure:
            return .configure(
                ConfigureRequest(app: self.app(), settings: self.settings(), idempotencyKey: self.bytes()))
        case .getSettings: return .getSettings(SettingsRequest(app: self.app()))
        case .getClock: return .getClock(ClockRequest(app: self.app()))
        case .setClock:
            let changes: [ClockChange] = [
                .freeze, .resume, .advanceBy(milliseconds: self.i64()), .advanceTo(self.instant()),
                .advanceToBoundary(account: self.text()),
            ]
            return .setClock(SetClockRequest(app: self.app(), change: changes.randomElement(using: &self)))
        case .listApps: return .listApps
        case .checkCatalog: return .checkCatalog(CheckCatalogRequest(file: self.bytes(), images: self.catalogImages()))
        case .loadCatalog:
            return .loadCatalog(
                LoadCatalogRequest(
                    app: self.app(), file: self.bytes(), source: self.text(), images: self.catalogImages()))
        case .getCatalog: return .getCatalog(GetCatalogRequest(app: self.app()))
        case .getServerStatus: return .getServerStatus
        case .backup: return .backup(BackupRequest(path: self.text()))
        case .offerConsoleCode: return .offerConsoleCode(OfferConsoleCodeRequest(token: self.text()))
        case .redeemConsoleCode: return .redeemConsoleCode(RedeemConsoleCodeRequest(code: self.text()))
        case .revokeToken:
            let end = self.next() % 2 == 0 ? nil : self.instant()
            return .revokeToken(
                RevokeTokenRequest(tokenID: self.text(), expires: end?.milliseconds == 0 ? nil : end))
        }
    }

    private mutating func state<Value>(_ value: Value, isStream: Bool) -> TaskState<Value> {
        switch self.next() % (isStream ? 4 : 2) {
        case 0: .success(value, self.info())
        case 1: .failure(Failure(reason: self.text(), message: self.text()), self.info())
        case 2: .unchanged(self.info())
        default: .loading
        }
    }

    private mutating func summary() -> CatalogSummary {
        CatalogSummary(
            schemaVersion: self.text(), consumableCount: self.u32(), nonConsumableCount: self.u32(),
            nonRenewingCount: self.u32(), subscriptionCount: self.u32(), groupCount: self.u32(),
            introductoryOfferCount: self.u32(), promotionalOfferCount: self.u32(), codeOfferCount: self.u32(),
            winBackOfferCount: self.u32(),
            warnings: self.list {
                CatalogWarning(line: $0.u32(), column: $0.u32(), productID: $0.text(), message: $0.text())
            }, imageCount: self.u32())
    }

    private mutating func accountSummary() -> AccountSummary {
        AccountSummary(
            state: self.value(), productID: self.text(), transactionID: self.u64(), originalTransactionID: self.u64(),
            expirationDate: self.instant(), willAutoRenew: true,
            nextChange: Forecast(
                at: self.instant(), kind: self.value(), originalTransactionID: self.u64(), state: .inGracePeriod),
            isFamilyShared: true, isRefunded: true, isPriceIncreasePending: true, lineCount: self.u32(),
            ownedCount: self.u32(), pendingCount: self.u32(), appAccountToken: self.text(), revision: self.u64())
    }

    private mutating func catalogImages() -> [CatalogImage] {
        self.list { CatalogImage(id: $0.text(), content: $0.bytes()) }
    }

    private mutating func clock() -> ClockState {
        ClockState(now: self.instant(), isFrozen: true, offsetMilliseconds: self.i64(), timeRate: self.i32())
    }

    private mutating func page() -> TransactionPage {
        TransactionPage(
            transactions: self.list { $0.verified() }, nextPageToken: self.bytes(), position: self.position())
    }

    mutating func response(_ method: Method) -> Response {
        switch method {
        case .productsTask: return .productsTask(self.state(self.products(), isStream: true))
        case .subscriptionStatusTask: return .subscriptionStatusTask(self.state(self.statuses(), isStream: true))
        case .currentEntitlementTask:
            return .currentEntitlementTask(self.state(Optional(self.verified()), isStream: true))
        case .getProducts: return .getProducts(self.state(self.products(), isStream: false))
        case .getImage:
            return .getImage(
                ImageAnswer(
                    contentHash: self.bytes(), contentType: self.text(), isUnchanged: true, content: self.bytes()))
        case .getSubscriptionStatus: return .getSubscriptionStatus(self.state(self.statuses(), isStream: false))
        case .getCurrentEntitlement:
            return .getCurrentEntitlement(self.state(Optional(self.verified()), isStream: false))
        case .listCurrentEntitlements:
            return .listCurrentEntitlements(
                EntitlementList(transactions: self.list { $0.verified() }, info: self.info()))
        case .purchase:
            return .purchase(
                PurchaseResponse(
                    position: self.position(), result: self.value(), transaction: self.verified(), wasHeld: true,
                    pendingNumber: self.u64()))
        case .finish: return .finish(Acknowledgement(position: self.position()))
        case .listTransactions: return .listTransactions(self.page())
        case .listUnfinished: return .listUnfinished(self.page())
        case .getLatestTransaction:
            return .getLatestTransaction(LatestTransaction(transaction: self.verified(), position: self.position()))
        case .transactionUpdates:
            return .transactionUpdates(
                TransactionEvent(
                    transaction: self.verified(), kind: self.value(), cursor: self.bytes(), revision: self.u64(),
                    committed: self.instant(), originClientID: self.bytes()))
        case .listPlanOptions:
            return .listPlanOptions(
                PlanOptionList(
                    options: self.list {
                        PlanOption(
                            product: $0.product(), relation: $0.value(), takesEffectAtRenewal: true,
                            isPreferred: true, offer: $0.appliedOffer())
                    }, position: self.position(), isNotInCatalog: true))
        case .getOfferEligibility:
            return .getOfferEligibility(
                OfferEligibilityAnswer(
                    value: OfferEligibilities(
                        isEligibleForIntroductory: true,
                        offers: self.list {
                            OfferEligibility(
                                productID: $0.text(), type: $0.value(), offerID: $0.text(), isEligible: true,
                                reason: $0.text(), message: $0.text(), billingPlan: $0.value())
                        }), position: self.position(), isNotInCatalog: true))
        case .getAppPolicies:
            return .getAppPolicies(
                AppPoliciesAnswer(
                    licenceAgreement: self.text(), privacyPolicyText: self.text(), privacyPolicyURL: self.text(),
                    privacyPolicyLocale: self.text()))
        case .explain: return .explain(self.explanations())
        case .sync: return .sync(Acknowledgement(position: self.position()))
        case .requestRefund:
            return .requestRefund(
                RefundAnswer(position: self.position(), isApproved: true, transaction: self.verified()))
        case .redeemOfferCode:
            return .redeemOfferCode(
                RedeemedCode(position: self.position(), transaction: self.verified(), appliesAtRenewal: true))
        case .manageSubscriptions: return .manageSubscriptions(Acknowledgement(position: self.position()))
        case .getAppTransaction:
            return .getAppTransaction(
                AppTransactionAnswer(
                    appTransactionID: self.text(), bundleID: self.text(), environment: self.value(),
                    failure: self.value(), position: self.position(), canMakePayments: true))
        case .purchaseIntents: return .purchaseIntents(self.state(self.list { $0.intent() }, isStream: true))
        case .messages: return .messages(self.state(self.list { $0.storeMessage() }, isStream: true))
        case .operate:
            return .operate(
                OperateResponse(
                    position: self.position(), transaction: self.verified(), purchaseResult: self.value(),
                    wasHeld: true, number: self.u64()))
        case .inspectAccount: return .inspectAccount(self.inspection())
        case .listAccounts:
            return .listAccounts(
                AccountPage(
                    accounts: self.texts(), nextPageToken: self.bytes(), summaries: self.list { $0.accountSummary() }))
        case .configure: return .configure(Acknowledgement(position: self.position()))
        case .getSettings: return .getSettings(SettingsList(settings: self.settings()))
        case .getClock: return .getClock(ClockResponse(clock: self.clock()))
        case .setClock:
            return .setClock(
                SetClockResponse(
                    position: self.position(), clock: self.clock(), settledCount: self.u64(),
                    renewedCount: self.u64(), failedCount: self.u64()))
        case .listApps:
            return .listApps(
                AppList(
                    apps: self.list {
                        AppSummary(
                            bundleID: $0.text(), environment: $0.value(), productCount: $0.u32(),
                            catalogSource: $0.text())
                    }))
        case .checkCatalog: return .checkCatalog(CheckCatalogResponse(summary: self.summary()))
        case .loadCatalog:
            return .loadCatalog(LoadCatalogResponse(position: self.position(), summary: self.summary()))
        case .getCatalog:
            return .getCatalog(
                CatalogContents(
                    productIDs: self.texts(), groupIDs: self.texts(), source: self.text(), revision: self.u64(),
                    summary: self.summary(),
                    images: self.list {
                        CatalogImageInfo(id: $0.text(), contentHash: $0.bytes(), byteCount: $0.u32())
                    }))
        case .getServerStatus:
            return .getServerStatus(
                ServerStatus(
                    version: self.text(), storeID: self.bytes(), epoch: self.u32(), revision: self.u64(),
                    metrics: self.list {
                        Metric(name: $0.text(), labels: $0.text(), value: Double($0.u32()) / 8, help: $0.text())
                    },
                    findings: self.list {
                        Finding(level: $0.text(), subject: $0.text(), message: $0.text(), remedy: $0.text())
                    }))
        case .backup:
            return .backup(
                BackupSummary(
                    revision: self.u64(), byteCount: self.u64(), durationMilliseconds: self.u64(),
                    longestStallMicroseconds: self.u64()))
        case .offerConsoleCode: return .offerConsoleCode(ConsoleCode(code: self.text()))
        case .redeemConsoleCode: return .redeemConsoleCode(ConsoleToken(token: self.text()))
        case .revokeToken: return .revokeToken(RevokeTokenResponse(wasRevoked: true, wasSeen: true))
        }
    }

    mutating func details() -> [StatusDetail] { self.list { StatusDetail(key: $0.text(), value: $0.text()) } }

    mutating func hello() -> Hello {
        Hello(
            protocolVersion: self.u32(), authorization: self.text(), clientName: self.text(),
            accepts: self.list { $0.value() }, heartbeatSeconds: self.u32(), clientID: self.bytes())
    }

    mutating func welcome() -> Welcome {
        Welcome(
            serverVersion: self.text(), storeID: self.bytes(), epoch: self.u32(), revision: self.u64(),
            limits: PeerLimits(
                frameBytes: self.u32(), requestBytes: self.u32(), catalogRequestBytes: self.u32(),
                callsPerConnection: self.u32(), writeStallMilliseconds: self.u32()),
            heartbeatSeconds: self.u32(), accepts: self.list { $0.value() }, serverTime: self.instant())
    }

    mutating func status() -> Status {
        Status(code: self.i32(), message: self.text(), reason: self.text(), details: self.details())
    }

    mutating func drain() -> Drain {
        Drain(
            reason: self.text(), message: self.text(), reconnectAfterMilliseconds: self.u32(),
            jitterMilliseconds: self.u32(), isFinal: true, details: self.details())
    }
}
