"""Checks that are counted, and a client of perch/1 that keeps frames apart."""
import contextlib

import client
from client import BEAT, DRAIN, MESSAGE, PING, PONG, STATUS
from waiting import PATIENCE_SECONDS

passed, failed = [], []
reasons = {}  # Of the failed checks.


def fail(name, error):
    failed.append(name)
    reasons[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:4000]}"
    print(f"FAILED  {name}: {reasons[name]}", flush=True)


def summary(what):
    """The end of a program's output: the numbers, and each failed check once more, as a reader may see only the last lines."""
    print(f"{what}: {len(passed)} checks passed, {len(failed)} failed", flush=True)
    for name in failed:
        print(f"FAILED  {name}: {(reasons.get(name) or str())[:600]}", flush=True)
    return 1 if failed else 0


def expect(holds, what):
    """One check whose result is there already."""
    if not holds:
        failed.append(what)
    else:
        passed.append(what)
    print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)


@contextlib.contextmanager
def check(name):
    """One check: a line that says whether it held, and why not."""
    try:
        yield
    except Exception as error:  # A failed check must not hide the others, whatever it failed with.
        fail(name, error)
    else:
        passed.append(name)
        print(f"ok      {name}", flush=True)


def equal(found, wanted, what="it"):
    assert found == wanted, f"{what} is {found!r}, not {wanted!r}"


class Peer(client.Client):
    """A client that waits for one thing and keeps the frames that come before it, in order, for whoever wants them."""

    def __init__(self, address, contract, timeout=PATIENCE_SECONDS):
        super().__init__(address, contract)
        self.socket.settimeout(timeout)
        self.early = []

    def read(self):
        """A server that has to delay a BEAT sends a PING at its time, which is no news and gets its PONG."""
        while (frame := super().read()) and frame.kind == PING:
            with contextlib.suppress(OSError):  # A server that is gone is found by the next read.
                self.send(PONG, 0, frame.message)
        return frame

    def next(self):
        """The next frame that nobody has taken."""
        return self.early.pop(0) if self.early else self.read()

    def until(self, wanted):
        """The next frame for which `wanted` holds; the others wait."""
        for index, frame in enumerate(self.early):
            if wanted(frame):
                return self.early.pop(index)
        while frame := self.read():
            if wanted(frame):
                return frame
            assert frame.kind != DRAIN, f"the server closes: {frame.message}"
            self.early.append(frame)
        raise AssertionError("the server closed")

    def end(self, stream):
        """The messages of a call and the status that ends it."""
        messages = []
        while True:
            frame = self.until(lambda f: f.stream == stream and f.kind in (MESSAGE, STATUS))
            if frame.kind == STATUS:
                return messages, frame.message
            messages.append(frame.message)

    def ask(self, path, **request):
        """A unary call that succeeds."""
        messages, status = self.end(self.call(path, **request))
        equal((status.code, status.reason, len(messages)), (0, "", 1), "the answer's code, reason, number")
        return messages[0]

    def message_of(self, stream):
        """The next message of a stream."""
        frame = self.until(lambda f: f.stream == stream and f.kind in (MESSAGE, STATUS))
        assert frame.kind == MESSAGE, f"the call ended: {frame.message}"
        return frame.message

    def group(self, revision):
        """All frames with values up to the beat that says this revision, by stream."""
        values = {}
        while frame := self.next():
            if frame.kind == BEAT and frame.message.revision >= revision:
                return values
            assert frame.kind in (BEAT, MESSAGE), f"kind {frame.kind} came: {frame.message}"
            if frame.kind == MESSAGE:
                values.setdefault(frame.stream, []).append(frame)
        raise AssertionError("the server closed")

    def pushes(self):
        """What was sent until now and nobody took, heartbeats left out. PONG comes in order with everything else."""
        self.send(PING, 0, b"roundtrp")
        frame = self.until(lambda f: f.kind == PONG)
        equal(frame.message, b"roundtrp", "the PONG")
        frames, self.early = [f for f in self.early if f.kind != BEAT], []
        return frames

    def silent(self):
        frames = self.pushes()
        equal(frames, [], "what came")

    def drained(self, reason):
        """The server says why it closes, and then closes, so that it can be read."""
        while (frame := self.next()) and frame.kind != DRAIN:
            pass
        assert frame, "the server closed without a reason"
        equal(frame.message.reason, reason, "the reason")
        assert frame.message.final, "DRAIN is not final"
        assert frame.message.message, "DRAIN has no message"
        equal(self.read(), None, "what follows DRAIN")
        self.close()
        return frame.message

    def close(self):
        self.input.close()
        self.socket.close()


def detail(message, key):
    """A number of a status or drain."""
    values = [each.value for each in message.details if each.key == key]
    equal(len(values), 1, f"the number of details called {key}")
    return values[0]
