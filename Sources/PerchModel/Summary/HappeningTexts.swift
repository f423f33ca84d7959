package import PerchBase

extension TextReader {
    /// What happened, for people. A customer is not shown who did it, nor the words for the record.
    package func history(
        _ happenings: [Happening], in app: AppState, at now: Instant, forCustomer: Bool
    ) -> [HistoryEntry] {
        happenings.map { each in
            let told = forCustomer ? each.forCustomer : each
            let teller = Teller(reader: self, app: app, now: now, told: told)
            var message = teller.message
            if !told.by.isEmpty { message += self.text(.doneBy, ["by": Self.isolated(told.by)]) }
            return HistoryEntry(
                at: told.at, message: message, kind: told.what.kind, transactionID: told.transactionID, by: told.by,
                account: told.otherKey)
        }
    }
}

/// One happening in the words of one reader.
private struct Teller {
    let reader: TextReader
    let app: AppState
    let now: Instant
    let told: Happening

    var message: String {
        switch self.told.what {
        case .bought(let transaction), .renewed(let transaction), .recovered(let transaction):
            return self.purchase(transaction)
        case .refunded(let transaction): return self.refund(transaction)
        case .priceRaised(let product, let price, let needsConsent):
            guard let price else { return self.say(needsConsent ? .priceWasAsked : .priceWasRaisedSomehow, product) }
            return self.say(
                needsConsent ? .priceWasAskedTo : .priceWasRaised, product, ["price": self.reader.price(price)])
        case .priceAnswered(let product, let price, let agrees):
            guard let price else { return self.say(agrees ? .priceWasAgreed : .priceWasRefused, product) }
            return self.say(
                agrees ? .priceWasAgreedTo : .priceWasRefusedTo, product, ["price": self.reader.price(price)])
        case .extended(let transaction, let milliseconds): return self.extension(of: transaction, milliseconds)
        case .sharingBegan(let product): return self.say(.sharedWith, product, ["account": self.other])
        case .sharingEnded(let product): return self.say(.unsharedWith, product, ["account": self.other])
        case .cameFrom(let product):
            return self.say(.cameFrom, product, ["account": self.other, "id": "\(self.told.transactionID)"])
        case .wentTo(let product):
            return self.say(.wentTo, product, ["account": self.other, "id": "\(self.told.transactionID)"])
        case .granted(let grant):
            return self.reader.text(.wasGranted, ["product": TextReader.isolated(grant.name)])
                + self.reader.grantTail(until: grant.until, because: grant.reason, at: self.now)
        case .grantEnded(let name): return self.reader.text(.grantWasEnded, ["product": TextReader.isolated(name)])
        case .grantOver(let name): return self.reader.text(.grantIsOver, ["product": TextReader.isolated(name)])
        default: return self.change
        }
    }

    /// What became of a subscription or of the account, in one product's name.
    private var change: String {
        switch self.told.what {
        case .chargeFailed(let product, let until?): self.say(.failedWithAccess, product, ["end": self.day(until)])
        case .chargeFailed(let product, nil): self.say(.failedWithoutAccess, product)
        case .accessEnded(let product): self.say(.accessEnded, product)
        case .stoppedTrying(let product): self.say(.stoppedTrying, product)
        case .ended(let product, let reason, let isUnreported): self.end(product, reason, isUnreported: isUnreported)
        case .cutShort(let product): self.say(.wasCutShort, product)
        case .renewalSwitched(let product, let isOn): self.say(isOn ? .switchedOn : .switchedOff, product)
        case .planChosen(let product, let next): self.say(.planWasChosen, product, ["next": self.name(next)])
        case .unshared(let product): self.say(.wasUnshared, product)
        case .refundReversed(let product): self.say(.refundWasReversed, product)
        case .refundDeclined(let product): self.say(.refundWasDeclined, product)
        case .waits(let product): self.say(.beganToWait, product)
        case .refundRequested: self.reader.text(.refundWasRequested, ["id": "\(self.told.transactionID)"])
        case .decided(let isApproved): self.reader.text(isApproved ? .wasApproved : .wasNotApproved)
        case .chargesSet(let fail):
            self.reader.text(fail.map { $0 ? .chargesWillFail : .chargesWillSucceed } ?? .chargesAsSet)
        case .paymentsSet(let isAllowed): self.reader.text(isAllowed ? .paymentsAllowed : .paymentsForbidden)
        case .deleted: self.reader.text(.wasDeleted, ["id": "\(self.told.transactionID)"])
        case .cleared: self.reader.text(.wasCleared)
        case .merged: self.reader.text(.wasMerged)
        default: preconditionFailure("it was told before")
        }
    }

