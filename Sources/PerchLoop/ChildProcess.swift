internal import CPerchLinux
internal import Glibc

/// A child process that ends with its parent.
///
/// Belongs to the thread that created it: Linux kills the child when that thread ends (PR_SET_PDEATHSIG).
/// Deinitialisation also kills it, so that no error path leaves it running.
package final class ChildProcess {
    package let number: Int32
    /// Its standard output and standard error. Does not block.
    private let output: Descriptor
    private var status: Int32?

    /// Starts a program on `processors`; an empty list means those of the calling thread.
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

    /// Returns the output since the last call: empty if there is none, nil once both outputs are closed.
    package func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let fd = self.output.number
        let count = SystemCall.result("read of a pipe") { Glibc.read(fd, &bytes, bytes.count) }
        if count == 0 { return nil }
        return count > 0 ? Array(bytes[..<count]) : []
    }

    /// Waits for output, for closed outputs, or until the time is over.
    package func waitForOutput(milliseconds: Int) {
        var poll = pollfd(fd: self.output.number, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&poll, 1, Int32(clamping: milliseconds))
    }

    /// Its exit status, 128 plus the signal that killed it, or nil while it runs.
    package func hasEnded() -> Int32? { self.wait(WNOHANG) }

    /// Requests termination with SIGTERM.
    package func terminate() {
        guard self.hasEnded() == nil else { return }
        _ = Glibc.kill(self.number, SIGTERM)
    }

    /// Kills it and waits until it has exited.
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
