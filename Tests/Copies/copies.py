"""A copy of an app's entitlements, as the contract describes it and no more."""
import threading
import time
import zlib

from client import BEAT, MESSAGE, STATUS, Client
from wire import APP, READS, contract

COPY = READS + "AppEntitlements"


def parts(ends):
    """The ranges that a column of ends divides another column into."""
    return zip([0, *ends], ends)


class Copy(threading.Thread):
    """Reads on over all lives of the servers, from its newest token. `address()` is that of the next."""

    def __init__(self, address, shard=0, shard_count=1, app=APP):
        super().__init__(daemon=True)
        self.app = app
        self.address, self.shard, self.shard_count = address, shard, shard_count
        self.entries, self.aliases, self.grades = {}, {}, []
        self.building, self.clock, self.token, self.position = None, None, b"", None
        self.copies = self.resumed = self.batches = 0
        # The revision up to which everything has been said. A beat before this call's first message says nothing of it.
        self.passed, self.has_begun = 0, False
        self.reading, self.forgets, self.faults = True, False, []
        self.lock, self.client = threading.Lock(), None

    def run(self):
        while self.reading:
            try:
                self.client = Client(self.address(), contract())
                self.client.hello(heartbeat_seconds=1)
                with self.lock:
                    self.building, token, self.forgets = None, b"" if self.forgets else self.token, False
                stream = self.client.call(COPY, app=self.app, resume_token=token, shard=self.shard, shard_count=self.shard_count)
                while self.reading and (frame := self.client.read()):
                    with self.lock:
                        if frame.kind == MESSAGE and frame.stream == stream:
                            self.take(frame.message)
                        elif frame.kind == BEAT and self.has_begun:
                            self.passed = max(self.passed, frame.message.revision)
                        elif frame.kind == STATUS:
                            if frame.message.reason not in ("SHUTTING_DOWN", "STORE_UNREACHABLE"):
                                self.faults.append(f"the call ended with {frame.message.reason}: {frame.message.message}")
                            break
            except (OSError, ConnectionError):
                time.sleep(0.02)
            finally:
                self.passed, self.has_begun = 0, False
                if self.client:
                    self.client.input.close()
                    self.client.socket.close()

    def forget(self):
        """The next call begins without a token, and comes now."""
        self.forgets = True
        self.leave()

    def leave(self):
        try:
            self.client.socket.shutdown(2)
        except (OSError, AttributeError):
            pass

    def take(self, part):
        kind = part.WhichOneof("part")
        if kind == "begin":
            self.has_begun = True
            self.grades, self.clock = [(grade.name, grade.tier) for grade in part.begin.grades], part.begin.clock
            if part.begin.resumed:
                self.resumed += 1
            else:
                self.building = ({}, {})
        elif kind == "accounts":
            self.batches += 1
            batch = part.accounts
            self.apply(batch, *(self.building or (self.entries, self.aliases)))
            if batch.HasField("clock"):
                self.clock = batch.clock
            if self.building is None:
                self.move(batch)
            elif batch.resume_token or batch.HasField("position"):
                self.faults.append("a batch of a copy that is not complete has a position")
        elif kind == "end":
            (self.entries, self.aliases), self.building = self.building, None
            self.copies += 1
            self.move(part.end)

    def move(self, place):
        at = (place.position.epoch, place.position.revision, place.position.as_of_ms)
        if self.position and at < self.position:
            self.faults.append(f"the position went from {self.position} to {at}")
        self.position, self.token = at, place.resume_token

    def apply(self, batch, entries, aliases):
        grades = self.grades + [(grade.name, grade.tier) for grade in batch.more_grades]
        names = [batch.keys[begin:end].decode() for begin, end in parts(batch.key_ends)]
        others = [[] for _ in names]
        for place, (begin, end) in zip(batch.alias_accounts, parts(batch.alias_ends)):
            others[place].append(batch.aliases[begin:end].decode())
        for name, more, (begin, end) in zip(names, others, parts(batch.segment_ends)):
            if zlib.crc32(name.encode()) % self.shard_count != self.shard:
                self.faults.append(f"{name} is of another shard")
            for alias in [alias for alias in entries.get(name, ((), ()))[1] if aliases.get(alias) == name]:
                del aliases[alias]
            segments = [(grades[batch.grades[at]], batch.untils[at], batch.reasons[at]) for at in range(begin, end)]
            if segments:
                entries[name] = (segments, more)
                aliases.update((alias, name) for alias in more)
            else:
                entries.pop(name, None)

    def has(self, name, now):
        """The names of an account at an instant of the app's clock, each with its tier."""
        found, entry = {}, self.entries.get(name) or self.entries.get(self.aliases.get(name))
        for (called, tier), until, reason in entry[0] if entry else []:
            if until > now and called not in found:
                found[called] = tier if reason else None
        return {called: tier for called, tier in found.items() if tier is not None}
