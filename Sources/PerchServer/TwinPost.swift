import PerchBase
import PerchLoop
import PerchMetrics
import PerchSender
import PerchTwin

/// Sends the notifications of a twin, and keeps what came of it in the directory of the twin. Belongs to the control thread.
final class TwinPost {
    private let address: String
    private let network: CurlNetwork
    private let directory: String
    /// Nil until it begins.
    private var sender: Sender?
    private var inbox: Inbox<ControlEvent>?
    private var file: OutboxFile?

    init(to address: String, directory: String) throws(ServerError) {
        var rules = SenderRules()
        // The backend that is rehearsed stands beside the twin.
        rules.allowsPrivateAddresses = true
        rules.allowsLoopbackHTTP = true
        do throws(SenderUnavailable) {
            self.network = try CurlNetwork(rules)
        } catch {
            throw ServerError("--twin-notify: \(error)")
        }
        self.address = address
        self.directory = directory
    }

    /// Begins where the notes of the desk's store end.
    func begin(_ desk: TwinDesk, _ inbox: Inbox<ControlEvent>, _ log: Log) throws(SystemError) {
        let file = try OutboxFile(directory: self.directory, store: desk.storeText)
        desk.deliver(after: try file.notes())
        do throws(SystemError) {
            try file.replace(with: desk.notes)
        } catch {
            log.warning("the twin's outbox grows until it can be written anew: \(error)")
        }
        self.file = file
        self.inbox = inbox
        self.sender = try Sender(self.network, seed: UInt64(bitPattern: Clocks.wall().milliseconds))
    }

    /// Ends what is under way. Must be called once.
    func stop() { self.sender?.stop() }

    /// Remembers for the next start. `all`: everything that is remembered then.
    func note(_ note: OutboxNote, all: () -> [OutboxNote]) {
        guard let file = self.file else { preconditionFailure("the post has not begun") }
        file.append(note)
        // A disk that is full keeps the file as it is, and costs a second delivery after a start.
        if file.isLong { try? file.replace(with: all()) }
    }

    /// One attempt. Its end comes to the control loop.
    func send(_ delivery: TwinDelivery) {
        var request = SenderRequest(
            .post, self.address, lane: SenderLane("twin", perThousandSeconds: 1_000_000, burst: 1_000))
        request.headers = ["Content-Type: application/json; charset=utf-8", "Accept: */*"]
        request.body = delivery.body
        request.attemptsMax = 1
        request.timeoutMilliseconds = Limits.twinAnswerMilliseconds
        guard let inbox = self.inbox, let sender = self.sender else { preconditionFailure("the post has not begun") }
        sender.send(request) { result in inbox.post(.delivered(delivery, Self.name(of: result))) }
    }

    /// One request of a performance test. Its end comes to the control loop.
    func send(_ probe: TwinProbe) {
        var request = SenderRequest(
            .post, probe.url, lane: SenderLane("twin probes", perThousandSeconds: 1_000_000, burst: 1_000))
        request.headers = ["Content-Type: application/json; charset=utf-8", "Accept: */*"]
        request.body = probe.body
        request.attemptsMax = 1
        request.timeoutMilliseconds = Limits.twinAnswerMilliseconds
        guard let inbox = self.inbox, let sender = self.sender else { preconditionFailure("the post has not begun") }
        let start = Clocks.monotonic()
        sender.send(request) { result in
            let milliseconds = Clocks.monotonic().milliseconds(since: start)
            var body: [UInt8] = []
            if case .success(let answer) = result { body = answer.body }
            inbox.post(.probed(probe, Self.name(of: result), body: body, milliseconds: milliseconds))
        }
    }

    private static func name(of result: SenderResult) -> SendAttemptResult {
        switch result {
        case .success(let answer):
            if (300...399).contains(answer.status) { return .circularRedirect }
            return SendAttemptResult(status: answer.status)
        case .failure(let fault):
            switch fault.kind {
            case .timeout: return .timedOut
            case .certificate, .tls: return .tlsIssue
            case .connect, .name: return .noResponse
            case .broken: return .prematureClose
            case .tooLong: return .invalidResponse
            case .url, .privateAddress, .other, .full, .stopped: return .other
            }
        }
    }
}
