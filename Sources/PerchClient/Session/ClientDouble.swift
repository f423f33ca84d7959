import PerchBase
import PerchLoop
package import PerchWire

/// Answers the calls and streams of clients instead of a server, in the caller's task: the base of `PerchClientTesting`.
package protocol ClientDouble: AnyObject, Sendable {
    /// The answer of a call.
    func answer(_ request: Request) -> Result<Response, PerchError>
    /// A state stream opens: its first state. Later ones come by `show`.
    func open(_ id: ItemID, _ request: Request, show: @escaping @Sendable (EntitlementTaskState<WatchValue>) -> Void)
    /// A stream of events opens. `deliver` without an error hands on events; with one it ends the stream.
    func follow(_ id: ItemID, _ request: Request, deliver: @escaping @Sendable ([UpdateItem], PerchError?) -> Void)
    /// A copy opens: `deliver` hands on its parts; an error ends it.
    func copy(
        _ id: ItemID, _ request: AppEntitlementsRequest,
        deliver: @escaping @Sendable (Result<CopyPart, PerchError>) -> Void)
    /// A stream is no longer wanted.
    func end(_ id: ItemID)
    /// A client begins. `whenClosed` is called once it is closed.
    func begin(whenClosed: @escaping @Sendable () -> Void)
    /// The client is closed: every open stream ends with `CLOSED`.
    func close()
}

extension ClientDouble {
    func take(_ command: ClientCommand) {
        switch command {
        case .item(_, let command): self.take(command)
        case .add(_, _, let cell):
            let server = ServerInfo(
                since: Clocks.wall(), version: "double", storeID: nil, epoch: 1, revision: 0, heartbeat: .seconds(10))
            for waiter in cell.set(.connected(server), disconnectedSince: nil) { waiter.resume() }
            self.begin { for waiter in cell.close() { waiter.resume() } }
        case .remove: self.close()
        case .found, .stop: break
        }
    }

    private func take(_ command: ItemCommand) {
        switch command {
        case .call(_, let request, _, _, let caller): caller.resume(returning: self.answer(request))
        case .watch(let id, let request, _, _, _, _, let sink):
            self.open(id, request) { state in
                var waiters = sink.show(state, true)
                if case .failure(let failure, _) = state, failure.isFinal { waiters += sink.end() }
                for waiter in waiters { waiter.resume() }
            }
        case .follow(let id, let request, _, let cell):
            self.follow(id, request.request(request.start)) { items, error in
                cell.append(items).waiter?.resume()
                if let error { cell.end(error)?.resume() }
            }
        case .openCopy(let id, let request, let copy):
            self.copy(id, request) { part in
                let waiters =
                    switch part {
                    case .success(let part): copy.take(part, now: Clocks.monotonic().nanoseconds / 1_000_000).waiters
                    case .failure(let error): copy.end(error)
                    }
                for waiter in waiters { waiter.resume() }
            }
        case .unwatch(let id), .unfollow(let id), .endCopy(let id): self.end(id)
        case .cancel, .resume: break
        }
    }
}
