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
            if !state.isStopping { state.fresh.append((request, completion)) }
            return state.isStopping
        }
        if isStopping {
            completion(.failure(Self.stopped))
        } else {
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

    private func run(seed: UInt64) {
        var queue = SendQueue(seed: seed)
        var completions: [UInt64: Completion] = [:]
        while true {
            let (fresh, isStopping) = self.state.withLock { state in
                defer { state.fresh = [] }
                return (state.fresh, state.isStopping)
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
        ended += self.network.advance()
        for (number, result) in ended {
            if let final = queue.ended(number, result, now: Clocks.monotonic(), wall: Clocks.wall()) {
                completions.removeValue(forKey: number)?(final)
            }
        }
    }
}
