import PerchBase
import PerchModel

// Accounts whose customers' histories are to be read from the App Store.
extension StoreEngine {
    /// Accounts from a number on whose history was not read since an instant: those that a claim gave something, or all.
    func unread(
        _ app: AppNumber, from account: AccountNumber, since instant: Instant, isWhole: Bool, limit: Int
    ) throws(StorageError) -> StoreAnswer {
        let end = self.header.nextAccount
        let page = try self.storage.records(from: account, before: end, limit: limit)
        var accounts: [UnreadHistory] = []
        for record in page.records where record.app == app {
            guard let reported = record.reported, !reported.originals.isEmpty,
                isWhole || reported.originals.contains(where: { $0.links.claim != nil }),
                reported.history.map({ $0.read < instant }) ?? true
            else { continue }
            accounts.append(
                UnreadHistory(
                    account: record.account, originals: reported.originals.map(\.id),
                    places: reported.history?.places ?? []))
        }
        return .unread(accounts, next: page.next, hasMore: page.next < end)
    }

    /// Histories were read to their ends. It does not count where the account has got another original meanwhile.
    func note(
        _ history: ReportedHistory, of originals: [TransactionID], _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard let first = originals.first,
            let account = try self.account(.original(first, app: work.app.number), work),
            let reported = try self.record(account, &work).reported,
            reported.originals.allSatisfy({ originals.contains($0.id) })
        else { return nil }
        // What the customer bought under another account, or under one that was erased, is not known here.
        for original in originals.dropFirst() {
            guard try self.account(.original(original, app: work.app.number), work) == account else { return nil }
        }
        work.add(
            Fact(.reported(.historyRead(history)), effective: work.now, source: .history, stamp: history.read),
            to: account)
        return nil
    }
}
