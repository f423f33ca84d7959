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
    @Test func `a row of the board says what comes next, and when`() {
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
    func `a row has the forecast, whatever the customer's switch says`(
        _ kind: ForecastKind, _ state: RenewalState, _ words: String
    ) {
        let forecast = Forecast(at: after(720), kind: kind, originalTransactionID: 7, state: state)
        #expect(row(status(.subscribed), forecast: forecast).next.text == words)
    }

    @Test func `a row of the board has a badge for whatever wants attention`() {
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
    @Test func `the board reports new, changed and removed rows once each`() {
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

    @Test func `the board shows matching rows, and reports when they appear and disappear`() {
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

    @Test func `the board knows every state and kind that can be filtered by`() {
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

    private func drawn(
        _ board: StoreBoard, _ screen: BoardScreen = BoardScreen(), events: [BoardEvent] = [], keys: [String] = [],
        columns: Int = 120, rows: Int = 24, isColoured: Bool = false
    ) -> [String] {
        var screen = screen
        return TextWriter(isColoured: isColoured).board(
            board, &screen, title: "a server", events: events, keys: keys,
            size: TerminalSize(columns: columns, rows: rows)
        ).lines
    }

    @Test func `the board is a table for people, with the product first and the clock named`() {
        let event = BoardEvent(at: after(-1), text: "purchased  gold  alice")
        #expect(
            self.drawn(self.board(), events: [event]) == [
                "a server", "",
                "PRODUCT  ACCOUNT  GROUP  STATE         BADGES       NEXT ON THE APP'S CLOCK",
                "gold     alice    club   subscribed    RENEWAL-OFF  expires in 30d",
                "gold     bob      club   grace period  GRACE        grace ends, retry goes on in 2d",
                "", "RECENT ON THE APP'S CLOCK", "1h ago  purchased  gold  alice",
            ])
    }

    @Test func `the board puts the next change on a line of its own where it does not fit`() {
        #expect(
            self.drawn(self.board(), columns: 56) == [
                "a server", "PRODUCT  ACCOUNT  STATE         BADGES", "    NEXT ON THE APP'S CLOCK",
                "gold     alice    subscribed    RENEWAL-OFF", "    expires in 30d",
                "gold     bob      grace period  GRACE", "    grace ends, retry goes on in 2d",
            ])
    }

    /// Accounts and products of any length, all badges, the longest next change.
    private func crowded() -> StoreBoard {
        var board = StoreBoard(filter: StoreBoard.Filter())
        board.reached(noon)
        for number in 0..<30 {
            let name = "customer-\(number)@" + String(repeating: "x", count: number * 2) + ".example.com"
            let product = "com.example." + String(repeating: "y", count: number) + ".monthly"
            let one = status(.inGracePeriod, product, id: UInt64(number + 1)) { transaction, renewal in
                transaction.ownership = .familyShared
                renewal.gracePeriodExpirationDate = after(48)
                renewal.autoRenewPreference = "com.example.other"
                renewal.priceIncreaseStatus = .pending
                renewal.eligibleWinBackOfferIDs = ["RETURN"]
            }
            let value = rows([one, status(.expired, id: 1_000)], name)
            _ = board.set(value, of: .group("club"), account: name)
        }
        return board
    }

    @Test(arguments: [(80, 24), (120, 40), (60, 12), (40, 24), (200, 60)])
    func `never cuts badges or the next change, and fits its terminal`(_ columns: Int, _ rows: Int) {
        var screen = BoardScreen()
        var seen = ""
        let board = self.crowded()
        for _ in 0..<200 {
            let (lines, page) = TextWriter(isColoured: false).board(
                board, &screen, title: "t", events: [], keys: ["q quit", "scroll"],
                size: TerminalSize(columns: columns, rows: rows))
            #expect(lines.count == rows - 1)
            for line in lines { #expect(line.count <= columns, "\(line)") }
            seen += lines.joined(separator: " ")
            if screen.press(.pageDown, page: page, count: board.rows.count) == .none { break }
            let before = screen
            screen.clamp(to: board.rows.count)
            #expect(before == screen)
        }
        let words = seen.split(separator: " ")
        for badge in ["GRACE", "PLAN-CHANGE", "PRICE", "WIN-BACK", "SHARED", "COUNTS"] {
            #expect(words.filter { $0 == badge }.count >= 30, "\(badge)")
        }
        let all = words.joined(separator: " ")
        #expect(all.matches(of: /grace ends, retry goes on in 2d/).count >= 30)
        #expect(all.contains("rows 1 to "))
    }

    @Test func `the board stays within a terminal of any size`() {
        for (columns, rows) in [(40, 24), (80, 5), (10, 3), (1, 1), (3, 40)] {
            let lines = self.drawn(
                self.crowded(), events: [BoardEvent(at: noon, text: "x")], keys: ["q quit"], columns: columns,
                rows: rows, isColoured: true)
            #expect(lines.count < max(2, rows))
            for line in lines {
                let plain = line.replacing(/\u{1B}\[[0-9]+m/, with: "")
                // A word such as a badge is not broken.
                #expect(plain.count <= max(columns, 16), "\(plain)")
            }
        }
    }

    @Test func `the board is a line for each change, without a terminal`() {
        let writer = TextWriter(isColoured: false)
        let change = StoreBoard.Change.changed(row(status(.inGracePeriod) { $1.gracePeriodExpirationDate = after(48) }))
        #expect(
            writer.boardLine(change, now: noon)
                == "2026-11-21T12:00:00Z  alice  club  gold  grace period  [GRACE]  -> grace ends, retry goes on "
                + "2026-11-23T12:00:00Z (in 2d)")
        #expect(writer.boardLine(.gone(row(status(.expired))), now: noon) == "2026-11-21T12:00:00Z  alice  gone  gold")
        let json = DocumentWriter.document(.compact) { $0.boardChange(change, now: noon) }
        #expect(
            json == "{\"change\":\"changed\",\"asOfMs\":\"1795262400000\",\"account\":\"alice\","
                + "\"kind\":\"subscription\",\"groupId\":\"club\",\"productId\":\"gold\","
                + "\"state\":\"RENEWAL_STATE_IN_GRACE_PERIOD\",\"badges\":[\"GRACE\"],\"transactionId\":\"7\","
                + "\"next\":{\"atMs\":\"1795435200000\",\"kind\":\"FORECAST_KIND_GRACE_END\","
                + "\"text\":\"grace ends, retry goes on\"}}\n")
    }

    @Test func `the board says what has no value, and forgets it when there is one`() {
        var board = self.board()
        board.fail("told to fail (STOREKIT_UNKNOWN)", of: .group("club"), account: "bob")
        #expect(board.failureLines == ["bob: told to fail (STOREKIT_UNKNOWN)"])
        #expect(board.rows.count == 2, "what was known stays")
        _ = board.set([], of: .group("club"), account: "bob")
        #expect(board.failureLines.isEmpty)
    }
}

@Suite struct `values that users write` {
    @Test(arguments: [("12.5", 12_500), ("50", 50_000), ("0.001", 1), ("100", 100_000), ("007", 7_000)])
    func `an amount is read in thousandths`(_ text: String, _ thousandths: Int64) {
        #expect(PerchCLI.thousandths(of: text) == thousandths)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "1.2345", "1,5", "1e3", "٣", "1234567890123"])
    func `a text that is no decimal is no amount`(_ text: String) {
        #expect(PerchCLI.thousandths(of: text) == nil)
    }
}
