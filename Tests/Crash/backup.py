"""Copies a server's store under writes, and starts another server with the copy: see `backup`.

    backup.py ACCOUNTS WRITES_PER_SECOND
"""
import json
import random
import statistics
import subprocess
import sys
import threading
import time

from checks import expect, failed
from client import MESSAGE, STATUS
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import until
from wire import APP, READS, TRANSACTIONS, Caller
from writers import COINS, PURCHASE

UPDATES, WATCH = TRANSACTIONS + "TransactionUpdates", READS + "CurrentEntitlementTask"
YEARLY = "com.example.yearly"
WRITERS = 4


class Writer(threading.Thread):
    """Buys for its own accounts at a steady rate, and records each answer's revision and latency."""

    def __init__(self, server, index, rate):
        super().__init__(daemon=True)
        self.caller = Caller(server.address, client_name="backup")
        self.index, self.pause, self.done = index, WRITERS / rate, threading.Event()
        self.bought, self.took, self.wrong = [], [], []

    def run(self):
        began, number = time.perf_counter(), 0
        while not self.done.is_set():
            self.done.wait(max(0, began + number * self.pause - time.perf_counter()))
            asked = time.perf_counter()
            answer, status = self.caller.ask(
                PURCHASE, app=APP, account=f"buyer-{self.index}-{number % 5}", order={"product_id": COINS},
                idempotency_key=f"{self.index}-{number}".encode())
            self.took.append((asked, time.perf_counter() - asked))
            if status.code:
                self.wrong.append(status.reason)
            else:
                self.bought.append((answer.position.revision, answer.transaction.transaction.id, number % 5))
            number += 1


def durations(took):
    """Formats latencies; empty for none, because a small store is copied between two purchases."""
    if not took:
        return ""
    took = sorted(took)
    return (f": p50 {statistics.median(took) * 1e3:.1f} ms, p99 {took[int(len(took) * 0.99)] * 1e3:.1f} ms, "
            f"longest {took[-1] * 1e3:.1f} ms")


