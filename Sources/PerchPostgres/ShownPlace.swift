import Glibc
import PerchBase
import PerchStore

/// The newest revision of a store that a node has shown, as it remembers it across its restarts: in a small file on its own machine.
///
/// A restore of the database takes the log back, and with it all that the nodes wrote there. A node that starts afterwards compares the log
/// with this file, and raises the epoch if the log lacks the revision. Nodes on one machine share the file.
struct ShownPlace: Equatable {
    var epoch: UInt32
    var revision: UInt64
    var mark: UInt64

    private static let form = "perch-shown 1"

    /// The file of a store.
    static func path(in directory: String, _ identity: StoreIdentity) -> String { "\(directory)/shown-\(identity)" }

    /// Nil where there is no such file, or none that can be read: then the node knows nothing.
    init?(path: String) {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 256)
        guard fgets(&text, Int32(text.count), file) != nil else { return nil }
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        guard words.count == 5, words[0] + " " + words[1] == Self.form, let epoch = UInt32(words[2]),
            let revision = UInt64(words[3]), let mark = UInt64(words[4])
        else { return nil }
        self.init(epoch: epoch, revision: revision, mark: mark)
    }

    init(epoch: UInt32, revision: UInt64, mark: UInt64) {
        self.epoch = epoch
        self.revision = revision
        self.mark = mark
    }

    /// Replaces the file as a whole. False: it could not be written, and a restore of before the next start goes unnoticed.
    @discardableResult
    func write(to path: String) -> Bool {
        let partial = "\(path).\(getpid())"
        guard let file = fopen(partial, "we") else { return false }
        let written = fputs("\(Self.form) \(self.epoch) \(self.revision) \(self.mark)\n", file) >= 0
        guard fclose(file) == 0, written, rename(partial, path) == 0 else {
            unlink(partial)
            return false
        }
        return true
    }
}
