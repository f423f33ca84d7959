import PerchBase
import PerchModel
import PerchWire

// Reads the current value of a subject.
extension ScenarioRunner {
    func look(_ subject: Expectation.Subject) throws(ScenarioFailure) -> Looked {
        switch subject {
        case .outcome: return self.lookAtOutcome()
        case .watch(let said):
            let key = self.spelt(said)
            guard let watch = self.watches[key] else {
                throw ScenarioFailure("\(key) is not watched here: `unwatch` closed it")
            }
            self.mentioned.insert(key)
            var looked = self.looked(watch.state, watch.info)
            looked.pushes = watch.pushCount
            if case .updates = key {
                looked.isLoading = false
                looked.sights = watch.events.map { Self.sight($0) }
            }
            looked.summary = self.describe(watch)
            return looked
        case .asOf(let key, let instant): return try self.lookBack(key, instant)
        case .history, .unfinished:
            return self.looked(try self.list(subject))
        case .transaction(let account, let reference):
            guard case .named(let name) = reference, let named = self.transactions[name] else {
                let found = try self.find(reference, account: account)
                return self.looked(found.map { [Verified($0)] } ?? [])
            }
            // A deleted transaction keeps its name and its dates, and counts as missing.
            let all = try self.history(named.account, named.transaction.productID)
            return self.looked(all.filter { $0.value.id == named.transaction.id })
        case .entitlements(let account):
            let request = ListCurrentEntitlementsRequest(
                app: self.appReference, account: self.key(account), atLeast: self.position)
            switch try self.app.ask(.listCurrentEntitlements(request)) {
            case .success(.listCurrentEntitlements(let answer)): return self.looked(answer.transactions)
            case .success(let other): throw self.surprise(other)
            case .failure(let refusal): return self.refused(refusal)
            }
        case .eligibility(let account, let product, let group):
            return try self.lookAtOffers(account, product, group)
        case .plans(let account, let group):
            let request = PlanOptionsRequest(
                app: self.appReference, account: self.key(account), groupID: try self.group(group),
                atLeast: self.position)
            switch try self.app.ask(.listPlanOptions(request)) {
            case .success(.listPlanOptions(let answer)):
                return self.looked(sights: answer.options.map { Sight($0) })
            case .success(let other): throw self.surprise(other)
            case .failure(let refusal): return self.refused(refusal)
            }
        case .pending(let account):
            let waiting = try self.inspect(account)?.pendingPurchases ?? []
            return self.looked(sights: waiting.map { Sight($0) })
        case .appTransaction(let account): return try self.lookAtAppTransaction(account)
        case .explanation(let key, let instant): return try self.lookAtExplanation(key, instant)
        case .clock: return try self.seeClock()
        case .settings:
            switch try self.store.ask(.getSettings(SettingsRequest(app: self.appReference))) {
            case .success(.getSettings(let answer)):
                var looked = Looked()
                looked.settings = answer.settings
                return looked
            case .success(let other): throw self.surprise(other)
            case .failure(let refusal): return self.refused(refusal)
            }
        case .policies(let locale): return try self.lookAtPolicies(locale)
        }
    }

    // MARK: Values

    private func looked(_ state: StreamState, _ info: ValueInfo?) -> Looked {
        var looked = Looked()
        switch state {
        case .loading: looked.isLoading = true
        case .failure(let failure): looked.failure = failure
        case .success(.products(let products)):
            looked.sights = products.products.map { Sight($0) } + products.unavailableIDs.map { Sight(unavailable: $0) }
        case .success(.statuses(let statuses)):
            looked.sights = statuses.statuses.map { Sight($0, info) }
            looked.effective = statuses.effectiveIndex
            looked.fields[.effectiveReason] = .name(statuses.effectiveReason)
        case .success(.entitlement(let transaction)): looked.sights = transaction.map { [Sight($0)] } ?? []
        case .success(.intents(let intents)): looked.sights = intents.map { Sight($0) }
        case .success(.messages(let messages)): looked.sights = messages.map { Sight($0) }
        }
        if let info { looked.add(info) }
        looked.summary = self.describe(state)
        return looked
    }

