import Glibc
import PerchBase
import PerchClient
import PerchConsole

extension CommandRun {
    /// `perch console`: the address of a console that is there, with a code where there are credentials.
    func openConsole() async throws -> ExitCode {
        let server = self.settings.text("server") ?? ""
        let tls = try self.settings.tls(of: server)
        guard let timeout = self.settings.number("timeout") else { preconditionFailure("--timeout has no default") }
        try ConsoleProbe(server: server, tls: tls, timeoutMilliseconds: timeout).check()
        var address = "\(tls == nil ? "http" : "https")://\(server)\(ConsoleFiles.entrance)"
        if let path = self.settings.text("credentials-file") {
            let token = String(decoding: try self.readToken(path), as: UTF8.self)
            let code = try await self.withClient { try await $0.consoleCode(for: token) }
            address += "#code=\(code)"
        }
        try self.printer.print {
            $0.text("url", address)
        } text: { _ in
            [address]
        }
        guard self.settings.flag("open") else { return .success }
        return try self.open(address)
    }

    private func open(_ address: String) throws -> ExitCode {
        var child: pid_t = 0
        let words = ["xdg-open", address].map { (word: String) in strdup(word) }
        defer { for word in words { free(word) } }
        guard posix_spawnp(&child, "xdg-open", nil, nil, words + [nil], environ) == 0 else {
            throw CommandFailure(.failure, "xdg-open cannot be started; open the address by hand, or install xdg-utils")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? .success : .failure
    }
}
