import PerchBase
import PerchModel
import PerchStore

// Lengths of periods: section 16 of the model, computed from purchases and renewals, and not from the record.
extension ModelLaws {
    /// The end of a period by the calendar. The day of the month is kept over shorter months.
    static func end(of length: Period, from start: Instant, day: Int64) -> Instant {
        guard length.isMonthly else {
            let days = Int64(length.value) * (length.unit == .week ? 7 : 1)
            return start.advanced(byMilliseconds: days * 86_400_000)
        }
        let begun = CivilTime(start)
        let months = begun.year * 12 + begun.month - 1 + Int64(length.value) * (length.unit == .year ? 12 : 1)
        let (year, month) = (months / 12, months % 12 + 1)
        return CivilTime(
            year: year, month: month, day: min(day, CivilTime.days(inMonth: month, of: year)),
            milliseconds: begun.milliseconds
        ).instant
    }

    /// The day of the month from which a line counts, followed from its purchase through every renewal: 31 January, 28
    /// February, 31 March. Nil if the rows do not show it: a period was cut short, had the length of another time rate,
    /// or is missing.
    func dayCounted(of line: Line, _ account: Int) -> Int64? {
        var day: Int64?
        var last: (end: Instant, due: Instant, isMonthly: Bool)?
        for row in self.before.rows[account].map(\.transaction) where row.originalID == line.originalID {
            guard let end = row.expirationDate, let length = self.length(of: row) else { return nil }
            let begun = CivilTime(row.purchaseDate)
            if row.reason == .purchase {
                day = begun.day
            } else if let last, last.end == row.purchaseDate, last.end >= last.due {
                let kept = day.map { min($0, CivilTime.days(inMonth: begun.month, of: begun.year)) }
                if day != nil, !last.isMonthly || kept != begun.day { day = begun.day }
            } else {
                day = nil
            }
            let due = day.map { Self.end(of: length, from: row.purchaseDate, day: $0) } ?? end
            last = (end, due, length.isMonthly)
        }
        // After a period without months or with an unexpected length, counting starts again.
        guard let last, last.end >= last.due, last.isMonthly else { return nil }
        return day
    }

    /// The length of a transaction's period in the catalogue.
    private func length(of row: Transaction) -> Period? {
        guard let terms = self.before.app.catalogue.product(row.productID)?.terms(billed: row.billingPlan) else {
            return nil
        }
        guard let offer = row.offer, offer.paymentMode != .payAsYouGo else { return terms.length }
        return offer.period
    }
}