class Trial:
    def __init__(self, accounts, rate):
        self.directory, self.accounts, self.rate = WORK, int(accounts), float(rate)

    def run_perch(self, *words):
        done = subprocess.run([PERCH, *map(str, words)], capture_output=True, text=True, timeout=900)
        return done.returncode, done.stdout, done.stderr

    def server(self, store):
        return Server(PERCH, CATALOG, store, self.directory / "server.log")

    def token(self, server):
        """A resume token of one account's entitlement, and a cursor of another account's transactions."""
        caller = Caller(server.address, client_name="backup")
        watch = caller.call(WATCH, app=APP, account="buyer-0-0", product_id=YEARLY)
        updates = caller.call(UPDATES, app=APP, account="buyer-0-0")
        cursor = b""
        while watch not in caller.tokens or not cursor:
            frame = caller.read()
            if frame.kind == MESSAGE and frame.stream == updates and frame.message.cursor:
                cursor = frame.message.cursor
        token = caller.tokens[watch]
        caller.close()
        return token, cursor

    def refusal(self, server, path, **request):
        """The reason code of a refused stream; None if it continues."""
        caller = Caller(server.address, client_name="backup")
        stream = caller.call(path, app=APP, account="buyer-0-0", **request)
        while frame := caller.read():
            if frame.kind == STATUS and frame.stream == stream:
                break
            if frame.kind == MESSAGE and frame.stream == stream:
                break
        caller.close()
        return frame.message.reason if frame.kind == STATUS else None

    def run(self):
        store, copy = self.directory / "store.db", self.directory / "copy.db"
        status, _, said = self.run_perch("store", "generate", store, "--catalog", CATALOG, "--accounts",
                                         self.accounts, "--bundle-id", APP["bundle_id"], "--product", YEARLY)
        if status:
            raise RuntimeError(said)
        server = self.server(store)
        server.start()
        writers = [Writer(server, index, self.rate) for index in range(WRITERS)]
        try:
            for writer in writers:
                writer.start()
            until(lambda: all(len(writer.took) >= 20 for writer in writers), "each writer bought twenty times")
            token, cursor = self.token(server)
            address = f"127.0.0.1:{server.port}"
            began = time.perf_counter()
            status, said, wrong = self.run_perch("backup", copy, "--server", address, "--timeout", "15m", "-o", "json")
            ended = time.perf_counter()
            until(lambda: all(writer.took[-1][0] > ended for writer in writers), "each writer bought after the backup")
            for writer in writers:
                writer.done.set()
            for writer in writers:
                writer.join()
            expect(status == 0, f"a backup under {self.rate:g} writes a second is made: {wrong.strip() or 'yes'}")
            if status:
                return False
            summary = json.loads(said)
            quiet = [took for w in writers for asked, took in w.took if asked + took < began]
            busy = [took for w in writers for asked, took in w.took if asked + took >= began and asked <= ended]
            print(f"      {summary['byteCount']} bytes of {self.accounts} accounts in {summary['durationMs']} ms; the "
                  f"store was kept for at most {int(summary['longestStallUs']) / 1000:.2f} ms at a time")
            for name, took in (("before", quiet), ("meanwhile", busy)):
                print(f"      {len(took)} purchases {name}{durations(took)}")
            expect(not any(writer.wrong for writer in writers), "no purchase was refused meanwhile")
            status, _, wrong = self.run_perch("backup", copy, "--server", address)
            expect(status == 6 and "BACKUP_FAILED" in wrong + said or "is there already" in wrong,
                        "a second one takes no file's place")
            status, said, _ = self.run_perch("doctor", "--server", address)
            expect(str(copy) in said, "perch doctor knows of it")
            expect(self.refusal(server, WATCH, product_id=YEARLY, resume_token=token) is None,
                        "before, the server takes its tokens")
        finally:
            server.kill()
        self.restore(copy, int(summary["revision"]), writers, token, cursor)
        return not failed

    def restore(self, copy, revision, writers, token, cursor):
        damaged = self.directory / "damaged.db"
        content = bytearray(copy.read_bytes())
        caught = 0
        for seed in range(5):
            at = random.Random(seed).randrange(len(content))
            content[at] ^= 4
            damaged.write_bytes(content)
            content[at] ^= 4
            status, _, wrong = self.run_perch("restore", damaged, self.directory / "damaged")
            caught += status == 1 and "damaged" in wrong and not (self.directory / "damaged" / "perch.db").exists()
        expect(caught == 5, f"{caught} of 5 copies with one flipped bit are refused, and nothing is written")
        damaged.unlink()
        began = time.perf_counter()
        status, said, wrong = self.run_perch("restore", "--verify", copy, self.directory / "again", "-o", "json")
        expect(status == 0, f"the copy is restored, in {time.perf_counter() - began:.1f} s: {wrong.strip()}")
        contents = json.loads(said)
        expect(int(contents["revision"]) == revision and int(contents["epoch"]) > 1,
                    f"at its revision, in a new epoch: {contents['epoch']}")
        status, _, wrong = self.run_perch("restore", copy, self.directory / "again")
        expect(status == 1 and "--force" in wrong, "and not over a store that is there")
        server = self.server(self.directory / "again")
        server.start()
        try:
            caller = Caller(server.address, client_name="backup")
            expect(caller.welcome.epoch == int(contents["epoch"]), "the server that is started on it tells its epoch")
            for writer in writers:
                kept = {id for bought, id, _ in writer.bought if bought <= revision}
                lost = {id for bought, id, _ in writer.bought if bought > revision}
                listed = set()
                for number in range(5):
                    listed |= {each.id for each in caller.transactions(f"buyer-{writer.index}-{number}")}
                expect(listed == kept, f"writer {writer.index}: {len(kept)} purchases up to revision {revision} are "
                                            f"there, {len(lost)} later ones are not")
            for name, path, fields in (("token", WATCH, {"product_id": YEARLY, "resume_token": token}),
                                       ("cursor", UPDATES, {"cursor": cursor})):
                reason = self.refusal(server, path, **fields)
                expect(reason == "TOKEN_OTHER_STORE", f"a {name} of before is refused with {reason}")
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(0 if Trial(*sys.argv[1:]).run() else 1)
