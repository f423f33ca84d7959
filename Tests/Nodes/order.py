"""The one order of an app's changes on several nodes: what time causes stands in it too, for every reader and of any node.

Enders buy subscriptions and switch their renewal off, so that each expires by time alone. Readers follow the changes: one keeps its
connection as long as its node lives, the others go to another node by cursor all the time. In the end each has the sequence of the replay.
"""
import random
import threading
import time

from client import MESSAGE, STATUS, Client
from waiting import PATIENCE_SECONDS
from wire import APP, READS, Caller, contract
from writers import AUTO_RENEW, PURCHASE, WEEKLY, operation, order

CHANGES = READS + "AppChanges"
EXPIRY = 5
CHECK = "every reader of changes, of any nodes, has the sequence of the replay"
READERS = 3
BATCH = 8


def name_of(change):
    """What must be the same for every reader."""
    return (change.cursor, change.account, change.cause, change.position.revision, change.position.as_of_ms)


class Ender(threading.Thread):
    """Makes accounts whose subscription expires by time alone, a period later: two seconds where nothing else is said."""

    def __init__(self, test, count, seconds, product=WEEKLY, prefix="ending"):
        super().__init__(name="ender", daemon=True)
        self.product, self.prefix = product, prefix
        self.test, self.count, self.pause, self.stopping = test, count, seconds * BATCH / max(1, count), threading.Event()
        self.made = 0

    def run(self):
        while self.made < self.count and not self.stopping.is_set():
            cycle = self.test.next_cycle()
            if cycle is None:
                return
            try:
                client = Caller(cycle.address, client_name="ender", heartbeat_seconds=600)
                client.socket.settimeout(15)
                while self.made < self.count and not self.stopping.is_set():
                    began = time.monotonic()
                    self.batch(client)
                    self.stopping.wait(max(0.0, self.pause - (time.monotonic() - began)))
            except (OSError, ConnectionError, ValueError):
                time.sleep(0.05)

    def batch(self, client):
        accounts = [f"{self.prefix}-{self.made + number}" for number in range(BATCH)]
        self.ask(client, PURCHASE, accounts, lambda account: order(account, self.product))
        self.ask(client, AUTO_RENEW.split()[0], accounts, lambda account: {
            "account": account, **operation(AUTO_RENEW, {"product_id": self.product}, enabled=False)})
        self.made += BATCH

    def ask(self, client, path, accounts, fields):
        """All at once. An account that was refused is left as it is: it renews, or is not there."""
        waiting = {client.call(path, app=APP, **fields(account)) for account in accounts}
        while waiting:
            frame = client.read()
            if frame is None:
                raise ConnectionError("the node has gone")
            if frame.kind == STATUS:
                waiting.discard(frame.stream)
                if frame.message.reason in ("STORE_UNREACHABLE", "SHUTTING_DOWN"):
                    raise ConnectionError(frame.message.message)


class ChangeReader(threading.Thread):
    def __init__(self, index, test, hops):
        super().__init__(name=f"reader {index}", daemon=True)
        self.test, self.hops, self.random = test, hops, random.Random(f"{test.seed} reader {index}")
        self.cursor, self.seen, self.stopping, self.connections = b"", [], threading.Event(), 0
        self.target = None

    @property
    def is_through(self):
        """It has come to the change that is the last of the run."""
        return self.target is not None and bool(self.seen) and self.seen[-1][3] >= self.target

    def run(self):
        while not self.stopping.is_set() and not self.is_through:
            cycle = self.test.next_cycle()
            if cycle is None:
                return
            # The version before has no such order.
            if cycle.node.is_old:
                continue
            try:
                self.read(cycle)
            except (OSError, ConnectionError, ValueError):
                time.sleep(0.05)

    def read(self, cycle):
        client = Client(cycle.address, contract())
        client.socket.settimeout(1 if not self.hops else self.random.uniform(0.3, 2))
        try:
            client.hello(client_name=self.name, heartbeat_seconds=600)
            self.connections += 1
            until = time.monotonic() + (self.random.uniform(0.5, 3) if self.hops else 1e9)
            # From the first change of all, so that every reader has the same.
            start = {"cursor": self.cursor} if self.cursor else {"from_oldest": True}
            stream, is_first = client.call(CHANGES, app=APP, **start), True
            while not self.stopping.is_set() and not self.is_through and time.monotonic() < until:
                try:
                    frame = client.read()
                except TimeoutError:
                    if self.hops or not cycle.node.is_up:
                        return
                    # A file over a socket that has timed out cannot be read any more.
                    return
                if frame is None:
                    return
                if frame.kind == STATUS and frame.stream == stream:
                    self.test.unreachable["changes " + frame.message.reason] += 1
                    time.sleep(0.05)
                    return
                if frame.kind != MESSAGE or frame.stream != stream or not frame.message.cursor:
                    continue
                change, first, is_first = frame.message, is_first, False
                self.cursor = change.cursor
                # The first message, and a marker, have a cursor only.
                if first or not change.cause and not change.account:
                    continue
                self.seen.append(name_of(change))
        finally:
            client.input.close()
            client.socket.close()


def check(test, readers, cycle, last):
    """`last`: the revision of a change of the app itself, which every reader has to come to."""
    replay = ChangeReader("replay", test, hops=False)
    replay.target = last
    for reader in readers:
        reader.target, reader.hops = last, False
    replay.start()
    for reader in readers + [replay]:
        # The replay of half an hour takes minutes. Only one that stands still has failed.
        came, until = -1, 0
        while reader.is_alive() and (len(reader.seen) > came or time.monotonic() < until):
            if len(reader.seen) > came:
                came, until = len(reader.seen), time.monotonic() + PATIENCE_SECONDS
            reader.join(0.5)
        if reader.is_alive():
            reader.stopping.set()
            test.broken(CHECK, f"{reader.name} did not come to revision {last}, and had no change for {PATIENCE_SECONDS} s: "
                               f"{reader.seen[-1:]}")
            return 0
    whole = replay.seen
    for reader in readers:
        test.looked(CHECK, len(reader.seen))
        if reader.seen != whole:
            place = next((place for place, pair in enumerate(zip(reader.seen, whole)) if pair[0] != pair[1]),
                         min(len(reader.seen), len(whole)))
            lost = len(set(whole) - set(reader.seen))
            test.broken(CHECK, f"{reader.name}: {len(reader.seen)} changes, the replay has {len(whole)}; {lost} of it are missing; at "
                               f"{place}: {reader.seen[place:place + 1]} and {whole[place:place + 1]}")
    return sum(1 for change in whole if change[2] == EXPIRY)
