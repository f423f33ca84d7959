package import PerchModel

/// What a copy has of an account.
package struct CopiedAccount: Hashable, Sendable {
    /// A stretch of time of one name. The first of a name has begun; each later one begins where the one before ends.
    package struct Segment: Hashable, Sendable {
        package var name: String
        package var tier: String
        /// `Instant.distantFuture`: never by itself.
        package var until: Instant
        /// Unspecified: a gap.
        package var reason: EntitlementReason
    }

    package var key: String
    /// In bytewise order.
    package var aliases: [String]
    /// By name, and in order within a name.
    package var segments: [Segment]

    /// The segment of each name that the account has at an instant.
    package func active(at now: Instant) -> [Segment] {
        var seen: Set<String> = []
        return self.segments.filter { segment in
            now < segment.until && seen.insert(segment.name).inserted && segment.reason != .unspecified
        }
    }
}

/// All accounts of a copy at one position.
///
/// It shares the entries of the copy until the next change, which then copies them all: for programs that write everything out, and
/// not for those that ask.
package struct CopySnapshot: Sendable {
    private let table: CopyTable
    package let position: Position
    /// The app's clock.
    package let now: Instant
    /// Rises with each change of an entry.
    package let changeCount: UInt64

    init(_ machine: CopyMachine, _ position: Position, now: Int64) {
        self.table = machine.whole.table
        self.position = position
        self.now = Instant(milliseconds: machine.time.now(now))
        self.changeCount = machine.changeCount
    }

    package var count: Int { self.table.count }

    /// Goes through the accounts, in bytewise order of their keys.
    package func forEach(_ body: (CopiedAccount) throws -> Void) rethrows {
        var places: [(key: String, place: Int)] = []
        places.reserveCapacity(self.table.count)
        for place in 0..<self.table.placeCount {
            if let key = self.table.key(at: place) { places.append((key, place)) }
        }
        places.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (_, place) in places {
            var account: CopiedAccount?
            self.table.forEach(at: place..<place + 1) { key, aliases, segments in
                account = CopiedAccount(
                    key: key, aliases: aliases.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) },
                    segments: segments.map { segment in
                        let grade = self.table.grades[Int(segment.grade)]
                        return CopiedAccount.Segment(
                            name: grade.name, tier: grade.tier,
                            until: segment.until == .max ? .distantFuture : Instant(milliseconds: segment.until),
                            reason: EntitlementReason(rawValue: Int32(segment.reason)))
                    })
            }
            if let account { try body(account) }
        }
    }
}

extension EntitlementCopy {
    /// All accounts; nil while the copy is not complete, or if no entry has changed since the snapshot with this count.
    package func snapshot(after changeCount: UInt64? = nil) -> CopySnapshot? { self.core.snapshot(after: changeCount) }
}
