"""`perch serve` as production runs it: with settings by name, and with its socket held for it."""
import pathlib
import re
import signal
import socket

import server
from waiting import free_port


def options(settings):
    """`http="on"` is `--http on`; True is an option without a value; None and False are left out."""
    words = []
    for name, value in settings.items():
        if value is not None and value is not False:
            words += ["--" + name.replace("_", "-")] + ([value] if value is not True else [])
    return words


# Process ID and descriptor, as a service manager hands over a socket.
HAND_OVER = 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=perch exec "$@"'


class Server(server.Server):
    """Its ports stay the same when it starts again. With `holds_socket` its port stays open meanwhile, as `perch.socket` does it."""

    def __init__(self, perch, log, holds_socket=False, **settings):
        # What it has shown, as it remembers it.
        self.state = pathlib.Path(log).with_suffix(".state")
        server.Process.__init__(self, [], log, variables={"STATE_DIRECTORY": str(self.state)})
        self.perch, self.socket, self.ready_after = perch, None, None
        self.port, self.http_port, self.apple_port = free_port(), free_port(), free_port()
        self.settings = {"listen": f"127.0.0.1:{self.port}", "http": f"127.0.0.1:{self.http_port}"} | settings
        if "apple_apps" in settings:
            self.settings.setdefault("apple_listen", f"127.0.0.1:{self.apple_port}")
        self.greeting = re.compile(rf"perch: serving on 127\.0\.0\.1:({self.port})\b")
        if holds_socket:
            self.socket = socket.create_server(("127.0.0.1", self.port), backlog=4096)
            self.options["pass_fds"] = [self.socket.fileno()]

    def command(self):
        command = [self.perch, "serve", *options(self.settings)]
        return ["bash", "-c", HAND_OVER, "bash", self.socket.fileno(), *command] if self.socket else command

    @property
    def serves(self):
        return self.ready_after is not None

    @property
    def is_ready(self):
        return self.page("/readyz")[0] == 200

    def restart(self, perch=None):
        """SIGTERM, and then this program again, or another one."""
        status = self.stop()
        self.perch = perch or self.perch
        self.start()
        return status

    def close(self):
        if self.runs:
            self.signal(signal.SIGCONT)
        self.kill()
