internal import CPerchLinux
internal import Glibc

/// A program that this one has started, and ends with it.
///
/// Belongs to the thread that made it: when that thread ends, Linux tells the child to (PR_SET_PDEATHSIG). Who lets go
/// of it kills it, so that no way out of a caller leaves it behind.
package final class ChildProcess {
    package let number: Int32
    /// What it says on both outputs. Does not block.
    private let output: Descriptor
    private var status: Int32?

    /// `processors`: those that it may run on; none for those of the calling thread.
    package init(
        path: String, arguments: [String], environment: [String: String], processors: [Int] = []
    ) throws(SystemError) {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        _ = try SystemCall.check("pipe") { Int(perch_pipe(&reading, &writing)) }
        self.output = Descriptor(owning: reading)
        let end = Descriptor(owning: writing)
        let endNumber = end.number
        let words = processors.isEmpty ? nil : try Processors.words(processors)
        let entries = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let number = Self.withCStrings([path] + arguments) { arguments in
            Self.withCStrings(entries) { environment in
                SystemCall.result("fork") {
                    guard let words else { return Int(perch_spawn(path, arguments, environment, endNumber, nil)) }
                    return Int(perch_spawn(path, arguments, environment, endNumber, words))
                }
            }
        }
        guard number > 0 else {
            throw SystemError(call: "fork", subject: path, errno: Errno(Int32(-number)))
        }
        self.number = Int32(number)
    }

    deinit { self.kill() }

    /// What it has said since the last time; empty for nothing, nil once both outputs are closed.
    package func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let fd = self.output.number
        let count = SystemCall.result("read of a pipe") { Glibc.read(fd, &bytes, bytes.count) }
        if count == 0 { return nil }
        return count > 0 ? Array(bytes[..<count]) : []
    }

    /// Waits until it has said something, has closed its outputs, or the time is over.
    package func waitForOutput(milliseconds: Int) {
        var poll = pollfd(fd: self.output.number, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&poll, 1, Int32(clamping: milliseconds))
    }

    /// Its exit status, 128 and the number of a signal that ended it, or nil while it runs.
    package func hasEnded() -> Int32? { self.wait(WNOHANG) }

    /// Asks it to end, as SIGTERM does.
    package func terminate() {
        guard self.hasEnded() == nil else { return }
        _ = Glibc.kill(self.number, SIGTERM)
    }

    /// Ends it at once, and waits until it has.
    package func kill() {
        guard self.hasEnded() == nil else { return }
        _ = Glibc.kill(self.number, SIGKILL)
        _ = self.wait(0)
    }

    private func wait(_ options: Int32) -> Int32? {
        if let status = self.status { return status }
        var raw: Int32 = 0
        let result = SystemCall.result("waitpid") { Int(waitpid(self.number, &raw, options)) }
        guard result == Int(self.number) else { return nil }
        let signal = raw & 0x7F
        let status = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
        self.status = status
        return status
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return body(&pointers)
    }
}
