import PerchBase
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

// The service: what each method does. It knows identities, requests and answers, but no transport.
extension Service {
    /// Begins a call with a decoded request: attaches a watch, asks the store, or answers at once.
    ///
    /// `forgivesToken`: a resume token that is refused, or that this server does not reach in a moment, is left out.
    ///
    /// An app that this node does not know is looked for in the store once, where other nodes may have made it: `hasLooked`.
    mutating func begin(
        _ call: Int32, _ request: Request, forgivesToken: Bool = false, hasLooked: Bool = false, _ tables: inout Tables,
        _ views: inout some Source, _ sink: inout some Sink
    ) throws(CallRefusal) {
        let method = request.handler
        var app: AppNumber = 0
        if let reference = request.app, !(method.opensApp && self.mayOpen(reference, call, tables)) {
            do throws(CallRefusal) {
                app = try self.app(reference, ofCall: call, &tables)
            } catch {
                guard tables.settings.sharesStore, !hasLooked, error.status.reason == .appUnknown else { throw error }
                return try self.searchApp(call, request, forgivesToken: forgivesToken, &tables, &views)
            }
        }
        try self.permit(call, method, of: app, &tables)
        if method.needsAccount, let account = method.account { try Check.account(account) }
        if let key = request.idempotencyKey { try Check.idempotencyKey(key) }
        try method.check()
        let atLeast = request.atLeast
        if let atLeast { try tables.requireOwn(atLeast) }
        if let token = try self.token(of: request, method, of: app, forgives: forgivesToken, tables) {
            tables.callTokens[call] = token
            tables.calls[call].flags.insert(.hasToken)
            try self.wait(
                call, request, method, of: app, for: token.position, forgivesToken: forgivesToken, &tables, &views,
                &sink)
            return
        }
        if let atLeast { return try self.wait(call, request, method, of: app, for: atLeast, &tables, &views, &sink) }
        try self.proceed(call, request, method, of: app, &tables, &views, &sink)
    }

    /// Continues now if the loop is at `position`, else later.
    private mutating func wait(
        _ call: Int32, _ request: Request, _ method: any MethodHandler, of app: AppNumber, for position: Position,
        forgivesToken: Bool = false, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) throws(CallRefusal) {
        let needed = request.atLeast.map { max($0, position) } ?? position
        let asOf = request.atLeast.map { max($0.asOf, position.asOf) } ?? position.asOf
        let goal = Position(revision: needed.revision, asOf: asOf)
        if tables.isAt(goal, of: app) {
            try self.proceed(call, request, method, of: app, &tables, &views, &sink)
            return
        }
        try self.requireRoom(WaitingCalls.bytesPerWaiter, tables, views)
        let generation = tables.calls.generation(call)
        self.waiting.add(
            Waiter(
                call: call, generation: generation, position: goal, app: app, request: request,
                forgivesToken: forgivesToken))
        if !tables.calls[call].flags.contains(.hasToken), method.watchedView != nil {
            views.sayLoading(call, &tables, &sink)
        }
        guard forgivesToken || !tables.calls[call].hasDeadline else { return }
        let wait =
            forgivesToken
            ? min(Limits.forgivenTokenMilliseconds, tables.settings.behindWaitMilliseconds)
            : tables.settings.behindWaitMilliseconds
        tables.scheduleDeadline(.behind(call, generation), at: tables.now.monotonic + wait)
    }

    /// A call waited in vain for the position of a token that it may do without.
    mutating func forgiveToken(
        _ call: Int32, _ waiter: Waiter, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        self.waiting.remove(call)
        tables.callTokens[call] = nil
        tables.calls[call].flags.remove(.hasToken)
        self.goOn(waiter, &tables, &views, &sink)
    }

    /// A call goes on that has waited.
    private mutating func goOn(
        _ waiter: Waiter, _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) {
        do throws(CallRefusal) {
            try self.proceed(
                waiter.call, waiter.request, waiter.request.handler, of: waiter.app, &tables, &views, &sink)
        } catch {
            self.end(waiter.call, error.status, &tables, &views, &sink)
        }
    }

