"""Tests a real server under machine failures: see `machine`."""
import contextlib
import os
import resource
import sys
import time

from checks import expect, failed
from client import DRAIN, HELLO, MESSAGE, WELCOME
from freezing import frozen
from machine import Machine
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from wire import APP, TRANSACTIONS, Caller, contract
from writers import COINS, PURCHASE, WEEKLY

UPDATES = TRANSACTIONS + "TransactionUpdates"
RATE = 1005  # Every period lasts two seconds.


class Trial:
    def __init__(self):
        self.machine = Machine(WORK / "machine")
        self.server = Server(PERCH, CATALOG, WORK / "store.db", WORK / "server.log", time_rate=RATE, variables=self.machine.variables)
        self.bought = 0

    def caller(self):
        return Caller(self.server.address, client_name="machine", heartbeat_seconds=10)

    def buy(self, caller, product=COINS, account="anna"):
        """Returns the answer and the status."""
        self.bought += 1
        return caller.ask(PURCHASE, app=APP, account=account, order={"product_id": product},
                          idempotency_key=f"machine-{self.bought}".encode())

    def events(self, cursor=b"", count=0):
        """So many events after a cursor as (revision, transaction) in order, and the last cursor. Without a cursor: none, and where
        new events begin."""
        client = self.caller()
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
        return [each.id for each in caller.transactions("anna")]

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
        return not failed

    def stopped(self):
        caller = self.caller()
        self.buy(caller)
        _, cursor = self.events()
        self.buy(caller, WEEKLY)
        with frozen(self.server.pid):
            time.sleep(3)  # Longer than a period.
        answer, status = self.buy(caller)
        expect(status.code == 0, "a process that was stopped answers")
        found, _ = self.events(cursor, 3)
        revisions = [revision for revision, _ in found]
        expect(len(found) >= 3 and revisions == sorted(revisions) and len(set(found)) == len(found),
                    f"what was due meanwhile comes once each, in order: {len(found)} events")

    def clock_is_set(self):
        caller = self.caller()
        before = self.buy(caller)[0].position
        self.machine.give(ahead=600)

        def set_forward():
            position = self.buy(caller)[0].position
            return position if position.as_of_ms >= before.as_of_ms + 590_000 else None

        ahead = until(set_forward, "a clock that is set forward is followed")
        self.machine.give(ahead=-600)
        after, status = self.buy(caller)
        expect(status.code == 0 and after.position.as_of_ms >= ahead.as_of_ms and
                    after.position.revision > ahead.revision, "a clock that is set back stands, and the store goes on")
        self.server.kill()
        self.server.start()
        caller = self.caller()
        again = self.buy(caller)[0].position
        expect(again.as_of_ms >= after.position.as_of_ms, "a restart does not make it run backwards")
        self.machine.give()

    def disk_is_full(self):
        caller = self.caller()
        before = self.listed(caller)
        pid = self.server.pid
        self.machine.give(disk_is_full=1)
        refused = [self.buy(caller)[1].reason for _ in range(3)]
        expect(refused == ["STORE_FULL"] * 3, f"a full disk refuses writes: {refused}")
        expect(set(before) <= set(self.listed(caller)), "and answers reads")
        self.machine.give()

        def written():
            answer, status = self.buy(caller)
            return None if status.code else answer

        answer = until(written, "with room again it writes")
        expect(self.server.pid == pid and self.server.process.poll() is None, "with room again it writes, without a restart")
        expect(set(before) | {answer.transaction.transaction.id} <= set(self.listed(caller)),
                    "and nothing that was acknowledged is missing")
        # A clean stop moves the log into the file, so a start that writes needs free space at once.
        expect(self.server.stop() == 0, "it ends when it is told to")
        self.machine.give(disk_is_full=1)
        self.server.start()
        caller = self.caller()
        expect(set(before) <= set(self.listed(caller)) and self.buy(caller)[1].reason == "STORE_FULL",
                    "a start without room serves what there is")
        self.machine.give()
        until(lambda: self.buy(caller)[1].code == 0, "it writes once there is room")

    def no_descriptors(self):
        caller = self.caller()
        limit = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)
        held = len(os.listdir(f"/proc/{self.server.pid}/fd"))
        resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE, (held + 5, limit[1]))
        taken, told = [], 0
        for _ in range(15):
            guest = Caller(self.server.address)
            with contextlib.suppress(OSError):  # It may be closed already, and still hold a farewell.
                guest.send(HELLO, 0, contract().message("perch.wire.v1.Hello")(protocol_version=1))
            try:
                welcome = guest.read()
            except OSError:
                welcome = None  # Closed before a WELCOME.
            if welcome and welcome.kind == WELCOME:
                taken.append(guest)
            elif welcome and welcome.kind == DRAIN:
                reason = welcome.message.reason
                expect(reason == "CONNECTION_LIMIT", f"it is told why: {reason}")
                told += 1
        expect(0 < len(taken) < 15, f"{len(taken)} of 15 find a descriptor, the others are let go")
        # A HELLO that arrives after the close can hide the farewell, so not every client reads it.
        expect(told > 0, f"{told} of them read why")
        expect(self.buy(caller)[1].code == 0, "without descriptors those who are connected are served")
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
        self.machine.give(syncs_fail=1)
        answers = []
        try:
            for _ in range(20):
                answers.append(self.buy(caller)[1].reason)
        except (ConnectionError, OSError):
            pass
        code = self.server.process.wait(PATIENCE_SECONDS)
        expect("" not in answers, f"nothing is acknowledged after a sync failed: {sorted(set(answers))}")
        expect(code != 0, f"the process ends with {code}")
        self.server.kill()
        self.machine.give()
        self.server.start()
        caller = self.caller()
        expect(set(acknowledged) <= set(self.listed(caller)) and self.buy(caller)[1].code == 0,
                    "the next one has everything that was acknowledged, and goes on")
        expect(self.server.stop() == 0, "and ends when it is told to")


if __name__ == "__main__":
    sys.exit(0 if Trial().run() else 1)