    private func purchase(_ transaction: Transaction) -> String {
        var values = ["product": self.name(transaction.productID), "account": self.other]
        if transaction.quantity > 1 {
            values["product"] = "\(transaction.quantity) × " + self.name(transaction.productID)
        }
        let price = transaction.price.flatMap { $0.milliunits == 0 ? nil : $0 }
        values["price"] = price.map { self.reader.text(.partPrice, ["price": self.reader.price($0)]) } ?? ""
        values["offer"] =
            transaction.offer.map { offer in
                self.reader.text(offer.paymentMode == .freeTrial ? .partTrial : .partOffer)
            } ?? ""
        values["end"] = transaction.expirationDate.map { self.reader.text(.partUntil, ["end": self.day($0)]) } ?? ""
        let key: TextKey =
            switch self.told.what {
            case .recovered: .chargeSucceeded
            case .renewed: .wasRenewed
            default:
                transaction.ownership == .familyShared
                    ? .wasShared : self.told.other == nil ? .wasBought : .wasBoughtBy
            }
        return self.reader.text(key, values)
    }

    private func refund(_ transaction: Transaction) -> String {
        let product = self.name(transaction.productID)
        guard let revocation = transaction.revocation, revocation.percentageMilli % 100_000 != 0 else {
            guard let price = transaction.price else { return self.reader.text(.wasRefunded, ["product": product]) }
            return self.reader.text(.wasRefundedOf, ["product": product, "price": self.reader.price(price)])
        }
        let percent = revocation.percentageMilli / 1_000
        return self.reader.text(.wasRefundedInPart, ["product": product, "count": "\(percent)"])
    }

    private func `extension`(of transaction: Transaction, _ milliseconds: Int64) -> String {
        let product = transaction.productID
        let end = ["end": self.day(transaction.expirationDate ?? self.told.at)]
        let day: Int64 = 86_400_000
        guard milliseconds >= day, milliseconds % day == 0 else { return self.say(.wasExtended, product, end) }
        if milliseconds == day { return self.say(.wasExtendedByDay, product, end) }
        return self.say(.wasExtendedByDays, product, end.adding("count", "\(milliseconds / day)"))
    }

    private func end(_ product: String, _ reason: ExpirationReason?, isUnreported: Bool) -> String {
        if isUnreported { return self.say(.hasEndedUnreported, product) }
        let cause = reason.flatMap { TextKey(because: $0) }
        guard let cause else { return self.say(.hasEnded, product) }
        return self.say(.hasEndedBecause, product, ["reason": self.reader.text(cause)])
    }

    private func say(_ key: TextKey, _ product: String, _ values: [String: String] = [:]) -> String {
        self.reader.text(key, values.adding("product", self.name(product)))
    }

    private var other: String {
        self.told.otherKey.isEmpty ? self.reader.text(.anotherAccount) : TextReader.isolated(self.told.otherKey)
    }

    private func name(_ productID: String) -> String {
        productID.isEmpty ? self.reader.text(.aPurchase) : self.reader.name(ofProduct: productID, in: self.app)
    }

    private func day(_ instant: Instant) -> String { self.reader.day(instant, at: self.now) }
}

extension TextKey {
    /// Why a subscription ended; nil where the store gave no reason.
    init?(because reason: ExpirationReason) {
        switch reason {
        case .autoRenewDisabled: self = .becauseSwitchedOff
        case .billingError: self = .becauseDeclined
        case .didNotConsentToPriceIncrease: self = .becauseNotAgreed
        case .productUnavailable: self = .becauseUnsold
        default: return nil
        }
    }
}

extension Happening.What {
    fileprivate var kind: HistoryKind {
        switch self {
        case .bought, .waits, .decided: .purchase
        case .renewed, .recovered: .renewal
        case .chargeFailed: .failure
        case .accessEnded, .stoppedTrying, .ended, .cutShort, .grantOver: .end
        case .refunded, .refundReversed, .refundRequested, .refundDeclined: .refund
        case .renewalSwitched, .planChosen, .chargesSet, .paymentsSet, .deleted, .cleared: .setting
        case .priceRaised, .priceAnswered: .price
        case .extended: .extension
        case .granted, .grantEnded: .grant
        case .sharingBegan, .sharingEnded, .unshared: .sharing
        case .cameFrom, .wentTo, .merged: .move
        }
    }
}
