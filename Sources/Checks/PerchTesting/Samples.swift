package import PerchBase
package import PerchModel
package import PerchStore

/// Values in which every field is random, each optional is present or not, and enumerations have unknown numbers. They
/// test whatever carries values through bytes.
extension SeededRandom {
    package mutating func open<Value: OpenEnumeration>(_: Value.Type = Value.self) -> Value {
        Value(rawValue: self.bool() ? Int32(self.below(Value.names.count)) : self.int32())
    }

    package mutating func instant() -> Instant {
        switch self.below(8) {
        case 0: .distantPast
        case 1: .distantFuture
        case 2: Instant(milliseconds: self.int64())
        default: Instant(milliseconds: 1_700_000_000_000 + Int64(self.below(100_000_000)))
        }
    }

    /// A UUID, no token, or a text that is none.
    package mutating func accountToken() -> String {
        self.bool() ? AccountToken(high: self.next(), low: self.next()).text : self.string()
    }

    package mutating func money() -> Money { Money(milliunits: self.int64(), currency: self.string()) }
    package mutating func period() -> Period { Period(self.int32(), self.open()) }
    package mutating func digest() -> Digest { Digest(high: self.next(), low: self.next()) }
    package mutating func timeRate() -> TimeRate { self.element(TimeRate.all) }

    package mutating func subscriptionOffer() -> SubscriptionOffer {
        var offer = SubscriptionOffer(
            id: self.string(), type: self.open(), paymentMode: self.open(), price: self.money(),
            period: self.period(), periodCount: self.int32())
        offer.displayPrice = self.string()
        offer.billingPlan = self.open()
        return offer
    }

    package mutating func storefront() -> Storefront { Storefront(countryCode: self.string(), id: self.string()) }

    package mutating func transactionOffer() -> TransactionOffer {
        TransactionOffer(
            id: self.string(), type: self.open(), paymentMode: self.open(), period: self.optional { $0.period() })
    }

    package mutating func revocation() -> Revocation {
        Revocation(date: self.instant(), reason: self.open(), type: self.open(), percentageMilli: self.uint32())
    }

    package mutating func commitment() -> Commitment {
        Commitment(
            billingPeriodNumber: self.uint32(), totalBillingPeriods: self.uint32(), expirationDate: self.instant(),
            price: self.money(), willRenew: self.bool())
    }

    package mutating func billingRetry() -> BillingRetry {
        BillingRetry(failedAt: self.instant(), until: self.instant(), graceUntil: self.optional { $0.instant() })
    }

    package mutating func line() -> Line {
        var line = Line(latest: self.transaction(), preference: self.string(), recentStart: self.instant())
        line.willAutoRenew = self.bool()
        line.preferredBillingPlan = self.open()
        line.anchorDay = self.int64()
        line.offerInForce = self.optional { $0.subscriptionOffer() }
        line.offerPeriodsLeft = self.int32()
        line.retry = self.optional { $0.billingRetry() }
        line.lapse = self.optional { $0.open(ExpirationReason.self) }
        line.increase = self.optional { random in
            PriceIncrease(price: random.money(), asked: random.instant(), status: random.open())
        }
        line.lastIncrease = self.optional { $0.instant() }
        line.agreedPrice = self.optional { $0.money() }
        line.queuedOffer = self.optional { $0.subscriptionOffer() }
        line.level = self.int32()
        return line
    }

    package mutating func lineTerms() -> LineTerms {
        var terms = LineTerms(
            preference: self.string(), anchorDay: self.int64(),
            offerInForce: self.optional { $0.subscriptionOffer() }, offerPeriodsLeft: self.int32(),
            recentStart: self.instant())
        terms.preferredBillingPlan = self.open()
        terms.queuedOffer = self.optional { $0.subscriptionOffer() }
        terms.agreedPrice = self.optional { $0.money() }
        terms.lastIncrease = self.optional { $0.instant() }
        terms.level = self.int32()
        return terms
    }

    package mutating func orderedOffer() -> OrderedOffer {
        OrderedOffer(type: self.open(), id: self.string(), signature: self.string())
    }

