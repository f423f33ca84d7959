"""A real `perch serve` on a store directory, which can be killed and started again on the same port."""

import os
import signal
import socket
import subprocess
import time


class Server:
    def __init__(self, perch, directory, port, catalogue, clock):
        self.perch, self.directory, self.address = perch, directory, ("127.0.0.1", port)
        self.catalogue, self.clock = catalogue, clock
        self.process = None
        self.starts = 0

    def start(self):
        """Starts the process. Only the first start names a catalogue: afterwards the store has its own."""
        command = [self.perch, "serve", "--with-parent", "--listen", "%s:%d" % self.address]
        command += ["--store", os.path.join(self.directory, "store"), "--log-format", "json"]
        command += ["--calls-per-second", "0", "--connects-per-second", "0"]
        if self.starts == 0:
            command += ["--catalog", self.catalogue, "--clock", self.clock]
        self.starts += 1
        with open(os.path.join(self.directory, "server.log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def listens(self):
        try:
            socket.create_connection(self.address, timeout=1).close()
            return True
        except OSError:
            return False

    def wait_until_it_listens(self, seconds=300):
        end = time.monotonic() + seconds
        while not self.listens():
            if self.process.poll() is not None:
                raise RuntimeError(
                    f"perch serve ended with {self.process.returncode}: see {self.directory}/server.log"
                )
            if time.monotonic() > end:
                raise RuntimeError(
                    f"perch serve does not listen after {seconds} s: see {self.directory}/server.log"
                )
            time.sleep(0.01)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)

    def has_ended(self):
        return self.process.poll() is not None
