import Glibc

/// Standard input as single keys, without echo. Ctrl-C stays a signal.
struct Keyboard {
    private let before: termios

    /// Nil where standard input is no terminal.
    init?() {
        var settings = termios()
        guard isatty(0) == 1, tcgetattr(0, &settings) == 0 else { return nil }
        self.before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-Z would leave the shell with a terminal in this mode.
        withUnsafeMutableBytes(of: &settings.c_cc) { $0[Int(VSUSP)] = 0 }
        guard tcsetattr(0, TCSANOW, &settings) == 0 else { return nil }
    }

    /// Restores the mode of the terminal.
    func restore() {
        var settings = self.before
        tcsetattr(0, TCSANOW, &settings)
    }

    /// Keys that were pressed since the last call. Never waits.
    func pressed() -> [BoardScreen.Key] {
        var state = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, 0) == 1, state.revents & Int16(POLLIN) != 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(0, &buffer, buffer.count)
        return count > 0 ? BoardScreen.Key.keys(in: Array(buffer[..<count])) : []
    }
}