    package mutating func purchaseOrder() -> PurchaseOrder {
        var order = PurchaseOrder(
            productID: self.string(), quantity: self.uint32(), appAccountToken: self.accountToken(),
            offer: self.optional { $0.orderedOffer() })
        order.introductoryEligibility = self.open()
        order.introductoryEligibilitySignature = self.string()
        order.billingPlan = self.open()
        order.date = self.optional { $0.instant() }
        order.renewalBehaviour = self.open()
        order.simulatesAskToBuy = self.bool()
        order.seenStorefront = self.string()
        order.continuesInNewStorefront = self.bool()
        return order
    }

    package mutating func pendingPurchase() -> PendingPurchase {
        PendingPurchase(
            id: self.uint64(), reason: self.open(), order: self.purchaseOrder(), since: self.instant())
    }

    package mutating func purchaseIntent() -> PurchaseIntent {
        PurchaseIntent(
            id: self.uint64(), productID: self.string(), offer: self.optional { $0.orderedOffer() },
            since: self.instant())
    }

    package mutating func familyShare() -> FamilyShare {
        FamilyShare(original: self.uint64(), member: self.uint64(), memberOriginal: self.uint64())
    }

    package mutating func groupHistory() -> GroupHistory {
        var history = GroupHistory(groupID: self.string())
        history.hadIntroductoryOffer = self.bool()
        history.paidMilliseconds = self.int64()
        history.lastWinBack = self.optional { $0.instant() }
        return history
    }

    package mutating func record(_ account: AccountNumber) -> AccountRecord {
        var record = AccountRecord(account: account, app: self.uint32())
        record.revision = self.uint64()
        record.committed = self.instant()
        record.appTransactionID = self.string()
        record.lines = self.array(upTo: 3) { $0.line() }
        record.owned = self.array(upTo: 3) { $0.transaction() }
        record.histories = self.array(upTo: 3) { $0.groupHistory() }
        record.pendingPurchases = self.array(upTo: 2) { $0.pendingPurchase() }
        record.intents = self.array(upTo: 2) { $0.purchaseIntent() }
        record.shares = self.array(upTo: 2) { $0.familyShare() }
        record.awaitingSync = self.array(upTo: 2) { $0.transaction() }
        record.storefront = self.string()
        record.chargesFail = self.optional { $0.bool() }
        record.arePaymentsForbidden = self.bool()
        record.appTransaction = self.optional { $0.appTransactionTerms() }
        record.redeemedOffers = self.array(upTo: 2) { $0.redeemedOffer() }
        record.messagePosted = self.optional { $0.instant() }
        record.extensions = self.array(upTo: 2) { random in
            RenewalExtension(original: random.uint64(), instant: random.instant())
        }
        record.refundRequests = self.array(upTo: 2) { $0.uint64() }
        record.grants = self.array(upTo: 2) { $0.grant() }
        record.reported = self.optional { random in
            var reported = ReportedRecord()
            reported.isUnclaimed = random.bool()
            for original in random.array(upTo: 2, { $0.reportedOriginal() }) { reported.add(original) }
            reported.names = random.array(upTo: 2) { $0.alias() }
            reported.unfinished = random.array(upTo: 2) { $0.uint64() }
            reported.history = random.optional { $0.reportedHistory() }
            return reported
        }
        return record
    }

    package mutating func appTransactionTerms() -> AppTransactionTerms {
        AppTransactionTerms(
            originalAppVersion: self.string(), originalPurchaseDate: self.optional { $0.instant() },
            originalPlatform: self.open(), environment: self.open())
    }

    package mutating func redeemedOffer() -> RedeemedOffer {
        RedeemedOffer(
            productID: self.string(), offerID: self.string(), code: self.string(), transactionID: self.uint64())
    }

    package mutating func codeOffer() -> CodeOffer {
        CodeOffer(
            offer: self.subscriptionOffer(),
            eligibility: CodeOffer.Eligibility(rawValue: UInt8(truncatingIfNeeded: self.next())),
            isStackable: self.bool(),
            codes: self.array(upTo: 2) { random in
                OfferCode(
                    code: random.string(), redemptionLimit: random.uint32(), until: random.optional { $0.instant() })
            })
    }

    package mutating func grant() -> EntitlementGrant {
        EntitlementGrant(
            name: self.string(), until: self.optional { $0.instant() }, reason: self.string(), since: self.instant(),
            tier: self.string())
    }

