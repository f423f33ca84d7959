import PerchBase

/// What a connection of HTTP/2 remembers of streams without a slot. Most need no memory: both sides ended them in order.
///
/// Frames of a closed stream are a race if we ended it first, and a fault if the peer did (RFC 9113, section 5.1). A number
/// that was left out can never be opened (section 5.1.1).
struct ClosedStreams {
    enum Kind: Equatable {
        /// Both sides had ended it, so nothing can follow.
        case ended
        /// We ended it before the peer did: what follows was on its way.
        case endedByUs
        /// The peer reset it.
        case resetByPeer
        /// Its number was left out.
        case skipped
        /// So long ago that nothing is known.
        case forgotten
    }

    private struct End {
        var id: UInt32
        var isByPeer: Bool
    }

    private var ends: [End] = []
    /// The next place of `ends` to be overwritten, once it is full.
    private var next = 0
    /// The highest number whose early end was forgotten.
    private var forgottenEnd: UInt32 = 0
    /// Numbers that were left out, in ascending order.
    private var gaps: [ClosedRange<UInt32>] = []
    private var forgottenGap: UInt32 = 0

    /// A stream ended before its peer had ended it.
    mutating func ended(_ id: UInt32, isByPeer: Bool) {
        let end = End(id: id, isByPeer: isByPeer)
        guard self.ends.count >= Limits.earlyEndsKept else { return self.ends.append(end) }
        self.forgottenEnd = max(self.forgottenEnd, self.ends[self.next].id)
        self.ends[self.next] = end
        self.next = (self.next + 1) % self.ends.count
    }

    /// A stream was opened; `last` is the one that was opened before.
    mutating func opened(_ id: UInt32, after last: UInt32) {
        let first = last == 0 ? 1 : last + 2
        guard first < id else { return }
        if self.gaps.count >= Limits.streamGapsKept {
            self.forgottenGap = self.gaps.removeFirst().upperBound
        }
        self.gaps.append(first...id - 2)
    }

    /// What is known of a number without a stream, up to the highest that was opened.
    func kind(of id: UInt32) -> Kind {
        if self.gaps.contains(where: { $0.contains(id) }) { return .skipped }
        if let end = self.ends.last(where: { $0.id == id }) { return end.isByPeer ? .resetByPeer : .endedByUs }
        return id <= max(self.forgottenEnd, self.forgottenGap) ? .forgotten : .ended
    }
}

// The memory of closed streams lies beside the slab, because few connections need it.
extension Transport {
    func kindOfClosed(_ index: Int32, _ id: UInt32) -> ClosedStreams.Kind {
        self.http.closed[index]?.kind(of: id) ?? .ended
    }

    mutating func rememberEarlyEnd(_ index: Int32, _ id: UInt32, isByPeer: Bool = false) {
        self.http.closed[index, default: ClosedStreams()].ended(id, isByPeer: isByPeer)
    }

    mutating func rememberOpening(_ index: Int32, _ id: UInt32, after last: UInt32) {
        guard id > (last == 0 ? 1 : last + 2) else { return }
        self.http.closed[index, default: ClosedStreams()].opened(id, after: last)
    }
}
