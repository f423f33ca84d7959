import Glibc
import PerchBase

/// Saved options of the connection under names. A context names the files of secrets, and never holds a secret.
///
/// The file is $XDG_CONFIG_HOME/perch/contexts, or ~/.config/perch/contexts, readable by its owner alone:
///
///     current = staging
///
///     [staging]
///     server = perch.staging.example.com:7447
///     tls-ca = /home/ann/perch/ca.pem
struct Contexts: Equatable {
    /// The options that a context can hold, in the order in which they are written.
    static let options = [
        "server", "tls", "tls-ca", "tls-server-name", "tls-certificate", "tls-key", "bundle-id", "environment",
        "credentials-file",
    ]
    /// Options whose value is a file.
    static let files: Set = ["tls-ca", "tls-certificate", "tls-key", "credentials-file"]

    var current: String?
    /// By name, in the order of the file.
    var all: [(name: String, options: [String: String])] = []

    static func == (left: Contexts, right: Contexts) -> Bool { left.text == right.text }

    subscript(name: String) -> [String: String]? {
        get { self.all.first { $0.name == name }?.options }
        set {
            let place = self.all.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let options?): self.all[place].options = options
            case (let place?, nil): self.all.remove(at: place)
            case (nil, let options?): self.all.append((name, options))
            case (nil, nil): break
            }
        }
    }

    var text: String {
        var text = self.current.map { "current = \($0)\n" } ?? ""
        for context in self.all {
            text += "\n[\(context.name)]\n"
            for option in Self.options {
                if let value = context.options[option] { text += "\(option) = \(value)\n" }
            }
        }
        return text
    }

    init() {}

    /// Reads a file of contexts.
    init(_ text: String, at path: String) throws(UsageError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let place = "\(printable(path)), line \(index + 1)"
            let words = line.drop { $0 == " " }
            if words.isEmpty || words.first == "#" { continue }
            if words.first == "[", words.last == "]" {
                self.all.append((String(words.dropFirst().dropLast()), [:]))
                continue
            }
            guard let equals = words.firstIndex(of: "=") else {
                throw UsageError(
                    "\(place): \(quoted(String(words))) is neither `name = value` nor `[context]`; correct it")
            }
            let key = String(words[..<equals].reversed().drop { $0 == " " }.reversed())
            let value = String(words[words.index(after: equals)...].drop { $0 == " " })
            if key == "current", self.all.isEmpty {
                self.current = value
            } else if Self.options.contains(key), !self.all.isEmpty {
                self.all[self.all.count - 1].options[key] = value
            } else {
                throw UsageError(
                    "\(place): \(quoted(key)) is no option of a context; it can be \(alternatives(Self.options))",
                    suggesting: nearest(to: key, in: Self.options))
            }
        }
    }

    /// The path of the file; nil where the environment has neither directory.
    static func path(_ environment: [String: String]) -> String? {
        func directory(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (directory("XDG_CONFIG_HOME") ?? directory("HOME").map { $0 + "/.config" }).map {
            $0 + "/perch/contexts"
        }
    }

    /// The contexts of a file; none where there is no file.
    static func read(
        at path: String, _ readFile: (String) throws(FileFault) -> [UInt8]
    ) throws(UsageError) -> Contexts {
        guard Files.exists(path) else { return Contexts() }
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try readFile(path)
        } catch {
            throw UsageError("the contexts: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(printable(path)) is not UTF-8 text; remove it, and add the contexts again")
        }
        return try Contexts(text, at: path)
    }
}