    package mutating func renewalInfo() -> RenewalInfo {
        var info = RenewalInfo(
            originalTransactionID: self.uint64(), currentProductID: self.string(), willAutoRenew: self.bool(),
            renewalDate: self.instant(), recentSubscriptionStartDate: self.instant(), environment: self.open(),
            signedDate: self.instant())
        info.autoRenewPreference = self.optional { $0.string() }
        info.expirationReason = self.optional { $0.open(ExpirationReason.self) }
        info.isInBillingRetry = self.bool()
        info.gracePeriodExpirationDate = self.optional { $0.instant() }
        info.priceIncreaseStatus = self.open()
        info.renewalPrice = self.optional { $0.money() }
        info.offer = self.transaction().offer
        info.eligibleWinBackOfferIDs = self.array(upTo: 2) { $0.string() }
        info.appAccountToken = self.accountToken()
        info.appTransactionID = self.string()
        info.renewalBillingPlan = self.open()
        info.commitment = self.transaction().commitment
        return info
    }

    private mutating func stamp() -> ReportStamp { ReportStamp(signed: self.instant(), content: self.digest()) }

    package mutating func reportedOriginal() -> ReportedOriginal {
        var original = ReportedOriginal(id: self.uint64())
        for _ in 0..<self.below(3) {
            var transaction = self.transaction()
            transaction.originalID = original.id
            _ = original.fold(transaction, stamp: self.stamp())
            if self.bool() {
                // Another report of the same purchase, which shares no storage with the first one.
                var again = self.transaction()
                again.originalID = original.id
                again.productType = transaction.productType
                again.environment = transaction.environment
                again.webOrderLineItemID = transaction.webOrderLineItemID
                _ = original.fold(again, stamp: self.stamp())
            }
        }
        if self.bool() {
            var info = self.renewalInfo()
            info.originalTransactionID = original.id
            _ = original.fold(info, renewalDate: self.optional { $0.instant() }, stamp: self.stamp())
        }
        if self.bool() { _ = original.fold(AccountClaim(account: self.uint64(), revision: self.uint64())) }
        return original
    }

    package mutating func alias() -> AccountAlias {
        self.bool() ? .appAccountToken(self.string()) : .appTransactionID(self.string())
    }

    package mutating func reportedHistory() -> ReportedHistory {
        ReportedHistory(
            read: self.instant(),
            places: self.array(upTo: 3) { ReportedHistory.Place(original: $0.uint64(), revision: $0.string()) })
    }

    package mutating func reportedFact() -> ReportedFact {
        switch self.below(19) {
        case 0:
            .transaction(
                ReportedTransaction(
                    reported: self.transaction(), content: self.digest(), shown: self.optional { $0.transaction() },
                    replaces: self.array(upTo: 2) { $0.uint64() }, kind: self.open()))
        case 1:
            .renewal(self.renewalInfo(), renewalDate: self.optional { $0.instant() }, content: self.digest())
        case 2: .claimed(self.uint64(), AccountClaim(account: self.uint64(), revision: self.uint64()))
        case 3: .gained(self.reportedOriginal(), from: self.uint64())
        case 4: .lost(self.uint64(), rows: self.array(upTo: 2) { $0.uint64() })
        case 5: .openedUnclaimed
        case 6: .granted(self.grant())
        case 7: .grantEnded(name: self.string())
        case 8: .named(self.optional { $0.alias() })
        case 9: .unnamed(self.alias())
        case 10:
            .notified(
                NotificationNotice(
                    type: self.string(), subtype: self.string(), uuid: self.string(), signed: self.instant(),
                    transactionID: self.uint64()), reason: self.string())
        case 11: .archived(self.uint64())
        case 12, 14, 15: .unarchived(self.reportedOriginal())
        case 13: .submitted(self.uint64())
        case 18: .historyRead(self.reportedHistory())
        default: .merged
        }
    }