    /// Wakes the calls whose position has been reached.
    mutating func wakeWaiters(_ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink) {
        guard !self.waiting.isEmpty else { return }
        var waiting = WaitingCalls()
        swap(&waiting, &self.waiting)
        let (woken, held) = waiting.take(applied: tables.applied) { tables.clock(of: $0) }
        swap(&waiting, &self.waiting)
        for call in held { self.awaitInstant(call, &tables, &sink) }
        for waiter in woken where tables.calls.isTaken(waiter.call, generation: waiter.generation) {
            self.goOn(waiter, &tables, &views, &sink)
        }
    }

    /// A stream that waits for its instant delays bookmarks: its first value may be older than the bookmark's revision.
    /// A stream that waits for a revision does not.
    private mutating func awaitInstant(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard tables.calls[call].method.isStreaming, !tables.calls[call].flags.contains(.isWaiting) else { return }
        tables.calls[call].flags.insert(.isWaiting)
        sink.holdBeats(for: call, &tables)
    }

    private mutating func proceed(
        _ call: Int32, _ request: Request, _ method: any MethodHandler, of app: AppNumber, _ tables: inout Tables,
        _ views: inout some Source, _ sink: inout some Sink
    ) throws(CallRefusal) {
        if let view = method.watchedView {
            self.forgetRequest(of: call)
            return views.watch(
                call, of: app, account: method.account.map { tables.canonical(Array($0.utf8), app) }, view,
                &tables, &sink)
        }
        try self.take(
            try method.begin(self.context(call, of: app, tables, sink)), call, request, of: app, &tables, &views, &sink)
    }

    /// What a method may know of a call.
    func context(
        _ call: Int32, of app: AppNumber, _ tables: borrowing Tables, _ sink: borrowing some Sink
    ) -> MethodContext {
        let caller = MethodCaller(
            identity: self.identity(ofCall: call, tables), address: sink.callerAddress(ofCall: call, tables),
            clientID: sink.clientID(ofCall: call, tables),
            isIntake: tables.connections[tables.calls[call].connection].flags.contains(.isIntake))
        let access = ServerAccess(
            tokenLifeMilliseconds: self.authenticator?.lifeMilliseconds ?? Limits.tokenLifeMilliseconds,
            seenTokens: self.seenTokens,
            consoleCodes: self.hasAuthenticator ? self.consoleCodes : nil,
            sharesStore: tables.settings.sharesStore, passKey: tables.settings.passKey)
        return MethodContext(
            named: tables.apps[app], apps: tables.apps, now: tables.clock(of: app),
            wall: tables.now.wall,
            monotonic: tables.now.monotonic, applied: tables.applied, origin: tables.origin,
            caller: caller,
            access: access,
            codec: tables.codec, signing: tables.signing(of: app))
    }

    /// Takes the next step of a call.
    mutating func take(
        _ step: Step, _ call: Int32, _ request: Request, of app: AppNumber, _ tables: inout Tables,
        _ views: inout some Source, _ sink: inout some Sink
    ) throws(CallRefusal) {
        switch step {
        case .answer(let response, let counter):
            if let counter { tables.counters[keyPath: counter] += 1 }
            self.answer(call, response, &tables, &views, &sink)
        case .refuse(let status):
            self.end(call, status, &tables, &views, &sink)
        case .ask(let body, let kept):
            guard tables.vouches || !request.method.isSafe else {
                return self.end(call, Self.outOfReach, &tables, &views, &sink)
            }
            if case .mutate = body { Self.requireChanging(request) }
            self.hold(call, PendingCall(request: request, app: app, kept: kept, asksStore: true), &tables)
            tables.ask(.call(call, generation: tables.calls.generation(call)), body)
        case .change(let mutation):
            Self.requireChanging(request)
            self.hold(call, PendingCall(request: request, app: app, asksStore: true), &tables)
            self.change(call, mutation, request, of: app, &tables, &sink)
        case .server(let control):
            self.hold(call, PendingCall(request: request, app: app), &tables)
            let ticket = tables.issue(.call(call, generation: tables.calls.generation(call)))
            tables.effects.append(.control(ticket: ticket, control))
        case .updates(let asked):
            try views.watchUpdates(call, asked, of: app, &tables, &sink)
        case .appChanges(let asked):
            try views.watchAppChanges(call, asked, of: app, &tables, &sink)
        case .copy(let asked):
            views.beginCopy(call, asked, of: app, &tables, &sink)
        case .several(let asked):
            try self.beginSeveral(call, asked, &tables, &views, &sink)
        }
    }

