import PerchBase
package import PerchWire

/// One copy, over all its connections. Its entries are with its driver, which enters each part as it comes.
struct CopyStream {
    let request: AppEntitlementsRequest
    var stream: UInt32?
    /// Whether its first message arrived on this connection, so that it counts as a watch.
    var hasSpoken = false
    /// The newest token; empty: the next stream begins a new copy.
    var token: [UInt8]
    var refusals = 0
    var retry = TimerHeap.ID.none

    mutating func lost() {
        self.stream = nil
        self.hasSpoken = false
    }
}

// Copies: every part is handed on at once, and the newest token goes on where it was.
extension ClientCore {
    /// Opens a copy; `request` has the token of what its driver has already.
    package mutating func openCopy(_ id: ItemID, _ request: AppEntitlementsRequest) {
        let failure: PerchError?
        if case .closed = self.link { failure = .clientClosed } else { failure = self.limitReached }
        if let failure {
            self.actions.append(.endCopy(id, failure))
            return
        }
        self.copies[id] = CopyStream(request: request, token: request.resumeToken)
        self.connectIfWanted()
        self.sendCopy(id)
    }

    /// Nobody wants it any more.
    package mutating func closeCopy(_ id: ItemID) {
        guard let copy = self.copies.removeValue(forKey: id) else { return }
        self.deadlines.cancel(copy.retry)
        if let stream = copy.stream { self.abandon(stream, isWatch: true, hasSpoken: copy.hasSpoken) }
        self.applyGroupIfComplete()
    }

    /// The driver could not read a part, and wants a new copy.
    package mutating func beginCopyAnew(_ id: ItemID) {
        guard let copy = self.copies[id] else { return }
        if let stream = copy.stream { self.abandon(stream, isWatch: true, hasSpoken: copy.hasSpoken) }
        self.copies[id]?.lost()
        self.copies[id]?.token = []
        self.sendCopy(id)
        self.applyGroupIfComplete()
    }

    /// The driver could not read a part, and has ended the copy.
    package mutating func copyIsUnreadable(_ id: ItemID) { self.closeCopy(id) }

    mutating func sendCopy(_ id: ItemID) {
        guard self.canOpen, let copy = self.copies[id], copy.stream == nil else { return }
        self.deadlines.cancel(copy.retry)
        var request = copy.request
        request.resumeToken = copy.token
        do throws(PerchError) {
            let stream = try self.open(.appEntitlements(request), timeoutMilliseconds: 0, as: .copy(id))
            self.copies[id]?.stream = stream
        } catch {
            self.copies[id] = nil
            self.actions.append(.endCopy(id, error))
        }
    }

    mutating func tookPart(_ id: ItemID, _ response: Response?) {
        guard var copy = self.copies[id] else { preconditionFailure("a part of a copy that is gone") }
        if !copy.hasSpoken {
            copy.hasSpoken = true
            self.spokenCount += 1
        }
        copy.refusals = 0
        // A part that only a newer client knows has no effect.
        if case .appEntitlements(let part)? = response {
            if let token = part.accounts?.resumeToken ?? part.end?.resumeToken, !token.isEmpty { copy.token = token }
            self.actions.append(.copyPart(id, part))
        }
        self.copies[id] = copy
    }

    /// Everything up to a revision was said on this connection.
    mutating func copiesHeard(_ beat: Beat) {
        for id in self.copies.keys.sorted() where self.copies[id]?.hasSpoken == true {
            self.actions.append(.copyHeard(id, beat.revision, beat.serverTime))
        }
    }

    mutating func copyEnded(_ id: ItemID, _ status: Status) {
        guard var copy = self.copies[id] else { preconditionFailure("a STATUS for a copy that is gone") }
        let error = self.refused(status)
        self.actions.append(.copyLost(id, error))
        switch StreamRefusal(status, canReauthenticate: self.settings.canReauthenticate) {
        case .comeBack, .later:
            self.retry(id, error, &copy.refusals, &copy.retry)
            self.copies[id] = copy
        case .withoutToken where !copy.token.isEmpty:
            copy.token = []
            self.copies[id] = copy
            self.sendCopy(id)
        case .reauthenticate:
            self.leave(error)
        case .final, .withoutToken:
            self.copies[id] = nil
            self.actions.append(.endCopy(id, error))
        }
    }
}
