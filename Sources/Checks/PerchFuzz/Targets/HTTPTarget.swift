import PerchBase
import PerchHTTP

/// Heads of HTTP requests: a stream of bytes means the same in whatever pieces it comes, and a conversation ends.
///
/// The first byte says how long the pieces are.
final class HTTPTarget: FuzzTarget {
    static let name = "http"
    static let reaches = ["PerchHTTP"]

    static func seeds() -> [[UInt8]] {
        [
            "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /healthz HTTP/1.0\r\n\r\nGET / HTTP/1.0\n\n",
            "\r\nGET http://a/status?x=1 HTTP/1.1\r\nHost: a\r\nConnection: close, x\r\nContent-Length: 0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\n folded\r\n\r\n",
        ].map { [7] + Array($0.utf8) }
    }

    private enum Outcome: Equatable {
        case requests([HTTPRequest])
        case refused([HTTPRequest], HTTPRefusal)
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let input = bytes.dropFirst()
        let size = max(1, Int(first))
        let outcome = self.read(input, by: size)
        hold(outcome == self.read(input, by: max(1, input.count)), "pieces mean something else")
        self.converse(input, by: size)
        guard case .requests(let requests) = outcome else { return false }
        return !requests.isEmpty
    }

    private func read(_ input: ArraySlice<UInt8>, by size: Int) -> Outcome {
        var parser = HTTPHeadParser(limitBytes: 512)
        var requests: [HTTPRequest] = []
        var rest = input
        do throws(HTTPRefusal) {
            while !rest.isEmpty {
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let request = try parser.next() {
                    hold(request.path.first == "/", "a path that begins with no slash: \(request.path)")
                    requests.append(request)
                }
            }
        } catch {
            return .refused(requests, error)
        }
        return .requests(requests)
    }

    /// Answers everything at once; then the peer ends, and the conversation must be over.
    private func converse(_ input: ArraySlice<UInt8>, by size: Int) {
        let (now, wall) = (MonotonicTime(nanoseconds: 1), Instant(milliseconds: 0))
        var conversation = HTTPConversation(now: now)
        var rest = input
        while !rest.isEmpty, conversation.reads {
            var step = conversation.received(rest.prefix(size), now: now, wall: wall)
            rest = rest.dropFirst(size)
            var steps = 0
            while true {
                steps += 1
                hold(steps <= 2 * input.count + 8, "a conversation does not come to its end")
                switch step {
                case .ask: step = conversation.answer(HTTPResponse(.ok, "ok"), now: now, wall: wall)
                case .write: step = conversation.wrote(conversation.output.count, now: now, wall: wall)
                case .wait, .shutDownWriting, .close: steps = -1
                }
                if steps < 0 { break }
            }
        }
        hold(conversation.peerEnded() == .close, "a conversation goes on without a peer")
    }
}
