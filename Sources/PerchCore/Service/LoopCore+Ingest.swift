import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
package import PerchWire

// Values of the App Store: a thread of their own verifies them, then the store takes them.
extension LoopCore {
    mutating func ingest(_ call: Int32, _ request: Request, of app: AppNumber) throws(CallRefusal) {
        switch request {
        case .submitTransaction(let asked):
            let state = self.state(of: app)
            guard !state.isTestApp else {
                throw CallRefusal(
                    .notToldApp,
                    "\(state.bundleID) is a test app, whose store is Perch; submit values for its sandbox or production app"
                )
            }
            self.control(
                call, request, of: app,
                .ingest(
                    .values(
                        asked.signedValues, bundleID: state.bundleID, environment: state.environment,
                        claimant: Array(asked.account.utf8))))
        case .submitNotification(let asked):
            // Apple has no credentials: the signature says who sent it.
            let isApple = self.connections[self.calls[call].connection].flags.contains(.isIntake)
            let reach = isApple ? AppReach.all : self.identity(ofCall: call).apps
            self.control(call, request, of: app, .ingest(.notification(asked.signedPayload, reach: reach)))
        case .listDeadLetters(let asked):
            let limit = asked.pageSize == 0 ? Limits.pageSizeDefault : Int(asked.pageSize)
            let token = asked.pageToken
            guard token.isEmpty || Self.deadLetter(after: token) != nil else {
                throw CallRefusal(
                    .cursorMalformed, "the page token is none of a list of dead letters; begin without one")
            }
            let place = Self.deadLetter(after: token)
            let groups =
                place?.group == DeadLetter.strange ? [DeadLetter.strange] : [DeadLetter.known, DeadLetter.strange]
            self.ask(
                call, request, of: app, .items(.deadLetter, groups: groups, after: place?.key ?? [], limit: limit))
        case .retryDeadLetter(let asked):
            self.ask(call, request, of: app, .item(try Self.deadLetter(asked.id)))
        case .dropDeadLetter(let asked):
            self.ask(call, request, of: app, .mutate(.item(.drop(try Self.deadLetter(asked.id)))))
        default:
            preconditionFailure("\(request.method) takes no value of the App Store")
        }
    }

    private static func deadLetter(_ id: String) throws(CallRefusal) -> ItemKey {
        guard let key = DeadLetter.key(ofID: id) else {
            throw CallRefusal(
                .deadLetterUnknown,
                "\(printable(id)) is no identifier of a dead letter; `perch dead-letters list` shows them",
                details: [.field("id")])
        }
        return key
    }

    /// A page token is the group and the key of the last one before.
    private static func deadLetter(after token: [UInt8]) -> (group: [UInt8], key: [UInt8])? {
        guard let group = token.first, group < 2, token.count == 17 else { return nil }
        return ([group], Array(token[1...]))
    }

    /// Items that a call asked for.
    mutating func finishItems(_ call: Int32, _ pending: PendingCall, _ items: [StoredItem], hasMore: Bool) {
        switch pending.request {
        case .listDeadLetters:
            var page = DeadLetterPage()
            for item in items {
                guard let letter = DeadLetter(item) else { continue }
                page.deadLetters.append(DeadLetterSummary(letter, id: DeadLetter.id(of: item.key)))
            }
            if hasMore, let last = items.last { page.nextPageToken = last.key.group + last.key.key }
            self.answer(call, .listDeadLetters(page))
        case .listAudit:
            var page = AuditPage()
            for item in items {
                guard let entry = AuditEntry(item) else { continue }
                page.entries.append(AuditLine(entry, revision: AuditEntry.revision(of: item.key)))
            }
            page.hasMore = hasMore
            self.answer(call, .listAudit(page))
        case .retryDeadLetter:
            guard let item = items.first, let letter = DeadLetter(item) else {
                return self.end(
                    call,
                    WireStatus(.deadLetterUnknown, "there is no such dead letter; it may have been taken meanwhile"))
            }
            self.control(call, pending.request, of: pending.app, .ingest(.retry(letter, item.key)))
        default:
            preconditionFailure("\(pending.request.method) asks for no items")
        }
    }
}

extension SubmissionAnswer {
    init(_ outcome: ToldOutcome, at position: Position) {
        self.init(
            position: position, newsCount: outcome.news, staleCount: outcome.stale,
            duplicateCount: outcome.duplicates)
    }
}

extension DeadLetterSummary {
    init(_ letter: DeadLetter, id: String) {
        self.init(
            id: id, received: letter.received, reason: letter.reason, message: letter.message,
            bundleID: letter.bundleID, environment: letter.environment, notificationType: letter.notificationType,
            byteCount: UInt32(clamping: letter.jws.utf8.count))
    }
}

extension StatusDetail {
    /// The value is kept as a dead letter: it is taken later, by a retry, another setting or a newer version.
    package static let kept = StatusDetail(key: "kept", value: "dead_letter")
}

extension WireStatus {
    /// The status of `POST /apple/notifications`. The App Store sends a notification again after 503, and perhaps never after a 4xx.
    /// So 4xx is for bytes that can never become right.
    var intakeHTTPStatus: Int {
        if self.details.contains(.kept) { return 503 }
        switch self.reason {
        case .appleTooLong, .requestTooLong, .frameTooLong: return 413
        case .appleNoChain, .appleChainLength, .appleCertificate, .appleCertificateTime, .appleNoMarker,
            .appleSignature:
            return 403
        default: return self.code == .invalidArgument ? 400 : 503
        }
    }
}

extension AuditLine {
    init(_ entry: AuditEntry, revision: UInt64) {
        self.init(
            revision: revision, at: entry.at, subject: entry.subject, address: entry.address, method: entry.method,
            what: entry.what, bundleID: entry.bundleID, environment: entry.environment, account: entry.accountKey)
    }
}