    private static func requireChanging(_ request: Request) {
        precondition(!request.method.isSafe, "the contract says that \(request.method.path) changes nothing")
    }

    /// Asks the store for a change, with the request's idempotency key and who asked for it.
    private mutating func change(
        _ call: Int32, _ mutation: consuming Mutation, _ request: Request, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink
    ) {
        if let key = request.idempotencyKey, !key.isEmpty {
            self.makeRepeatable(&mutation, under: key, request, tables)
        }
        let note = request.handler.auditNote
        if case .audited = note {
            mutation.audit = self.context(call, of: app, tables, sink).entry(note, request.method)
        }
        tables.ask(.call(call, generation: tables.calls.generation(call)), .mutate(mutation))
    }

    /// A mutation with an idempotency key happens once. The key covers the whole request, so that it cannot be used for
    /// another one.
    private func makeRepeatable(
        _ mutation: inout Mutation, under key: [UInt8], _ request: Request, _ tables: borrowing Tables
    ) {
        do throws(MessageError) {
            let encoded = try tables.codec.encode(request)
            let digest = Array(encoded.message).withUnsafeBytes { Self.digest(of: request.method, $0) }
            mutation.repeatable(under: key, of: digest)
        } catch {
            preconditionFailure("a request that was decoded cannot be encoded: \(error)")
        }
    }

    /// The digest of a request, so that one key is not used for two. `message` is in the form that the codec writes.
    static func digest(of method: Method, _ message: UnsafeRawBufferPointer) -> Digest {
        let path = method.path.utf8Span.span
        return withUnsafeTemporaryAllocation(byteCount: path.count + message.count, alignment: 8) { both in
            path.withUnsafeBytes { both.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: both[path.count...]).copyMemory(from: message)
            return Digest(of: UnsafeRawBufferPointer(both).bytes)
        }
    }

    // MARK: Answers

    /// The store has answered a unary call.
    mutating func finishUnary(
        _ call: Int32, _ answer: StoreAnswer, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        guard let pending = self.pendingCall(call, tables) else { return }
        let method = pending.request.handler
        do throws(CallRefusal) {
            if case .refused(let refusal) = answer {
                let other = pending.refusal == nil ? method.refused(refusal) : nil
                let next = other ?? .refuse(WireStatus(refusal))
                return try self.take(next, call, pending.request, of: pending.app, &tables, &views, &sink)
            }
            // A dead letter is kept, and then refused.
            if case .mutated = answer, let refusal = pending.refusal {
                return self.end(call, refusal, &tables, &views, &sink)
            }
            var context = self.context(call, of: pending.app, tables, sink)
            (context.kept, context.refusedValues) = (pending.kept, pending.refusedValues)
            let next = try method.finish(answer, context)
            if case .answer = next, case .audited(let what) = method.auditNote {
                self.noteChange(call, what, pending, at: answer.revision, &tables)
            }
            try self.take(next, call, pending.request, of: pending.app, &tables, &views, &sink)
        } catch {
            self.end(call, error.status, &tables, &views, &sink)
        }
    }

    /// The server's own answer to a control request.
    mutating func finishControl(
        _ call: Int32, generation: UInt32, _ answer: ControlAnswer, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink
    ) {
        guard tables.calls.isTaken(call, generation: generation), case .unary = tables.calls[call].state,
            var pending = self.pendingCall(call, tables)
        else { return }
        switch answer {
        case .response(let response):
            if let position = response.position, case .audited(let what) = pending.request.handler.auditNote {
                self.noteChange(call, what, pending, at: position.revision, &tables)
            }
            self.answer(call, response, &tables, &views, &sink)
        case .refused(let reason, let message, let details):
            self.end(call, WireStatus(reason, message, details: details), &tables, &views, &sink)
        case .failed(let refusal):
            self.end(call, WireStatus(refusal), &tables, &views, &sink)
        case .reported(let mutation, let refused):
            pending.refusedValues = refused
            self.hold(call, pending, &tables)
            self.change(call, mutation, pending.request, of: pending.app, &tables, &sink)
        case .deadLetter(let mutation, let status):
            pending.refusal = status
            self.hold(call, pending, &tables)
            tables.ask(.call(call, generation: generation), .mutate(mutation))
        }
    }

