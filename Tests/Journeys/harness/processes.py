"""A process with a log, ended by its own number."""
import pathlib
import signal
import subprocess
import threading

from .waiting import until


class Process:
    def __init__(self, command, log, **options):
        self.command, self.log, self.options = [str(word) for word in command], pathlib.Path(log), options
        self.process, self.lines = None, []

    @property
    def pid(self):
        return self.process.pid

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def spawn(self):
        """Starts the process. It need not be ready."""
        self.lines = []
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        **self.options)
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True)
        self.reader.start()

    def read(self, pipe, lines):
        with self.log.open("ab") as log, pipe:
            for line in pipe:
                log.write(line)
                log.flush()
                lines.append(line.decode(errors="replace").rstrip())
                self.heard(lines[-1])

    def heard(self, line):
        pass

    def kill(self):
        """As a crash: the process has no say in it."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.reader.join()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """SIGTERM. Returns the exit status."""
        self.signal(signal.SIGTERM)
        until(f"the end of {self.command[0]} after SIGTERM", lambda: not self.runs, lambda: self.lines[-5:])
        self.reader.join()
        return self.process.returncode

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)
