import Glibc
import PerchBase
import PerchLoop
import PerchSender
import PerchTwin

/// Sends the notifications of a twin, and keeps what came of it in the file `outbox` of its directory. Belongs to the control thread.
final class TwinPost {
    private let address: String
    private let network: CurlNetwork
    private let file: Int32
    /// Nil until it begins.
    private var sender: Sender?
    private var inbox: Inbox<ControlEvent>?

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
        let path = "\(directory)/outbox"
        self.file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard self.file >= 0 else {
            throw ServerError("--twin-directory: \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
    }

    /// Begins where the file's notes end.
    func begin(_ desk: TwinDesk, _ inbox: Inbox<ControlEvent>) throws(SystemError) {
        let (notes, count) = Self.notes(self.file)
        if count > 2 * Limits.twinNotesKept {
            // The oldest attempts are forgotten. Each app's last place stays.
            ftruncate(self.file, 0)
            for note in notes { self.note(note) }
        }
        desk.deliver(after: notes)
        self.inbox = inbox
        self.sender = try Sender(self.network, seed: UInt64(bitPattern: Clocks.wall().milliseconds))
    }

    deinit { close(self.file) }

    /// Ends what is under way. Must be called once.
    func stop() { self.sender?.stop() }

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

    // MARK: The file

    func note(_ note: OutboxNote) {
        // In one call, so that a crash cuts off the last line at most. A full disk costs a second delivery after a start.
        _ = note.line.withUnsafeBytes { Glibc.write(self.file, $0.baseAddress, $0.count) }
    }

    /// The last notes of a file, and how many there are.
    private static func notes(_ file: Int32) -> ([OutboxNote], Int) {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = part.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes += part[..<count]
        }
        let notes = bytes.split(separator: UInt8(ascii: "\n")).compactMap { OutboxNote(line: Array($0)) }
        let begins = notes.filter { if case .begins = $0 { true } else { false } }
        return (begins.suffix(1_000) + notes.suffix(Limits.twinNotesKept), notes.count)
    }
}
