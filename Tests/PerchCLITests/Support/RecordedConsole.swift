import PerchCLI
import Synchronization

/// Keeps a command's output, in place of a terminal.
final class RecordedConsole: Console {
    private struct Record {
        var data = ""
        var bytes: [UInt8] = []
        var talk: [String] = []
        var readsLeft: Int
    }

    private let record: Mutex<Record>
    let isColoured: Bool
    let isTerminal: Bool

    /// The reader closes after that number of pieces of data.
    init(isColoured: Bool = false, isTerminal: Bool = false, readerTakes count: Int = .max) {
        self.isColoured = isColoured
        self.isTerminal = isTerminal
        self.record = Mutex(Record(readsLeft: count))
    }

    var data: String { self.record.withLock { $0.data } }
    var talk: String { self.record.withLock { $0.talk.joined(separator: "\n") } }

    func data(_ text: String) throws(ReaderGone) {
        let isTaken = self.record.withLock { record in
            guard record.readsLeft > 0 else { return false }
            record.readsLeft -= 1
            record.data += text
            return true
        }
        if !isTaken { throw ReaderGone() }
    }

    /// The output as bytes.
    var bytes: [UInt8] { self.record.withLock { $0.bytes } }

    func data(_ bytes: [UInt8]) throws(ReaderGone) {
        self.record.withLock { $0.bytes += bytes }
    }

    func talk(_ line: String) {
        self.record.withLock { $0.talk.append(line) }
    }
}
