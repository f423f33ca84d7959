"""A server as a process of its own, for tests that begin, kill and measure it from outside."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from waiting import PATIENCE_SECONDS, free_port

SERVING = re.compile(r"perch: serving on (127\.0\.0\.1):(\d+)")


def cpu_seconds(pid):
    """Of a process so far, without its children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Server:
    """`perch serve` on loopback. Its lines go to a log; ended by its own process number, never by name. A client that waits for a core
    may be silent for long, so the limits on silence before a HELLO are minutes."""

    def __init__(self, perch, catalog, store, log, port=0, bundle="com.example.app", time_rate=0, loops=2):
        self.arguments = [str(perch), "serve", "--catalog", str(catalog), "--bundle-id", bundle, "--store", str(store),
                          "--time-rate", str(time_rate), "--loops", str(loops),
                          "--hello-timeout", f"{PATIENCE_SECONDS}s", "--first-byte-timeout", f"{PATIENCE_SECONDS}s", "--listen"]
        self.log, self.port, self.process = pathlib.Path(log), port or free_port(), None

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def pid(self):
        return self.process.pid

    def spawn(self):
        """Starts the process. It is not ready yet."""
        self.serving, self.ready_after, self.lines = threading.Event(), None, []
        self.began = time.perf_counter()
        self.process = subprocess.Popen(self.arguments + [f"127.0.0.1:{self.port}"], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def read(self, pipe):
        with self.log.open("ab") as log, pipe:
            for line in pipe:
                now = time.perf_counter()
                log.write(line)
                log.flush()
                text = line.decode(errors="replace")
                self.lines.append(text.rstrip())
                if (found := SERVING.search(text)) and not self.serving.is_set():
                    self.ready_after, self.port = now - self.began, int(found[2])
                    self.serving.set()
        self.serving.set()  # It ended: nobody waits for the line any longer.

    def start(self, within=PATIENCE_SECONDS):
        """Starts the process and waits until it serves; answers the seconds that took."""
        self.spawn()
        self.serving.wait(within)
        if self.ready_after is None:
            self.kill()
            raise RuntimeError(f"the server did not say that it serves within {within} s; it said: {self.lines[-20:]}")
        return self.ready_after

    def kill(self):
        """As a crash: the process has no say in it."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.reader.join()

    def stop(self, within=PATIENCE_SECONDS):
        """SIGTERM, and the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        finally:
            self.kill()

    def memory(self):
        """Resident bytes."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f"/proc/{self.pid}/status has no VmRSS")
