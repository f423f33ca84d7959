"""Processes that trials start, end and measure from outside. Each is ended by its own number, never by name."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

from waiting import PATIENCE_SECONDS, free_port, until

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
SERVICE_OF = {method: service for file in (PROTO / "perch/v1").glob("*_service.proto")
              for service in re.findall(r"^service (\w+)", file.read_text(), re.M)
              for method in re.findall(r"^  rpc (\w+)", file.read_text(), re.M)}


def cpu_seconds(pid):
    """Of a process so far, without its children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Process:
    """A process whose lines go to a log. `variables` stand beside those of the trial; None takes one away."""

    def __init__(self, arguments, log, variables=None, **options):
        self.arguments, self.log, self.options = list(map(str, arguments)), pathlib.Path(log), options
        self.variables, self.process, self.lines = variables or {}, None, []

    @property
    def pid(self):
        return self.process.pid

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def spawn(self):
        """Starts the process. It is not ready yet."""
        self.hear_out()
        self.lines, self.began = [], time.perf_counter()
        variables = {name: value for name, value in (os.environ | self.variables).items() if value is not None}
        self.process = subprocess.Popen(list(map(str, self.command())), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=variables, **self.options)
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True)
        self.reader.start()
        return self

    def hear_out(self):
        """Waits for what a process that has ended said last, so that its end is not heard as of the next one."""
        if self.process and self.process.poll() is not None:
            self.reader.join(PATIENCE_SECONDS)

    def command(self):
        return self.arguments

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
            self.reader.join(PATIENCE_SECONDS)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, within=PATIENCE_SECONDS):
        """SIGTERM, and the exit status."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        finally:
            self.kill()

    def memory(self, field="VmRSS"):
        """Resident bytes; with VmHWM the most so far."""
        return int(re.search(rf"^{field}:\s+(\d+)", pathlib.Path(f"/proc/{self.pid}/status").read_text(), re.M)[1]) * 1024

    def forget_peak(self):
        """From now on VmHWM is the most since this call."""
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Server(Process):
    """`perch serve` on loopback, whose ports stay the same when it starts again. `more`: further words of its command line.

    A client that waits for a core may be silent for long, so the limits on silence before a HELLO are minutes. `http` and `apple` open
    those listeners, each on a port of its own. Calls of Connect go to `host`, with TLS if `authority` names the file of one.
    """

    greeting = re.compile(r"perch: serving on \S+?:(\d+)\b")
    host, authority, app = "127.0.0.1", None, None

    def __init__(self, perch, catalog, store, log, *more, port=0, bundle="com.example.app", time_rate=0, loops=2, http=False, apple=False,
                 **options):
        super().__init__([perch, "serve", *more, "--catalog", catalog, "--store", store, "--loops", loops,
                          "--hello-timeout", f"{PATIENCE_SECONDS}s", "--first-byte-timeout", f"{PATIENCE_SECONDS}s"], log, **options)
        self.perch, self.port, self.serving, self.ready_after = perch, port or free_port(), threading.Event(), None
        self.http_port, self.apple_port = http and free_port(), apple and free_port()
        for name, value in (("--bundle-id", bundle), ("--time-rate", time_rate), ("--http", http and f"127.0.0.1:{self.http_port}"),
                            ("--apple-listen", apple and f"127.0.0.1:{self.apple_port}")):
            if value is not None and value is not False:
                self.arguments += [name, str(value)]

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def store(self):
        return self.arguments[self.arguments.index("--store") + 1]

    @store.setter
    def store(self, store):
        self.arguments[self.arguments.index("--store") + 1] = str(store)

    def command(self):
        return [*self.arguments, "--listen", f"127.0.0.1:{self.port}"]

    def spawn(self):
        self.hear_out()
        self.serving, self.ready_after = threading.Event(), None
        return super().spawn()

    def heard(self, line):
        if (found := self.greeting.search(line)) and not self.serving.is_set():
            self.ready_after, self.port = time.perf_counter() - self.began, int(found[1])
            self.serving.set()

    def read(self, pipe, lines):
        super().read(pipe, lines)
        self.serving.set()  # It ended: nobody waits for the line any longer.

    def start(self, within=PATIENCE_SECONDS):
        """Starts the process and waits until it serves; answers the seconds that took."""
        self.spawn()
        self.serving.wait(within)
        if self.ready_after is None:
            self.kill()
            raise RuntimeError(f"the server did not say that it serves within {within} s; it said: {self.lines[-20:]}")
        return self.ready_after

    def restart(self):
        status = self.stop()
        self.start()
        return status

    # Its pages and calls

    def page(self, path):
        """Status and text of a page of the HTTP listener; (0, reason) where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", timeout=PATIENCE_SECONDS) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError as error:
            return 0, str(error)

    def metrics(self):
        """They are of all threads. Where one waits for a core for a second, the page says that instead, and is asked again."""
        def whole():
            status, text = self.page("/metrics")
            assert status in (200, 503), f"/metrics says {status}: {text}"
            return status == 200 and text.splitlines()

        lines = until(whole, "the metrics of all threads")
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}

    def metric(self, name):
        """The sum of a metric's series."""
        return sum(value for series, value in self.metrics().items() if series == name or series.startswith(name + "{"))

    def connect(self, port=None):
        if self.authority:
            return http.client.HTTPSConnection(self.host, port or self.port, timeout=PATIENCE_SECONDS,
                                               context=ssl.create_default_context(cafile=self.authority))
        return http.client.HTTPConnection(self.host, port or self.port, timeout=PATIENCE_SECONDS)

    def post(self, path, body, port=None, method="POST", headers=None, connection=None):
        """The status of an answer, and its JSON, or its text."""
        own = connection or self.connect(port)
        try:
            own.request(method, path, body if isinstance(body, (str, bytes, type(None))) else json.dumps(body),
                        headers or {"content-type": "application/json"})
            answer = own.getresponse()
            text = answer.read()
        finally:
            if not connection:
                own.close()
        with contextlib.suppress(ValueError):
            return answer.status, json.loads(text)
        return answer.status, text.decode(errors="replace")

    def call(self, method, /, token=None, **request):
        """Status and answer of a unary call of Connect. `app` is the server's own if it says none."""
        request = {name: value for name, value in ({"app": self.app} | request).items() if value is not None}
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        method = method.rpartition("/")[2]
        return self.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", request, headers=headers)

    def run(self, *arguments, text=None):
        """A command of `perch` against it, which waits for minutes and not for 10 s."""
        return subprocess.run([self.perch, *map(str, arguments), "--server", f"{self.host}:{self.port}"], input=text, capture_output=True, text=True,
                              env=os.environ | {"PERCH_TIMEOUT": f"{PATIENCE_SECONDS}s"}, timeout=PATIENCE_SECONDS + 60)