    private func looked(_ transactions: [Verified<Transaction>]) -> Looked {
        var looked = self.looked(sights: transactions.map { Sight($0) })
        looked.summary =
            transactions.isEmpty ? "none" : transactions.map { self.describe($0.value) }.joined(separator: "; ")
        return looked
    }

    private func looked(sights: [Sight]) -> Looked {
        var looked = Looked()
        looked.sights = sights
        looked.summary = sights.isEmpty ? "none" : sights.map(\.summary).joined(separator: ", ")
        return looked
    }

    private func refused(_ refusal: RefusedCall) -> Looked {
        var looked = Looked()
        looked.failure = Failure(reason: refusal.reason, message: refusal.message)
        looked.summary = "refused \(refusal.reason): \(refusal.message)"
        return looked
    }

    private func surprise(_ response: Response) -> ScenarioFailure {
        ScenarioFailure("a question was answered with \(response.method.path)")
    }

    private static func sight(_ event: TransactionEvent) -> Sight {
        guard let transaction = event.transaction else { return Sight() }
        var sight = Sight(transaction)
        sight.fields[.event] = .name(event.kind)
        sight.summary = "\(event.kind) \(sight.summary)"
        return sight
    }

    private func lookAtOutcome() -> Looked {
        var looked = Looked()
        guard let outcome = self.outcome else { return looked }
        if let transaction = outcome.transaction { looked.sights = [Sight(transaction)] }
        looked.summary = self.describe(outcome)
        return looked
    }

    func describe(_ outcome: Outcome) -> String {
        switch outcome.result {
        case .refused(let refusal): return "refused \(refusal.reason): \(refusal.message)"
        case .pending: return "pending"
        case .cancelled: return "cancelled"
        case .done:
            var words: [String] = []
            if outcome.isPurchase { words.append(outcome.wasHeld ? "held" : "new") }
            if let isApproved = outcome.isApproved { words.append(isApproved ? "approved" : "declined") }
            if outcome.appliesAtRenewal { words.append("applies at renewal") }
            if let count = outcome.settledCount { words.append("settled \(count)") }
            if let transaction = outcome.transaction { words.append(self.describe(transaction.value)) }
            return words.isEmpty ? "success" : words.joined(separator: ", ")
        }
    }

    // MARK: Reads

    private func lookBack(_ key: WatchKey, _ expression: InstantExpression) throws(ScenarioFailure) -> Looked {
        guard let instant = try self.resolve(expression, account: key.account ?? "") else {
            throw ScenarioFailure("this instant depends on a transaction that does not have it")
        }
        let asOf = AsOf(instant: instant)
        let request: Request
        switch key {
        case .status(let account, let group):
            request = .getSubscriptionStatus(
                SubscriptionStatusRequest(
                    app: self.appReference, account: self.key(account), groupID: try self.group(group),
                    atLeast: self.position, allGroups: group?.isEmpty == true, asOf: asOf))
        case .entitlement(let account, let product):
            request = .getCurrentEntitlement(
                CurrentEntitlementRequest(
                    app: self.appReference, account: self.key(account), productID: product, atLeast: self.position,
                    asOf: asOf))
        default: throw ScenarioFailure("\(key) cannot be asked as of another instant")
        }
        switch try self.app.ask(request) {
        case .failure(let refusal): return self.refused(refusal)
        case .success(let response):
            guard let state = Self.state(of: response) else { throw self.surprise(response) }
            let info: ValueInfo? =
                switch response {
                case .getSubscriptionStatus(.success(_, let info)), .getCurrentEntitlement(.success(_, let info)): info
                default: nil
                }
            return self.looked(state, info)
        }
    }

    private func lookAtOffers(
        _ account: String, _ product: String?, _ group: String?
    ) throws(ScenarioFailure) -> Looked {
        var groupID = group ?? ""
        if product == nil, group == nil { groupID = try self.group(nil) }
        let request = OfferEligibilityRequest(
            app: self.appReference, account: self.key(account), productID: product ?? "", groupID: groupID,
            atLeast: self.position)
        switch try self.app.ask(.getOfferEligibility(request)) {
        case .success(.getOfferEligibility(let answer)):
            var introductory = Sight()
            introductory.fields = [
                .offerType: .text("introductory"), .eligible: .flag(answer.value.isEligibleForIntroductory),
            ]
            introductory.summary = "introductory"
            return self.looked(sights: [introductory] + answer.value.offers.map { Sight($0) })
        case .success(let other): throw self.surprise(other)
        case .failure(let refusal): return self.refused(refusal)
        }
    }

