import PerchBase
import PerchJSON
import PerchModel
import Testing

@testable import PerchCLI
@testable import PerchClient

private let noon = CivilTime(year: 2026, month: 11, day: 21, milliseconds: 43_200_000).instant
private func after(_ hours: Int64) -> Instant { noon.advanced(byMilliseconds: hours * 3_600_000) }

private func status(
    _ state: RenewalState, _ product: String = "gold", id: TransactionID = 7, renews: Bool = true,
    _ change: (inout Transaction, inout RenewalInfo) -> Void = { _, _ in }
) -> SubscriptionStatus {
    var transaction = Transaction(
        id: id, originalID: id, appBundleID: "com.example.app", productID: product, productType: .autoRenewable,
        purchaseDate: noon, originalPurchaseDate: noon, environment: .xcode, storefront: Storefront(countryCode: "USA"),
        reason: .purchase, signedDate: noon)
    transaction.expirationDate = after(720)
    var renewal = RenewalInfo(
        originalTransactionID: id, currentProductID: product, willAutoRenew: renews, renewalDate: after(720),
        recentSubscriptionStartDate: noon, environment: .xcode, signedDate: noon)
    change(&transaction, &renewal)
    return SubscriptionStatus(state: state, transaction: Verified(transaction), renewalInfo: Verified(renewal))
}

private func rows(
    _ statuses: [SubscriptionStatus], _ account: String = "alice", effective: Int? = 0, forecast: Forecast? = nil
) -> [BoardRow] {
    let value = SubscriptionStatuses(
        statuses: statuses, effectiveIndex: effective, effectiveReason: .onlyEntitled)
    return BoardRow.rows(of: value, account: account, group: "club", forecast: forecast)
}

private func row(_ status: SubscriptionStatus, forecast: Forecast? = nil) -> BoardRow {
    rows([status], forecast: forecast)[0]
}

@Suite struct `a row of the board` {
    @Test func `says what comes next, and when`() {
        let renews = row(status(.subscribed) { $1.renewalPrice = Money(milliunits: 9_990, currency: "USD") })
        #expect(renews.next == BoardRow.Next(at: after(720), kind: .renewal, text: "renews for USD 9.99"))
        #expect(row(status(.subscribed, renews: false)).next.kind == .expiry)
        let grace = row(status(.inGracePeriod) { $1.gracePeriodExpirationDate = after(800) })
        #expect(grace.next.at == after(800) && grace.next.kind == .graceEnd)
        let end = Forecast(at: after(900), kind: .retryEnd, originalTransactionID: 7, state: .expired)
        #expect(row(status(.inBillingRetryPeriod), forecast: end).next.at == after(900))
        let others = Forecast(at: after(1), kind: .renewal, originalTransactionID: 8, state: .subscribed)
        #expect(row(status(.inBillingRetryPeriod), forecast: others).next.at == nil, "that is another line's")
        #expect(row(status(.expired)).next.at == nil)
    }

    @Test(arguments: [
        (ForecastKind.renewal, RenewalState.inGracePeriod, "charge fails, grace begins"),
        (.renewal, .inBillingRetryPeriod, "charge fails"),
        (.expiry, .expired, "expires: the plan is not sold any more"),
    ])
    func `says what is foretold, whatever the customer's switch says`(
        _ kind: ForecastKind, _ state: RenewalState, _ words: String
    ) {
        let forecast = Forecast(at: after(720), kind: kind, originalTransactionID: 7, state: state)
        #expect(row(status(.subscribed), forecast: forecast).next.text == words)
    }

    @Test func `has a badge for whatever wants attention`() {
        func badges(_ status: SubscriptionStatus) -> [BoardRow.Badge] { row(status).badges }
        #expect(badges(status(.subscribed)).isEmpty)
        #expect(badges(status(.inGracePeriod)) == [.grace])
        #expect(badges(status(.inBillingRetryPeriod)) == [.retry])
        #expect(badges(status(.revoked)) == [.revoked])
        #expect(badges(status(.subscribed, renews: false)) == [.off])
        #expect(badges(status(.subscribed) { $1.autoRenewPreference = "silver" }) == [.change])
        #expect(badges(status(.subscribed) { $1.priceIncreaseStatus = .pending }) == [.price])
        #expect(badges(status(.expired) { $1.eligibleWinBackOfferIDs = ["RETURN"] }) == [.winBack])
        #expect(badges(status(.subscribed) { transaction, _ in transaction.ownership = .familyShared }) == [.shared])
        let trial = TransactionOffer(id: "", type: .introductory, paymentMode: .freeTrial, period: nil)
        #expect(badges(status(.subscribed) { transaction, _ in transaction.offer = trial }) == [.trial])
        #expect(rows([status(.subscribed), status(.expired, id: 9)]).map(\.badges) == [[.counts], []])
    }
}

@Suite struct `the board` {
    @Test func `tells what is new, what changed and what is gone, and nothing twice`() {
        var board = StoreBoard(filter: StoreBoard.Filter())
        let gold = status(.subscribed)
        let first = rows([gold])
        #expect(board.set(first, of: .group("club"), account: "alice") == [.shown(first[0])])
        #expect(board.set(first, of: .group("club"), account: "alice").isEmpty)
        let grace = rows([status(.inGracePeriod)])
        #expect(board.set(grace, of: .group("club"), account: "alice") == [.changed(grace[0])])
        #expect(board.set([], of: .intents, account: "alice").isEmpty, "another source")
        #expect(board.set([], of: .group("club"), account: "alice") == [.gone(grace[0])])
        #expect(board.rows.isEmpty)
    }

