import Glibc
import PerchBase

/// The server of a scenario: a child process with a store in memory, whose clock is frozen at the scenario's start.
///
/// A process rather than a thread: it tests the program that people run, over the wire, and can be killed at any time.
/// It ends with this process.
final class ScenarioServer {
    /// Its address.
    let address: String
    private let process: pid_t
    private let lines: Int32
    private let directory: String

    /// Starts one and waits until it listens.
    init(start: Instant) throws(CommandFailure) {
        let directory = try Self.makeDirectory()
        let catalogue = directory + "/Empty.storekit"
        do throws(FileFault) {
            try Files.replace(catalogue, with: Array(Self.placeholder.utf8))
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CommandFailure(.failure, "no pipe: \(String(cString: strerror(errno)))") }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        defer { Glibc.close(ends[1]) }
        do throws(CommandFailure) {
            self.process = try Self.spawn(
                [
                    "serve", "--listen", "127.0.0.1:0", "--store", "memory", "--catalog", catalogue, "--clock",
                    start.description, "--loops", "1", "--with-parent",
                ], errors: ends[1], closing: ends[0])
        } catch {
            Glibc.close(ends[0])
            Self.remove(directory)
            throw error
        }
        Glibc.close(ends[1])
        ends[1] = -1
        self.lines = ends[0]
        self.directory = directory
        do throws(CommandFailure) {
            self.address = try Self.readAddress(ends[0])
        } catch {
            Self.end(self.process)
            Glibc.close(ends[0])
            Self.remove(directory)
            throw error
        }
    }

    deinit {
        Self.end(self.process)
        Glibc.close(self.lines)
        Self.remove(self.directory)
    }

    /// Its messages behind the first line: the reason if it ended.
    func lastWords() -> String {
        _ = fcntl(self.lines, F_SETFL, O_NONBLOCK)
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        let count = read(self.lines, &chunk, chunk.count)
        return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : ""
    }

    /// A server needs a catalogue before the scenario loads its own.
    private static let placeholder =
        #"{"identifier":"5CE7A210","version":{"major":4,"minor":0},"products":[{"productID":"perch.scenario.placeholder","type":"NonConsumable","displayPrice":"0.99","referenceName":"placeholder","localizations":[]}]}"#

    private static func makeDirectory() throws(CommandFailure) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/perch-scenario-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw CommandFailure(.failure, "no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        return String(cString: made)
    }

    private static func remove(_ directory: String) {
        unlink(directory + "/Empty.storekit")
        rmdir(directory)
    }

    private static func spawn(
        _ arguments: [String], errors: Int32, closing: Int32
    ) throws(CommandFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        posix_spawn_file_actions_addclose(&actions, closing)
        let program = "/proc/self/exe"
        // The tester's settings must not reach this server.
        let environment = Process.environment.filter { !$0.key.hasPrefix("PERCH_") }
            .map { "\($0.key)=\($0.value)" }.sorted()
        var argv = (["perch"] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer {
            for pointer in argv + envp { free(pointer) }
            argv.removeAll()
            envp.removeAll()
        }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, argv, envp)
        guard code == 0 else {
            throw CommandFailure(.failure, "a server could not be started: \(String(cString: strerror(code)))")
        }
        return process
    }

    /// From `perch: serving on ADDRESS (…`.
    private static func readAddress(_ descriptor: Int32) throws(CommandFailure) -> String {
        var text = ""
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { break }
            guard byte != UInt8(ascii: "\n") else {
                let marker = "serving on "
                if let range = text.firstRange(of: marker) {
                    return String(text[range.upperBound...].prefix { $0 != " " })
                }
                text += "\n"
                continue
            }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        throw CommandFailure(.failure, "the server for this scenario did not start: \(printable(text))")
    }

    private static func end(_ process: pid_t) {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