    private func lookAtAppTransaction(_ account: String) throws(ScenarioFailure) -> Looked {
        let request = AppTransactionRequest(
            app: self.appReference, account: self.key(account), atLeast: self.position)
        switch try self.app.ask(.getAppTransaction(request)) {
        case .success(.getAppTransaction(let answer)):
            var sight = Sight()
            sight.fields = [
                .appTransaction: .text(nonEmpty: answer.appTransactionID), .bundleID: .text(nonEmpty: answer.bundleID),
                .environment: .name(answer.environment), .verification: .name(answer.failure),
                .originalVersion: .text(nonEmpty: answer.originalAppVersion),
                .platform: .name(answer.originalPlatform), .mayPay: .flag(answer.canMakePayments),
            ]
            if let date = answer.originalPurchaseDate { sight.fields[.originallyPurchased] = .instant(date) }
            sight.summary = "app transaction \(answer.appTransactionID)"
            return self.looked(sights: [sight])
        case .success(let other): throw self.surprise(other)
        case .failure(let refusal): return self.refused(refusal)
        }
    }

    private func lookAtExplanation(
        _ key: WatchKey, _ expression: InstantExpression?
    ) throws(ScenarioFailure) -> Looked {
        let about: ExplainRequest.About
        switch key {
        case .status(_, let group): about = .group(try self.group(group))
        case .entitlement(_, let product): about = .product(product)
        default: throw ScenarioFailure("only a status or an entitlement can be explained")
        }
        let instant = try expression.flatMap { (expression) throws(ScenarioFailure) in
            try self.resolve(expression, account: key.account ?? "")
        }
        let request = ExplainRequest(
            app: self.appReference, account: self.key(key.account ?? ""), about: about,
            asOf: AsOf(instant: instant), atLeast: self.position)
        switch try self.app.ask(.explain(request)) {
        case .success(.explain(let answer)):
            var looked = self.looked(sights: answer.value.explanations.map { Sight($0) })
            if looked.sights.isEmpty { looked.sights = [Sight()] }
            looked.sights[0].fields[.entitled] = .flag(answer.value.isEntitled)
            looked.summary = answer.value.message
            return looked
        case .success(let other): throw self.surprise(other)
        case .failure(let refusal): return self.refused(refusal)
        }
    }

    private func seeClock() throws(ScenarioFailure) -> Looked {
        switch try self.store.ask(.getClock(ClockRequest(app: self.appReference))) {
        case .success(.getClock(let answer)):
            self.now = answer.clock.now
            self.isFrozen = answer.clock.isFrozen
            var sight = Sight()
            let rate = TimeRate(rawValue: answer.clock.timeRate)?.name ?? String(answer.clock.timeRate)
            sight.fields = [
                .now: .instant(answer.clock.now), .frozen: .flag(answer.clock.isFrozen), .timeRate: .text(rate),
            ]
            sight.summary =
                "\(self.unshifted(answer.clock.now)), \(answer.clock.isFrozen ? "frozen" : "running"), \(rate)"
            return self.looked(sights: [sight])
        case .success(let other): throw self.surprise(other)
        case .failure(let refusal): return self.refused(refusal)
        }
    }

    private func lookAtPolicies(_ locale: String) throws(ScenarioFailure) -> Looked {
        switch try self.app.ask(.getAppPolicies(AppPoliciesRequest(app: self.appReference, locale: locale))) {
        case .success(.getAppPolicies(let answer)):
            var sight = Sight()
            sight.fields = [
                .licence: .text(nonEmpty: answer.licenceAgreement),
                .privacyText: .text(nonEmpty: answer.privacyPolicyText),
                .privacyURL: .text(nonEmpty: answer.privacyPolicyURL),
            ]
            sight.summary = "licence \(quoted(answer.licenceAgreement))"
            return self.looked(sights: [sight])
        case .success(let other): throw self.surprise(other)
        case .failure(let refusal): return self.refused(refusal)
        }
    }
}
