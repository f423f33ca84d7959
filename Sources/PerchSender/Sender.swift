import PerchBase
package import PerchLoop
import Synchronization

/// Sends requests to other servers on a thread of its own. Any thread may use it. Its owner must call `stop` exactly once.
package final class Sender: Sendable {
    /// Called on the sender's thread. It must not block.
    package typealias Completion = @Sendable (SenderResult) -> Void

    private struct State: Sendable {
        var fresh: [(SenderRequest, Completion)] = []
        var isStopping = false
        /// Requests that wait are asked whether they are still wanted.
        var looksForUnwanted = false
        var figures = SenderFigures()
    }

    private let network: any SenderNetwork
    private let state = Mutex(State())
    private let thread = Mutex<LoopThread?>(nil)

    /// Starts the thread. `seed` is for the jitter of pauses.
    package init(_ network: any SenderNetwork, seed: UInt64) throws(SystemError) {
        self.network = network
        let thread = try LoopThread(name: "perch-sender") { [self] in self.run(seed: seed) }
        self.thread.withLock { $0 = thread }
    }

    package var figures: SenderFigures { self.state.withLock { $0.figures } }

    package func send(_ request: SenderRequest, _ completion: @escaping Completion) {
        let isStopping = self.state.withLock { state in
            guard !state.isStopping else { return true }
            state.fresh.append((request, completion))
            // Under the lock, because `stop` closes the network as soon as it has the lock and the thread has ended.
            self.network.wake()
            return false
        }
        if isStopping { completion(.failure(Self.stopped)) }
    }

    /// Ends what waits and is no longer wanted. What is under way ends by itself.
    package func endUnwanted() {
        self.state.withLock { state in
            guard !state.isStopping else { return }
            state.looksForUnwanted = true
            self.network.wake()
        }
    }

    /// Ends what is under way with `stopped`, and waits for the thread.
    package func stop() {
        let wasRunning = self.state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        precondition(wasRunning, "the sender was stopped already")
        self.network.wake()
        self.thread.withLock { $0?.join() }
        self.network.close()
    }

    private static let stopped = SenderFault(.stopped, "the server is stopping")
    private static let unwanted = SenderFault(.stopped, "the request was taken back before it was sent")

    private func run(seed: UInt64) {
        var queue = SendQueue(seed: seed)
        var completions: [UInt64: Completion] = [:]
        while true {
            let (fresh, isStopping, looksForUnwanted) = self.state.withLock { state in
                defer { (state.fresh, state.looksForUnwanted) = ([], false) }
                return (state.fresh, state.isStopping, state.looksForUnwanted)
            }
            if isStopping {
                for (_, completion) in fresh { completion(.failure(Self.stopped)) }
                break
            }
            for (request, completion) in fresh {
                if let number = queue.add(request, now: Clocks.monotonic()) {
                    completions[number] = completion
                } else {
                    completion(
                        .failure(SenderFault(.full, "\(Limits.senderQueueMax) requests wait, the limit; try later")))
                }
            }
            if looksForUnwanted { queue.removeUnwanted() }
            self.turn(&queue, &completions)
            var figures = queue.figures
            figures.waiting = queue.count
            self.state.withLock { $0.figures = figures }
            let now = Clocks.monotonic()
            let pause = queue.wake(now: now).map { $0.nanoseconds(since: now) / 1_000_000 + 1 } ?? 60_000
            self.network.wait(milliseconds: Int32(clamping: min(max(pause, 0), 60_000)))
        }
        for number in queue.removeAll() { completions[number]?(.failure(Self.stopped)) }
    }

    /// Begins what may go, and ends what has ended.
    private func turn(_ queue: inout SendQueue, _ completions: inout [UInt64: Completion]) {
        var ended: [(number: UInt64, result: SenderResult)] = []
        while let attempt = queue.next(now: Clocks.monotonic()) {
            let authorization = attempt.request.authorization?()
            if let fault = self.network.begin(attempt.request, number: attempt.number, authorization: authorization) {
                ended.append((attempt.number, .failure(fault)))
            }
        }
        for number in queue.takeUnwanted() { completions.removeValue(forKey: number)?(.failure(Self.unwanted)) }
        ended += self.network.advance()
        for (number, result) in ended {
            if let final = queue.ended(number, result, now: Clocks.monotonic(), wall: Clocks.wall()) {
                completions.removeValue(forKey: number)?(final)
            }
        }
    }
}
