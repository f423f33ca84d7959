"""Tests a real server under machine failures: see `machine`.

    machine.py PERCH DESCRIPTORS CATALOG DIRECTORY SHIM
"""
import contextlib
import mmap
import os
import pathlib
import resource
import struct
import sys
import time

from client import DRAIN, HELLO, MESSAGE, WELCOME, Client, Contract
from freezing import frozen
from server import Server
from waiting import PATIENCE_SECONDS, until
from writers import APP, COINS, PURCHASE, TRANSACTIONS, WEEKLY, Caller

UPDATES, LIST = TRANSACTIONS + "TransactionUpdates", TRANSACTIONS + "ListTransactions"
RATE = 1005  # Every period lasts two seconds.
TEN_MINUTES = 600 * 10**9


class Orders:
    """The orders that the shim in the server reads."""

    def __init__(self, path):
        path.write_bytes(bytes(24))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 24)

    def give(self, clock=0, syncs_fail=0, disk_is_full=0):
        self.memory[:] = struct.pack("=qqq", clock, syncs_fail, disk_is_full)


class Machine:
    def __init__(self, perch, descriptors, catalog, directory, shim):
        self.contract, self.directory = Contract(descriptors), pathlib.Path(directory)
        self.orders = Orders(self.directory / "orders")
        os.environ["PERCH_TEST_MACHINE"] = str(self.directory / "orders")
        self.server = Server(perch, catalog, self.directory / "store.db", self.directory / "server.log", time_rate=RATE)
        # Other child processes must not inherit this.
        self.server.arguments = ["env", f"LD_PRELOAD={shim}", *self.server.arguments]
        self.failures, self.bought = [], 0

    def expect(self, holds, what):
        print(f"{'ok  ' if holds else 'FAIL'}  {what}", flush=True)
        if not holds:
            self.failures.append(what)

    def caller(self):
        caller = Caller(self.server.address, self.contract)
        caller.socket.settimeout(PATIENCE_SECONDS)
        caller.welcome = caller.hello(client_name="machine", heartbeat_seconds=10)
        return caller

    def buy(self, caller, product=COINS, account="anna"):
        """Returns the answer and the status."""
        self.bought += 1
        return caller.ask(PURCHASE, app=APP, account=account, order={"product_id": product},
                          idempotency_key=f"machine-{self.bought}".encode())

    def events(self, cursor=b"", count=0):
        """So many events after a cursor as (revision, transaction) in order, and the last cursor. Without a cursor: none, and where
        new events begin."""
        client = Client(self.server.address, self.contract)
        client.socket.settimeout(PATIENCE_SECONDS)
        client.hello(client_name="machine", heartbeat_seconds=10)
        client.call(UPDATES, app=APP, account="anna", cursor=cursor)
        found, last = [], cursor
        while len(found) < count or not last:
            frame = client.read()
            if frame.kind == MESSAGE and frame.message.cursor:
                last = frame.message.cursor
                if frame.message.HasField("transaction"):
                    found.append((frame.message.revision, frame.message.transaction.transaction.id))
        client.socket.close()
        return found, last

    def listed(self, caller):
        """Every transaction of the account, by its number."""
        found, token = [], b""
        while True:
            page = caller.ask(LIST, app=APP, account="anna", include_finished_consumables=True, page_size=500,
                              page_token=token)[0]
            found += [item.transaction.id for item in page.transactions]
            token = page.next_page_token
            if not token:
                return found

    def run(self):
        self.server.start()
        try:
            self.stopped()
            self.clock_is_set()
            self.disk_is_full()
            self.no_descriptors()
            self.sync_fails()
        finally:
            self.server.kill()
        return not self.failures

    def stopped(self):
        caller = self.caller()
        self.buy(caller)
        _, cursor = self.events()
        self.buy(caller, WEEKLY)
        with frozen(self.server.pid):
            time.sleep(3)  # Longer than a period.
        answer, status = self.buy(caller)
        self.expect(status.code == 0, "a process that was stopped answers")
        found, _ = self.events(cursor, 3)
        revisions = [revision for revision, _ in found]
        self.expect(len(found) >= 3 and revisions == sorted(revisions) and len(set(found)) == len(found),
                    f"what was due meanwhile comes once each, in order: {len(found)} events")

    def clock_is_set(self):
        caller = self.caller()
        before = self.buy(caller)[0].position
        self.orders.give(clock=TEN_MINUTES)

        def set_forward():
            position = self.buy(caller)[0].position
            return position if position.as_of_ms >= before.as_of_ms + 590_000 else None

        ahead = until(set_forward, "a clock that is set forward is followed")
        self.orders.give(clock=-TEN_MINUTES)
        after, status = self.buy(caller)
        self.expect(status.code == 0 and after.position.as_of_ms >= ahead.as_of_ms and
                    after.position.revision > ahead.revision, "a clock that is set back stands, and the store goes on")
        self.server.kill()
        self.server.start()
        caller = self.caller()
        again = self.buy(caller)[0].position
        self.expect(again.as_of_ms >= after.position.as_of_ms, "a restart does not make it run backwards")
        self.orders.give()

    def disk_is_full(self):
        caller = self.caller()
        before = self.listed(caller)
        pid = self.server.pid
        self.orders.give(disk_is_full=1)
        refused = [self.buy(caller)[1].reason for _ in range(3)]
        self.expect(refused == ["STORE_FULL"] * 3, f"a full disk refuses writes: {refused}")
        self.expect(set(before) <= set(self.listed(caller)), "and answers reads")
        self.orders.give()

        def written():
            answer, status = self.buy(caller)
            return None if status.code else answer

        answer = until(written, "with room again it writes")
        self.expect(self.server.pid == pid and self.server.process.poll() is None, "with room again it writes, without a restart")
        self.expect(set(before) | {answer.transaction.transaction.id} <= set(self.listed(caller)),
                    "and nothing that was acknowledged is missing")
        # A clean stop moves the log into the file, so a start that writes needs free space at once.
        self.expect(self.server.stop() == 0, "it ends when it is told to")
        self.orders.give(disk_is_full=1)
        self.server.start()
        caller = self.caller()
        self.expect(set(before) <= set(self.listed(caller)) and self.buy(caller)[1].reason == "STORE_FULL",
                    "a start without room serves what there is")
        self.orders.give()
        until(lambda: self.buy(caller)[1].code == 0, "it writes once there is room")

    def no_descriptors(self):
        caller = self.caller()
        limit = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        held = len(os.listdir(f"/proc/{self.server.pid}/fd"))
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (held + 5, limit[1]))
        taken, told = [], 0
        for _ in range(15):
            guest = Client(self.server.address, self.contract)
            guest.socket.settimeout(PATIENCE_SECONDS)
            with contextlib.suppress(OSError):  # It may be closed already, and still hold a farewell.
                guest.send(HELLO, 0, self.contract.message("perch.wire.v1.Hello")(protocol_version=1))
            try:
                welcome = guest.read()
            except OSError:
                welcome = None  # Closed before a WELCOME.
            if welcome and welcome.kind == WELCOME:
                taken.append(guest)
            elif welcome and welcome.kind == DRAIN:
                reason = welcome.message.reason
                self.expect(reason == "CONNECTION_LIMIT", f"it is told why: {reason}")
                told += 1
        self.expect(0 < len(taken) < 15, f"{len(taken)} of 15 find a descriptor, the others are let go")
        # A HELLO that arrives after the close can hide the farewell, so not every client reads it.
        self.expect(told > 0, f"{told} of them read why")
        self.expect(self.buy(caller)[1].code == 0, "without descriptors those who are connected are served")
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, limit)
        for guest in taken:
            guest.socket.close()

        def served():
            with contextlib.suppress(OSError):
                return self.buy(self.caller())[1].code == 0

        until(served, "with descriptors again others are served too")

    def sync_fails(self):
        caller = self.caller()
        acknowledged = self.listed(caller)
        self.orders.give(syncs_fail=1)
        answers = []
        try:
            for _ in range(20):
                answers.append(self.buy(caller)[1].reason)
        except (ConnectionError, OSError):
            pass
        code = self.server.process.wait(PATIENCE_SECONDS)
        self.expect("" not in answers, f"nothing is acknowledged after a sync failed: {sorted(set(answers))}")
        self.expect(code != 0, f"the process ends with {code}")
        self.server.kill()
        self.orders.give()
        self.server.start()
        caller = self.caller()
        self.expect(set(acknowledged) <= set(self.listed(caller)) and self.buy(caller)[1].code == 0,
                    "the next one has everything that was acknowledged, and goes on")
        self.expect(self.server.stop() == 0, "and ends when it is told to")


if __name__ == "__main__":
    machine = Machine(*sys.argv[1:])
    sys.exit(0 if machine.run() else 1)