    /// The refusal for a request that names no app among those of the credentials.
    private func unknownApp(_ reference: AppReference, _ reach: AppReach, _ tables: borrowing Tables) -> CallRefusal {
        if reference.isBlank, case .apps = reach {
            return CallRefusal(
                .appUnknown,
                "the request names no app, the credentials are for \(reach), and this server has no such app; load its catalogue first",
                details: [StatusDetail(key: "found", value: reach.description)])
        }
        let environment = reference.environment == .unspecified ? "" : " (\(reference.environment))"
        let asked = (reference.bundleID.isEmpty ? "any" : printable(reference.bundleID)) + environment
        let named = reference.bundleID.isEmpty ? "of the environment \(reference.environment)" : asked
        let others = tables.apps.all.filter { $0.bundleID == reference.bundleID && reach.includes($0.name) }
        let also =
            others.isEmpty ? "" : ", it has it as \(others.map(\.environment.description).joined(separator: " and "))"
        let among = if case .apps = reach { ", and the credentials are for \(reach)" } else { "" }
        return CallRefusal(
            .appUnknown,
            "this server has no app \(named)\(also)\(among); `perch get apps` lists what there is",
            details: [StatusDetail(key: "found", value: asked)])
    }

    // MARK: Reading a request

    /// The app that a request names, or the only one that the caller may use.
    mutating func app(_ reference: AppReference, ofCall call: Int32, _ tables: inout Tables) throws(CallRefusal)
        -> AppNumber
    {
        // Without an authenticator every caller may use every app, and most servers have one.
        if !self.hasAuthenticator, let only = tables.apps.only, only.fits(reference) { return only.number }
        let identity = self.identity(ofCall: call, tables)
        func fits(_ app: AppName) -> Bool {
            (reference.bundleID.isEmpty || app.bundleID == reference.bundleID)
                && (reference.environment == .unspecified || app.environment == reference.environment)
        }
        // Decided by the name alone, so that the refusal does not reveal which other apps the server has.
        if case .apps(let apps) = identity.apps, !apps.contains(where: fits) {
            throw CallRefusal(
                .permissionDenied,
                "the credentials are for \(identity.apps), and the request is about another app; ask with credentials for that one",
                details: [StatusDetail(key: "needed", value: "app")])
        }
        // A guest is named in full.
        let named = tables.apps.all.filter {
            identity.apps.includes($0.name) && fits($0.name) && (!$0.isGuest || $0.bundleID == reference.bundleID)
        }
        guard named.count < 2 else {
            let some = named.prefix(2).map { "\(printable($0.bundleID)) (\($0.environment))" }
                .joined(separator: " and ")
            throw CallRefusal(
                .appAmbiguous,
                reference.isBlank
                    ? "the credentials are for \(named.count) apps, such as \(some); name one by bundle_id and environment"
                    : "\(named.count) apps of this server fit that name; name the bundle_id and the environment")
        }
        guard let app = named.first else { throw self.unknownApp(reference, identity.apps, tables) }
        return app.number
    }

    /// Whether a call may make an app in memory that is not there yet.
    private func mayOpen(_ reference: AppReference, _ call: Int32, _ tables: borrowing Tables) -> Bool {
        let name = AppName(bundleID: reference.bundleID, environment: .xcode)
        return tables.settings.hostsGuests && [.xcode, .unspecified].contains(reference.environment)
            && !tables.apps.all.contains { $0.name == name } && self.identity(ofCall: call, tables).apps.includes(name)
    }
}

extension StoreAnswer {
    /// The revision of a change; nil for other answers.
    fileprivate var revision: UInt64? {
        guard case .mutated(_, let position) = self else { return nil }
        return position.revision
    }
}

extension AppState {
    /// What identities name it by.
    var name: AppName { AppName(bundleID: self.bundleID, environment: self.environment) }

    /// Whether an app matches the request's reference.
    func fits(_ reference: AppReference) -> Bool {
        (reference.bundleID.isEmpty || self.bundleID == reference.bundleID)
            && (reference.environment == .unspecified || self.environment == reference.environment)
    }
}
