import PerchBase
import PerchModel
import PerchWire

// The ends that time brings to calls.
extension Service {
    /// The deadline of a call has passed, its stream has reached its age, or it has waited too long for a position.
    mutating func timeIsUp(
        _ call: Int32, isAge: Bool, isDeadline: Bool, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        if isAge { return self.end(call, Self.tooOld, &tables, &views, &sink) }
        if let waits = self.waiting[call] {
            if !isDeadline, waits.forgivesToken { return self.forgiveToken(call, waits, &tables, &views, &sink) }
            self.end(call, self.behind(waits, tables), &tables, &views, &sink)
        } else if isDeadline {
            self.end(call, WireStatus(.deadline, "the call's deadline has passed"), &tables, &views, &sink)
        }
    }

    /// When the service has work again, in milliseconds of the monotonic clock; nil: at the next event.
    func nextTime(_ tables: borrowing Tables) -> Int64? {
        let now = tables.now
        var next = self.appSearch.nextTime ?? .max
        if let end = self.identities.nextEnd {
            next = min(next, now.monotonic + max(0, end - now.wall.milliseconds))
        }
        for (app, instant) in self.waiting.nextInstants {
            let wait = instant.subtractingReportingOverflow(tables.clock(of: app).milliseconds)
            if !wait.overflow, wait.partialValue < 86_400_000 {
                next = min(next, now.monotonic + max(0, wait.partialValue))
            }
        }
        return next == .max ? nil : next
    }

    static var outOfReach: WireStatus {
        WireStatus(
            .storeUnreachable,
            "the database of the store has confirmed nothing to this node for \(Limits.freshnessMilliseconds / 1_000) s, so it cannot know "
                + "what other nodes have written; try again, or at another node")
    }

    private func behind(_ waiter: Waiter, _ tables: borrowing Tables) -> WireStatus {
        let clock = tables.clock(of: waiter.app)
        // The awaited position: if the revision is reached, the instant.
        let (found, limit) =
            waiter.position.revision > tables.applied
            ? (Int64(clamping: waiter.position.revision), Int64(clamping: tables.applied))
            : (waiter.position.asOf.milliseconds, clock.milliseconds)
        return WireStatus(
            .behind,
            "position \(waiter.position) is ahead of this server, which is at \(Position(revision: tables.applied, asOf: clock)); wait longer, or ask the server that gave it",
            details: [.found(found), .limit(limit)])
    }

    /// What lives long moves on, so that a server that was added gets its part.
    private static var tooOld: WireStatus {
        WireStatus(
            .ageLimit, "this stream has reached its age; call again, with your resume token",
            details: [.setting("max-stream-age")])
    }
}