    @Test func `shows what its filter lets through, and tells when it comes and goes`() {
        var filter = StoreBoard.Filter()
        filter.states = ["inGracePeriod", "owned"]
        filter.products = ["gold"]
        var board = StoreBoard(filter: filter)
        #expect(board.set(rows([status(.subscribed)]), of: .group("club"), account: "alice").isEmpty)
        let grace = rows([status(.inGracePeriod)])
        #expect(board.set(grace, of: .group("club"), account: "alice") == [.shown(grace[0])])
        #expect(board.set(rows([status(.inGracePeriod, "silver")]), of: .group("b"), account: "alice").isEmpty)
        #expect(board.set(rows([status(.subscribed)]), of: .group("club"), account: "alice") == [.gone(grace[0])])
    }

    @Test func `knows every state and kind that can be filtered by`() {
        #expect(StoreBoard.Filter.stateNames.contains("inBillingRetryPeriod"))
        #expect(Set(StoreBoard.Filter.stateNames).isSuperset(of: ["owned", "pending", "intent", "message"]))
        #expect(!StoreBoard.Filter.stateNames.contains("unspecified"))
    }

    private func board() -> StoreBoard {
        var board = StoreBoard(filter: StoreBoard.Filter())
        board.reached(noon)
        _ = board.set(
            rows([status(.inGracePeriod) { $1.gracePeriodExpirationDate = after(48) }], "bob"), of: .group("club"),
            account: "bob")
        _ = board.set(rows([status(.subscribed, renews: false)], "alice"), of: .group("club"), account: "alice")
        return board
    }

    @Test func `is a table for people`() {
        let lines = TextWriter(isColoured: false).board(
            self.board(), title: "a server", events: ["something happened"], height: 24, width: 120)
        #expect(
            lines == [
                "a server", "",
                "ACCOUNT  GROUP  PRODUCT  STATE         BADGES       NEXT",
                "alice    club   gold     subscribed    RENEWAL-OFF  expires 2026-12-21T12:00:00Z (in 30d)",
                "bob      club   gold     grace period  GRACE        grace ends, retry goes on "
                    + "2026-11-23T12:00:00Z (in 2d)",
                "", "something happened",
            ])
    }

    @Test func `fits its terminal, and says what it leaves out`() {
        let coloured = TextWriter(isColoured: true)
        for (height, width) in [(24, 40), (5, 80), (3, 10), (1, 1)] {
            let lines = coloured.board(self.board(), title: "a server", events: ["x"], height: height, width: width)
            #expect(lines.count < max(2, height))
            for line in lines {
                let plain = line.replacing(/\u{1B}\[[0-9]+m/, with: "")
                #expect(plain.count <= max(width, 55), "\(plain)")
            }
        }
        let short = TextWriter(isColoured: false).board(self.board(), title: "t", events: [], height: 5, width: 80)
        #expect(short.last == "and 2 more; filter with --product or --state")
    }

    @Test func `is a line for each change, without a terminal`() {
        let writer = TextWriter(isColoured: false)
        let change = StoreBoard.Change.changed(row(status(.inGracePeriod) { $1.gracePeriodExpirationDate = after(48) }))
        #expect(
            writer.boardLine(change, now: noon)
                == "2026-11-21T12:00:00Z  alice  club  gold  grace period  [GRACE]  -> grace ends, retry goes on "
                + "2026-11-23T12:00:00Z (in 2d)")
        #expect(writer.boardLine(.gone(row(status(.expired))), now: noon) == "2026-11-21T12:00:00Z  alice  gone  gold")
        let json = ContractWriter.document(.compact) { $0.boardChange(change, now: noon) }
        #expect(
            json == "{\"change\":\"changed\",\"as_of_ms\":\"1795262400000\",\"account\":\"alice\","
                + "\"kind\":\"subscription\",\"group_id\":\"club\",\"product_id\":\"gold\","
                + "\"state\":\"RENEWAL_STATE_IN_GRACE_PERIOD\",\"badges\":[\"GRACE\"],\"transaction_id\":\"7\","
                + "\"next\":{\"at_ms\":\"1795435200000\",\"kind\":\"FORECAST_KIND_GRACE_END\","
                + "\"text\":\"grace ends, retry goes on\"}}\n")
    }

    @Test func `says what has no value, and forgets it when there is one`() {
        var board = self.board()
        board.fail("told to fail (STOREKIT_UNKNOWN)", of: .group("club"), account: "bob")
        #expect(board.failureLines == ["bob: told to fail (STOREKIT_UNKNOWN)"])
        #expect(board.rows.count == 2, "what was known stays")
        _ = board.set([], of: .group("club"), account: "bob")
        #expect(board.failureLines.isEmpty)
    }
}

@Suite struct `what people write` {
    @Test(arguments: [("12.5", 12_500), ("50", 50_000), ("0.001", 1), ("100", 100_000), ("007", 7_000)])
    func `is thousandths of a decimal`(_ text: String, _ thousandths: Int64) {
        #expect(PerchCLI.thousandths(of: text) == thousandths)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "1.2345", "1,5", "1e3", "٣", "1234567890123"])
    func `is nothing where it is no decimal`(_ text: String) {
        #expect(PerchCLI.thousandths(of: text) == nil)
    }
}
