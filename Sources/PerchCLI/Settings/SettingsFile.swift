import PerchBase

/// A file of settings: `name = value` on each line, with the names of the options. `#` begins a comment at the start of
/// a line or behind white space.
struct SettingsFile {
    let entries: [String: Settings.Entry]

    init(
        at path: String, of command: CommandSpec, called name: String,
        readFile: (String) throws(FileFault) -> [UInt8]
    ) throws(UsageError) {
        let bytes: [UInt8]
        do {
            bytes = try readFile(path)
        } catch {
            throw UsageError("--config: \(error)", command: name)
        }
        guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
            throw UsageError("\(path) is not UTF-8 text: a settings file has lines of `name = value`", command: name)
        }
        let settings = command.options.filter(\.isSetting)
        var entries: [String: Settings.Entry] = [:]
        // A file from Windows ends its lines with CR LF, which is one character in Swift.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let place = "\(path), line \(index + 1)"
            let content = Self.withoutComment(line)
            guard !content.isEmpty else { continue }
            guard let equals = content.firstIndex(of: "=") else {
                throw UsageError("\(place): \(quoted(content)) has no `=`; a line is `name = value`", command: name)
            }
            let key = Self.trimmed(content[..<equals])
            let value = Self.trimmed(content[content.index(after: equals)...])
            guard let option = settings.first(where: { $0.name == key }) else {
                throw UsageError(
                    "\(place): there is no setting \(quoted(key))",
                    suggesting: nearest(to: key, in: settings.map(\.name)), command: name)
            }
            if case .file(_, let earlier)? = entries[key]?.origin {
                throw UsageError("\(place): \(key) is set already in line \(earlier)", command: name)
            }
            // Quotes would become part of the path, which is never meant.
            if value.count > 1, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
                throw UsageError(
                    "\(place): the value of \(key) stands in quotes, which would be part of it; leave them out",
                    suggesting: "\(key) = \(value.dropFirst().dropLast())", command: name)
            }
            do {
                entries[key] = Settings.Entry(
                    value: try option.kind.parse(value), origin: .file(path: path, line: index + 1))
            } catch {
                throw UsageError("\(place): \(key) \(error.description)", suggesting: error.suggestion, command: name)
            }
        }
        self.entries = entries
    }

    private static func withoutComment(_ line: Substring) -> String {
        var previous: Character = " "
        for index in line.indices {
            if line[index] == "#", previous.isWhitespace { return Self.trimmed(line[..<index]) }
            previous = line[index]
        }
        return Self.trimmed(line)
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? start
        return String(text[start..<end])
    }

    private static func trimmed(_ text: String) -> String { Self.trimmed(text[...]) }
}

/// The fault of a settings file of `perch serve`, given its bytes; nil where it can be read.
package func complaint(aboutServeSettings bytes: [UInt8], at path: String) -> String? {
    do throws(UsageError) {
        _ = try SettingsFile(at: path, of: ServeTable.serve, called: "perch serve") { (_) throws(FileFault) in bytes }
        return nil
    } catch {
        return error.message
    }
}
