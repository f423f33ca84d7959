import Glibc
package import PerchLoop

/// The output of a command: data on standard output, talk for people on standard error.
package protocol Console: Sendable {
    /// Whether colours help: on a terminal, without NO_COLOR.
    var isColoured: Bool { get }
    /// Whether standard output is a terminal.
    var isTerminal: Bool { get }
    /// The size of the terminal.
    var size: TerminalSize { get }
    /// Bytes as they are.
    func data(_ bytes: [UInt8]) throws(ReaderGone)
    /// One whole piece of data, written at once. Throws when the reader has closed the pipe.
    func data(_ text: String) throws(ReaderGone)
    /// A line for people, on standard error. Never fails: a command does not end because standard error is closed.
    func talk(_ line: String)
}

extension Console {
    /// The common default of terminals.
    package var size: TerminalSize { TerminalSize(columns: 80, rows: 24) }
}

package struct TerminalSize: Hashable, Sendable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// Standard output accepts no more data: its reader closed the pipe, as in `perch watch ... | head -1`, or the disk is full.
package struct ReaderGone: Error, Equatable, CustomStringConvertible {
    /// The error of the kernel.
    package var errno: Errno

    package init(_ errno: Errno = Errno(EPIPE)) { self.errno = errno }

    /// Whether the reader closed the pipe, which is no failure.
    package var hasEnough: Bool { self.errno == Errno(EPIPE) }

    package var description: String { "standard output could not be written: \(self.errno)" }
}

/// Standard output and standard error, unbuffered: a signal after a print loses nothing.
package struct StandardConsole: Console {
    package let isColoured: Bool
    package var isTerminal: Bool { isatty(1) == 1 }

    package var size: TerminalSize {
        // The layout of `winsize`. Two modules declare that type, and the order of imports decides which one Swift uses.
        var found: (rows: UInt16, columns: UInt16, width: UInt16, height: UInt16) = (0, 0, 0, 0)
        guard ioctl(1, UInt(TIOCGWINSZ), &found) == 0, found.columns > 0, found.rows > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(found.columns), rows: Int(found.rows))
    }

    package init(environment: [String: String]) {
        self.isColoured = Self.wantsColour(environment) { isatty(1) == 1 }
    }

    /// https://no-color.org: set and not empty means no.
    package static func wantsColour(_ environment: [String: String], isTerminal: () -> Bool) -> Bool {
        guard environment["NO_COLOR", default: ""].isEmpty, environment["TERM"] != "dumb" else { return false }
        return isTerminal()
    }

    package func data(_ text: String) throws(ReaderGone) {
        if let errno = Self.write(text, to: 1) { throw ReaderGone(errno) }
    }

    package func data(_ bytes: [UInt8]) throws(ReaderGone) {
        if let errno = bytes.withUnsafeBytes({ Self.write($0, to: 1) }) { throw ReaderGone(errno) }
    }

    package func talk(_ line: String) {
        _ = Self.write(line + "\n", to: 2)
    }

    private static func write(_ text: String, to descriptor: Int32) -> Errno? {
        var text = text
        return text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Nil when all is written.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Errno? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                // Another program made the terminal non-blocking: wait for it.
                if errno == EAGAIN {
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Glibc.poll(&poll, 1, -1)
                    continue
                }
                return Errno(Glibc.errno)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return nil
    }
}

/// The colours of a terminal; plain text elsewhere.
struct Paint {
    enum Colour: Int { case red = 31, green = 32, yellow = 33, dim = 2, bold = 1 }

    let isOn: Bool

    func callAsFunction(_ colour: Colour, _ text: String) -> String {
        self.isOn ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}
