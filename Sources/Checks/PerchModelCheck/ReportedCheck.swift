package import PerchBase
package import PerchModel
import PerchTesting

/// The laws of App Store apps, on random reports: any order and any repetition give one result, and views change only where they
/// say so.
package enum ReportedCheck {
    package struct Tally: Sendable {
        package var reports = 0
        package var reads = 0
        package var states: [String: Int] = [:]

        package init() {}
    }

    /// All reads of a book: what every owner sees at each instant.
    package struct Reads: Equatable {
        private var values: [ReportedOwner: [Read]] = [:]

        private struct Read: Equatable {
            let statuses: [SubscriptionStatuses]
            let entitlements: [Verified<Transaction>?]
        }

        package init(_ records: [ReportedOwner: ReportedRecord], at instants: [Instant]) {
            self.values = records.mapValues { record in instants.map { Self.read(record, at: $0) } }
        }

        private static func read(_ record: ReportedRecord, at now: Instant) -> Read {
            let holdings = ReportedLives.holdings(of: record, at: now)
            var outlook = Outlook()
            return Read(
                statuses: ReportedLives.groups.map { holdings.statuses(inGroup: $0).value },
                entitlements: ReportedLives.products.map { holdings.entitlement(toProduct: $0, noting: &outlook) })
        }
    }

    /// The first law that the reports of a seed break; nil if all hold.
    package static func breach(seed: UInt64, orders: Int = 20, tally: inout Tally) -> String? {
        let reported = ReportedLives(seed: seed)
        var random = SeededRandom(seed: ~seed)
        let instants = Self.sample(reported.instants, &random)
        let book = Self.fold(reported.reports)
        let records = book.records
        let reads = Reads(records, at: instants)
        tally.reports += reported.reports.count
        tally.reads += instants.count * records.count
        for order in 0..<orders {
            let reports = Self.shuffled(reported.reports, &random)
            let other = Self.fold(reports)
            guard other == book else { return "order \(order) leads to another state" }
            guard other.records == records else { return "order \(order) leads to other records" }
            // Equal states give equal reads unless something depends on the order of a dictionary.
            if order < 3, Reads(other.records, at: instants) != reads { return "order \(order) leads to other reads" }
            if let breach = Self.joins(reports, book, &random) { return "order \(order): \(breach)" }
        }
        var again = book
        for report in reported.reports where again.fold(report) == .news { return "a report is news a second time" }
        for (owner, record) in records {
            if let breach = Self.views(of: record, reported, &random, &tally) { return "\(owner): \(breach)" }
        }
        return nil
    }

    private static func fold(_ reports: [ReportedValue]) -> ReportedBook {
        var book = ReportedBook()
        for report in reports { _ = book.fold(report) }
        return book
    }

    /// Every report once to three times, in any order.
    private static func shuffled(_ reports: [ReportedValue], _ random: inout SeededRandom) -> [ReportedValue] {
        var many: [ReportedValue] = []
        for report in reports { for _ in 0...random.below(3) { many.append(report) } }
        return many.shuffled(using: &random)
    }

    private static func sample(_ instants: [Instant], _ random: inout SeededRandom) -> [Instant] {
        var some: [Instant] = []
        for instant in instants {
            some += [instant.advanced(byMilliseconds: -1), instant]
            if random.below(4) == 0 {
                some.append(instant.advanced(byMilliseconds: Int64(random.below(90)) * ReportedLives.day))
            }
        }
        return some
    }

    /// Two parts that were folded apart are joined to the whole.
    private static func joins(_ reports: [ReportedValue], _ book: ReportedBook, _ random: inout SeededRandom) -> String?
    {
        let cut = random.below(reports.count + 1)
        let (first, second) = (Self.fold(Array(reports[..<cut])), Self.fold(Array(reports[cut...])))
        for (id, whole) in book.originals {
            var joined = first.originals[id] ?? ReportedOriginal(id: id)
            if let other = second.originals[id] { _ = joined.fold(other) }
            guard joined == whole else { return "two parts of \(id) are joined to something else" }
            guard joined.fold(whole) == .duplicate else { return "the join of \(id) is not idempotent" }
        }
        return nil
    }

    private static func views(
        of record: ReportedRecord, _ reported: ReportedLives, _ random: inout SeededRandom, _ tally: inout Tally
    ) -> String? {
        let leeway = ReportedLives.leeway
        for now in Self.sample(reported.instants, &random) {
            let later = Self.sample(reported.instants, &random).filter { $0 >= now }
            let trimmed = record.trimmed(at: now)
            guard Reads([.account(1): trimmed], at: later) == Reads([.account(1): record], at: later) else {
                return "what is left at \(now) reads otherwise later"
            }
            for line in record.originals where line.isSubscription {
                let standing = line.standing(at: now, leewayMilliseconds: leeway)
                tally.states[
                    "\(standing?.state.description ?? "none")\(standing?.awaitsNews == true ? ", news awaited" : "")",
                    default: 0] += 1
                let crossing = line.nextCrossing(after: now, leewayMilliseconds: leeway)
                if let crossing, line.standing(at: crossing, leewayMilliseconds: leeway) == standing {
                    return "\(line.id) does not change at its crossing \(crossing)"
                }
                for instant in later where instant < crossing ?? .distantFuture {
                    guard line.standing(at: instant, leewayMilliseconds: leeway) == standing else {
                        return "\(line.id) changes at \(instant), before its crossing from \(now)"
                    }
                }
            }
        }
        return nil
    }
}
