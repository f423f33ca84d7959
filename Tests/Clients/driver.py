"""What the cases of the conformance trial share: an agent as a process, its streams, and a proxy that breaks connections."""
import contextlib
import itertools
import json
import socket
import subprocess
import threading

from waiting import PATIENCE_SECONDS, until


class Refused(Exception):
    """A call that ended with an error, as the agent describes it."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.error = error


class Agent:
    """A client in its own process. Each command gets one answer; streams report by their names."""

    def __init__(self, command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.answers, self.reports, self.log = {}, {}, []
        self.changed, self.numbers = threading.Condition(), itertools.count(1)
        for target in (self.read, self.listen):
            threading.Thread(target=target, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            found = json.loads(line)
            with self.changed:
                if "watch" in found:
                    self.reports[found["watch"]].append(found)
                else:
                    self.answers[found["id"]] = found
                self.changed.notify_all()
        self.process.wait()  # Before the last notice, because a wait asks whether the agent still runs.
        with self.changed:
            self.changed.notify_all()

    def listen(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip())

    def wait(self, holds, what):
        with self.changed:
            self.changed.wait_for(lambda: holds() or self.process.poll() is not None, PATIENCE_SECONDS)
            assert holds(), f"{what} never came; the agent said {self.log[-8:]}"

    def logged(self, text, since, count=1):
        """Waits for lines in the agent's own log, after so many others."""
        until(lambda: sum(text in line for line in self.log[since:]) >= count or self.process.poll() is not None, text)

    def begin(self, do, **command):
        """Sends a command; `end` waits for its answer."""
        number = next(self.numbers)
        self.process.stdin.write(json.dumps({"id": number, "do": do, **command}) + "\n")
        self.process.stdin.flush()
        return number

    def end(self, number):
        self.wait(lambda: number in self.answers, "the answer of a command")
        found = self.answers.pop(number)
        if "error" in found:
            raise Refused(found["error"])
        return found["answer"]

    def ask(self, do, **command):
        return self.end(self.begin(do, **command))

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()


class Client:
    """A client of an agent."""

    names = itertools.count(1)

    def __init__(self, agent, url, **options):
        self.agent, self.name = agent, f"client-{next(Client.names)}"
        agent.ask("open", client=self.name, url=url, **options)

    def call(self, method, timeout=None, **request):
        more = {} if timeout is None else {"timeout": timeout}
        return self.agent.ask("call", client=self.name, method=method, request=request, **more)

    def begin(self, method, **request):
        return self.agent.begin("call", client=self.name, method=method, request=request)

    def watch(self, method, request, **more):
        return Stream(self, "watch", method=method, request=request, **more)

    def events(self, method, request, **more):
        return Stream(self, "events", method=method, request=request, **more)

    def copy(self, **more):
        return Copy(self, **more)

    def together(self, **watches):
        return Stream(self, "together", watches={name: {"method": each[0], "request": each[1]} for name, each in watches.items()})

    def refused(self, method, timeout=None, **request):
        """The error of a call that has to end with one."""
        try:
            answer = self.call(method, timeout, **request)
        except Refused as refused:
            return refused.error
        raise AssertionError(f"{method} was answered with {answer}")

    def close(self):
        self.agent.ask("close", client=self.name)


class Stream:
    """A stream of a client: its reports in order."""

    names = itertools.count(1)

    def __init__(self, client, do, **command):
        self.agent, self.name, self.taken = client.agent, f"stream-{next(Stream.names)}", 0
        self.agent.reports[self.name] = []
        self.agent.ask(do, client=client.name, watch=self.name, **command)

    def next(self, what="a report"):
        reports = self.agent.reports[self.name]
        self.agent.wait(lambda: len(reports) > self.taken, f"{what} of {self.name}")
        self.taken += 1
        return reports[self.taken - 1]

    def value(self, key="value"):
        found = self.next(f"'{key}'")
        assert key in found, f"{found} came, not '{key}'"
        return found[key]

    def until(self, holds, key="value"):
        """The first value for which that holds, and the number of values up to it."""
        for count in itertools.count(1):
            found = self.value(key)
            if holds(found):
                return found, count

    def do(self, do):
        self.agent.ask(do, watch=self.name)


class Copy:
    """A copy of a client. Its changes are reports, in order."""

    names = itertools.count(1)

    def __init__(self, client, is_ready=True, **command):
        self.agent, self.name, self.taken = client.agent, f"copy-{next(Copy.names)}", 0
        self.agent.reports[self.name] = []
        self.agent.ask("copy", client=client.name, copy=self.name, **command)
        if is_ready:
            self.do("ready", timeout=PATIENCE_SECONDS)

    def do(self, do, **more):
        return self.agent.ask(do, copy=self.name, **more)

    def refused(self, do, **more):
        try:
            answer = self.do(do, **more)
        except Refused as refused:
            return refused.error
        raise AssertionError(f"{do} was answered with {answer}")

    def has(self, account, name="plus"):
        return self.do("has", account=account, name=name)["has"]

    def held(self, account):
        return self.do("held", account=account)["held"]

    def reach(self, answer):
        """Waits until the copy has what a call has changed; answers that call's answer."""
        self.do("reach", position=answer["position"], timeout=PATIENCE_SECONDS)
        return answer

    def gate(self, do):
        """`hold`: the next callback does not return until `go`."""
        self.agent.ask(do, watch=self.name)

    def changes(self, count):
        """The next changes: account, names before, names after."""
        reports = self.agent.reports[self.name]
        self.agent.wait(lambda: len(reports) >= self.taken + count, f"{count} changes of {self.name}")
        found = reports[self.taken:self.taken + count]
        self.taken += count
        return [(each["change"], each["before"], each["after"]) for each in found]


class Proxy:
    """Stands before a server, and breaks what passes: `pass`, `lose` (the answer is dropped, and the connection ends), `mute` (the
    answer is dropped, and nothing ends), `refuse` (connections end at once), or bytes that it answers itself. `renamed`: a path that
    the server gets under another name, so that it is one without that method."""

    def __init__(self, port, mode="pass", renamed=None):
        self.port, self.mode, self.requests, self.renamed = port, mode, 0, renamed
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.open, self.silent = [], set()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(plain)
            threading.Thread(target=self.carry, args=(plain,), daemon=True).start()

    def carry(self, plain):
        with contextlib.suppress(OSError), plain:
            if self.mode == "refuse":
                return
            if isinstance(self.mode, bytes):
                plain.recv(65_536)
                self.requests += 1
                plain.sendall(self.mode)
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            self.open.append(server)
            threading.Thread(target=self.back, args=(server, plain), daemon=True).start()
            while data := plain.recv(65_536):
                self.requests += 1
                server.sendall(data.replace(*self.renamed) if self.renamed else data)

    def back(self, server, plain):
        with contextlib.suppress(OSError), server, plain:
            while data := server.recv(65_536):
                if self.mode == "lose":
                    break
                if self.mode != "mute" and server not in self.silent:
                    plain.sendall(data)
            plain.shutdown(socket.SHUT_RDWR)

    def silence(self):
        """Nothing passes any more on the connections that are open now, and none of them ends."""
        self.silent.update(self.open)

    def cut(self):
        """Ends every connection, and each new one."""
        self.mode = "refuse"
        for each in self.open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in (self.listener, *self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
