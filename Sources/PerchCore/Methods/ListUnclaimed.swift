import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct ListUnclaimed: MethodHandler {
    let asked: ListUnclaimedRequest

    func check() throws(CallRefusal) { try Check.page(self.asked.pageSize) }

    func begin(_ context: MethodContext) throws(CallRefusal) -> Step {
        try context.requireReportedApp()
        let (size, token) = (self.asked.pageSize, self.asked.pageToken)
        return .ask(
            try context.accounts(size, after: token, first: AccountKey.beforeUnclaimed, once: true, withRecords: true))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .accounts(let accounts, let next) = found else { preconditionFailure("accounts were asked for") }
        var page = UnclaimedPage()
        for (key, record) in accounts {
            guard let reported = record.reported else { continue }
            let name = reported.isUnclaimed ? "" : String(decoding: key, as: UTF8.self)
            page.purchases += reported.originals.compactMap { original in
                UnclaimedPurchase(
                    original, account: name, isUnclaimed: reported.isUnclaimed,
                    leewayMilliseconds: context.app.renewalLeewayMilliseconds ?? 0, at: context.now)
            }
        }
        page.nextPageToken = context.pageToken(after: next)
        return Self.step(page)
    }
}

extension UnclaimedPurchase {
    /// Nil: it needs nobody.
    fileprivate init?(
        _ original: ReportedOriginal, account: String, isUnclaimed: Bool, leewayMilliseconds leeway: Int64,
        at now: Instant
    ) {
        let standing = original.isSubscription ? original.standing(at: now, leewayMilliseconds: leeway) : nil
        let isOverdue = standing?.isOverdue ?? false
        guard isUnclaimed || isOverdue else { return nil }
        let latest = standing?.transaction ?? original.periods.last?.transaction
        self.init(
            originalTransactionID: String(original.id),
            productID: latest?.productID ?? original.renewal?.info.currentProductID ?? "", account: account,
            isUnclaimed: isUnclaimed, isOverdue: isOverdue, end: latest?.expirationDate,
            state: standing?.state ?? .unspecified)
        if original.originalPurchaseDate < .distantFuture { self.originalPurchaseDate = original.originalPurchaseDate }
        for alias in original.links.newestFirst {
            switch alias {
            case .appAccountToken(let token): self.appAccountTokens.append(token)
            case .appTransactionID(let id): self.appTransactionIDs.append(id)
            }
        }
    }
}