    package mutating func fact() -> Fact {
        let body: Fact.Body =
            switch self.below(46) {
            case 0: .opened(appTransactionID: self.string())
            case 1: .purchased(self.transaction(), terms: self.optional { Boxed($0.lineTerms()) })
            case 2: .renewed(self.transaction(), terms: self.lineTerms())
            case 3: .renewalFailed(original: self.uint64(), retry: self.billingRetry())
            case 4: .lapsed(original: self.uint64(), reason: self.open())
            case 5: .upgradedFrom(self.transaction())
            case 6:
                .autoRenewSet(
                    original: self.uint64(), isOn: self.bool(), preference: self.string(), billingPlan: self.open())
            case 7: .revoked(self.transaction(), fallback: self.optional { $0.transaction() })
            case 8: .expiredEarly(self.transaction())
            case 9: .periodCut(self.transaction())
            case 10: .finished(self.uint64())
            case 11: .reinstated(self.transaction())
            case 12:
                .priceRaised(
                    original: self.uint64(),
                    PriceIncrease(price: self.money(), asked: self.instant(), status: self.open()))
            case 13: .priceAnswered(original: self.uint64(), agrees: self.bool())
            case 14: .offerQueued(original: self.uint64(), self.subscriptionOffer())
            case 15: .extended(self.transaction())
            case 16: .purchaseHeld(self.pendingPurchase())
            case 17: .purchaseReleased(id: self.uint64(), isApproved: self.bool())
            case 18: .sharingBegan(self.familyShare())
            case 19: .sharingEnded(original: self.uint64(), member: self.uint64())
            case 20: .sharedLineSet(self.line(), isNew: self.bool())
            case 21: .shareAwaitsSync(self.transaction())
            case 22: .synced
            case 23: .intentCreated(self.purchaseIntent())
            case 24: .intentEnded(id: self.uint64())
            case 25: .storefrontSet(self.string())
            case 26: .chargesSet(fail: self.optional { $0.bool() })
            case 27: .messagePosted
            case 28:
                .deleted(
                    self.uint64(),
                    remainder: Remainder(
                        lines: self.array(upTo: 2) { $0.line() }, owned: self.array(upTo: 2) { $0.transaction() },
                        histories: self.array(upTo: 2) { $0.groupHistory() }))
            case 29: .refundRequested(self.uint64())
            case 30...37: .reported(self.reportedFact())
            case 38: .paymentsSet(isAllowed: self.bool())
            case 39: .appTransactionSet(self.appTransactionTerms())
            case 40: .codeRedeemed(self.redeemedOffer())
            case 41: .consumptionRequested(self.transaction())
            case 42: .refundDeclined(self.transaction())
            case 43: .accountTokenSet(self.transaction())
            default: .cleared
            }
        return Fact(
            body, effective: self.instant(), source: FactSource(rawValue: Int32(self.below(6))),
            stamp: self.optional { $0.instant() })
    }

    package mutating func settings() -> AppSettings {
        var settings = AppSettings()
        settings.timeRate = self.timeRate()
        settings.storefront = self.string()
        settings.locale = self.string()
        settings.isAskToBuyEnabled = self.bool()
        settings.areBillingIssuesEnabled = self.bool()
        settings.areRenewalBillingIssuesEnabled = self.bool()
        settings.isGracePeriodEnabled = self.bool()
        settings.gracePeriodDays = self.int64()
        settings.asksBeforePurchases = self.bool()
        settings.hasGracePeriodForAllRenewals = self.bool()
        settings.leewayMilliseconds = self.optional { $0.int64() }
        settings.claimPolicy = self.element(ClaimPolicy.allCases)
        settings.finishesAtAppStore = self.bool()
        settings.setsTokensAtAppStore = self.bool()
        for api in StoreKitAPI.names.indices.dropFirst() where self.bool() {
            settings.simulatedErrors[StoreKitAPI(rawValue: Int32(api))] = self.open()
        }
        return settings
    }

    package mutating func clock() -> AppClock {
        self.bool() ? .running(offsetMilliseconds: self.int64()) : .frozen(at: self.instant())
    }

    package mutating func localization() -> Localization {
        Localization(locale: self.string(), displayName: self.string(), description: self.string())
    }

    package mutating func catalogueProduct(_ id: String, groups: [CatalogueGroup]) -> CatalogueProduct {
        let subscription = groups.isEmpty ? nil : self.optional { $0.catalogueSubscription($0.element(groups).id) }
        var product = CatalogueProduct(
            id: id, type: self.open(), referenceName: self.string(), price: self.money(),
            isFamilyShareable: self.bool(), localizations: self.array(upTo: 2) { $0.localization() },
            promotionalImageID: self.string(), subscription: subscription, json: self.bytes(upTo: 40))
        product.isWithdrawn = self.bool()
        if product.subscription == nil { product.codeOffers = self.array(upTo: 2) { $0.codeOffer() } }
        return product
    }

