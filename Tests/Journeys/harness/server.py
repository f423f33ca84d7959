"""`perch serve` as a process, with its ports, metrics and log."""
import json
import os
import pathlib
import re
import socket
import urllib.error
import urllib.request

from .ports import free_port
from .processes import Process
from .waiting import until


def options(settings):
    """`http="on"` is `--http on`; True is an option without a value; None and False are left out."""
    words = []
    for name, value in settings.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


# Process ID and descriptor, as a service manager hands over a socket.
HAND_OVER = 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=perch exec "$@"'


class Server(Process):
    """Its ports stay the same when it starts again. With `holds_socket` its port stays open meanwhile, as `perch.socket` does it."""

    def __init__(self, perch, log, holds_socket=False, **settings):
        self.perch, self.socket = pathlib.Path(perch), None
        self.port, self.http_port, self.apple_port = free_port(), free_port(), free_port()
        self.settings = {"listen": f"127.0.0.1:{self.port}", "http": f"127.0.0.1:{self.http_port}"} | settings
        if "apple_apps" in settings:
            self.settings.setdefault("apple_listen", f"127.0.0.1:{self.apple_port}")
        if holds_socket:
            self.socket = socket.create_server(("127.0.0.1", self.port), backlog=4096)
        self.greeting = re.compile(rf"perch: serving on 127\.0\.0\.1:{self.port}\b")
        self.serves = False
        # What it has shown, as it remembers it.
        self.state = pathlib.Path(log).with_suffix(".state")
        super().__init__([], log, env=os.environ | {"STATE_DIRECTORY": str(self.state)})

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def spawn(self):
        self.command = [str(self.perch), "serve", *options(self.settings)]
        if self.socket:
            self.command = ["bash", "-c", HAND_OVER, "bash", str(self.socket.fileno()), *self.command]
            self.options["pass_fds"] = [self.socket.fileno()]
        self.serves = False
        super().spawn()

    def heard(self, line):
        if self.greeting.search(line):
            self.serves = True

    def start(self):
        """Starts the process and waits until it serves."""
        self.spawn()
        until("a server that serves, or ends", lambda: self.serves or not self.runs, lambda: self.lines[-10:])
        if not self.serves:
            self.reader.join()
            raise RuntimeError(f"the server ended with {self.process.returncode} instead of serving: {self.lines[-10:]}")
        return self

    def restart(self, perch=None):
        """SIGTERM, and then this program again, or another one."""
        status = self.stop()
        self.perch = pathlib.Path(perch or self.perch)
        self.start()
        return status

    def page(self, path):
        """Status and text of a page of the HTTP listener; (0, reason) where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", timeout=20) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError as error:
            return 0, str(error)

    @property
    def is_ready(self):
        return self.page("/readyz")[0] == 200

    def status(self):
        return json.loads(self.page("/status")[1])

    def metrics(self):
        return {name: float(value) for name, value in (
            line.rsplit(" ", 1) for line in self.page("/metrics")[1].splitlines() if line and line[0] != "#")}

    def metric(self, name):
        """The sum of a metric's series."""
        return sum(value for series, value in self.metrics().items() if series == name or series.startswith(name + "{"))

    def memory(self):
        """Resident bytes."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f"/proc/{self.pid}/status has no VmRSS")

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.pid}/fd").iterdir()))