    package mutating func winBackRule() -> WinBackRule {
        var rule = WinBackRule()
        rule.paidMonthsMin = self.int32()
        rule.lapsedMonthsMin = self.int32()
        rule.lapsedMonthsMax = self.int32()
        rule.waitMonths = self.int32()
        rule.from = self.optional { $0.instant() }
        rule.until = self.optional { $0.instant() }
        return rule
    }

    package mutating func catalogueSubscription(_ group: String) -> CatalogueSubscription {
        var subscription = CatalogueSubscription(groupID: group, level: self.int32(), period: self.period())
        subscription.introductoryOffers = self.array(upTo: 2) { $0.subscriptionOffer() }
        subscription.promotionalOffers = self.array(upTo: 2) { $0.subscriptionOffer() }
        subscription.codeOffers = self.array(upTo: 2) { $0.codeOffer() }
        subscription.winBackOffers = self.array(upTo: 2) { random in
            WinBackOffer(
                offer: random.subscriptionOffer(), isEligible: random.bool(), isHighPriority: random.bool(),
                rule: random.optional { $0.winBackRule() })
        }
        subscription.billingPlans = self.array(upTo: 2) { random in
            var plan = BillingPlan(
                type: random.open(), price: random.money(), commitmentPrice: random.money(),
                chargeCount: random.uint32())
            plan.displayPrice = random.string()
            plan.commitmentDisplayPrice = random.string()
            return plan
        }
        return subscription
    }

    package mutating func catalogueImage() -> CatalogueImage {
        CatalogueImage(
            id: self.string() + String(self.next()), hash: ContentHash(of: self.bytes(upTo: 8)),
            byteCount: UInt32(truncatingIfNeeded: self.next()))
    }

    package mutating func catalogue() -> Catalogue {
        let groups = self.array(upTo: 3) { random in
            CatalogueGroup(
                id: random.string() + String(random.next()), name: random.string(),
                localizations: random.array(upTo: 2) { $0.localization() })
        }
        let products = self.array(upTo: 4) { random in
            random.catalogueProduct(random.string() + String(random.next()), groups: groups)
        }
        let policies = AppPolicies(
            licenceAgreement: self.string(),
            privacyPolicies: self.array(upTo: 2) { random in
                AppPolicies.PrivacyPolicy(locale: random.string(), text: random.string(), url: random.string())
            })
        return Catalogue(
            products: products, groups: groups, schemaVersion: self.string(), policies: policies,
            images: self.array(upTo: 2) { $0.catalogueImage() },
            entitlements: self.array(upTo: 2) { random in
                EntitlementRule(
                    name: random.string(), productID: random.string(), groupID: random.string(),
                    level: random.optional { $0.int32() }, tier: random.string())
            })
    }

    package mutating func appState(_ app: AppNumber, revision: UInt64) -> StoredAppState {
        let state = AppState(
            number: app, bundleID: self.string(), environment: self.open(), revision: revision,
            effective: self.instant(), committed: self.instant(), catalogue: self.catalogue(),
            catalogueRevision: self.uint64(), catalogueSource: self.string(), settings: self.settings(),
            clock: self.clock())
        return StoredAppState(state: state, fileSettings: self.settings())
    }

    package mutating func mutationResult() -> MutationResult {
        switch self.below(6) {
        case 0: .none
        case 1:
            .transaction(
                self.transaction(), wasHeld: self.bool(), failure: VerificationFailure(rawValue: Int32(self.below(7))))
        case 2: .pending(id: self.uint64())
        case 3: .cancelled
        case 4: .number(self.uint64())
        default:
            .clock(
                now: self.instant(), isFrozen: self.bool(), offsetMilliseconds: self.int64(),
                timeRate: self.timeRate(), settled: RenewalCount(settled: self.uint64()))
        }
    }

    package mutating func keptAnswer() -> KeptAnswer {
        KeptAnswer(
            digest: self.digest(), result: self.mutationResult(),
            position: Position(revision: self.uint64(), asOf: self.instant()), kept: self.instant())
    }

    package mutating func storeHeader() -> StoreHeader {
        StoreHeader(
            identity: StoreIdentity(high: self.next(), low: self.next()), epoch: self.uint32(),
            revision: self.uint64(), nextTransaction: self.uint64(), nextAccount: self.uint64(),
            lease: self.instant())
    }
}
