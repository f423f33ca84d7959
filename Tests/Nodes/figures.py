"""What several nodes on PostgreSQL cost, against one server on SQLite, in turns.

    figures.py PERCH DESCRIPTORS CATALOG DIRECTORY [--rounds N] [--seconds S] [--accounts N [--clients N]] [--only crossings] [--old PERCH]

rates     Changes a second of 16 writers that each wait for their answer: on SQLite, on one node, and on four nodes with 16 each.
lag       Milliseconds from the answer of a purchase on one node to its value on another, at 50 purchases a second.
crossings Small writes a second and bytes of PostgreSQL's log for a purchase, while subscriptions expire and readers of all changes on two
          nodes wait for that, against the same without readers. --old names an earlier `perch` to compare a first subscription with.
sync      What the disk of both takes for one fdatasync.
scale     With --accounts N: a store of so many accounts moves from SQLite, a node starts on it, and --clients N connect at once
          to a second node, each with a stream.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import threading
import time
from types import SimpleNamespace

from client import MESSAGE
from order import EXPIRY, Ender
from trouble import APP, COINS, MONTHLY, PURCHASE, READS, Trouble, order, until

SEASON = "com.example.season"
WRITERS = 16
FAST = 1005  # A week lasts two seconds.


class Figures(Trouble):
    def rate(self, nodes, seconds):
        """Changes a second of all nodes together."""
        benches = [subprocess.Popen([self.arguments.perch, "bench", "buy", "--writers", str(WRITERS), "--product", SEASON, "--connect",
                                     "%s:%d" % node.address, "--pid", str(node.pid), "--duration", f"{seconds}s", "-o", "json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for node in nodes]
        found = []
        for bench in benches:
            said, error = bench.communicate()
            if bench.returncode != 0:
                raise RuntimeError(f"perch bench ended with {bench.returncode}: {error}")
            found.append(json.loads(said)["targets"][0]["figures"]["changes_per_second"])
        return sum(found)

    def rates(self):
        database = self.database("rates")
        one = [self.node("rates-1", database.url)]
        found = {"SQLite": [], "one node": [], "four nodes": []}
        for number in range(self.arguments.rounds):
            sqlite = self.node("sqlite", self.arguments.directory / f"sqlite-{number}")
            found["SQLite"].append(self.rate([sqlite], self.arguments.seconds))
            sqlite.stop()
            found["one node"].append(self.rate(one, self.arguments.seconds))
            others = [self.node(f"rates-{index}", database.url) for index in (2, 3, 4)]
            found["four nodes"].append(self.rate(one + others, self.arguments.seconds))
            for node in others:
                node.stop()
        for name, values in found.items():
            print(f"rates: {name}: {statistics.median(values):,.0f} changes a second (from {min(values):,.0f} to {max(values):,.0f})")
        ratios = [pair[0] / pair[1] for pair in zip(found["one node"], found["SQLite"])]
        print(f"rates: one node is {statistics.median(ratios):.2f} of SQLite; must 0.5, aim 0.8")
        ratios = [pair[0] / pair[1] for pair in zip(found["four nodes"], found["one node"])]
        print(f"rates: four nodes are {statistics.median(ratios):.2f} of one; must 0.6, aim 0.8", flush=True)

    def lag(self):
        database = self.database("lag")
        a, b = self.node("lag-a", database.url), self.node("lag-b", database.url)
        buyer, watcher = self.caller(a), self.caller(b)
        stream = watcher.call(READS + "CurrentEntitlementTask", app=APP, account="alice", product_id=SEASON)
        seen, ready = {}, threading.Event()

        def watch():
            while frame := watcher.read():
                if frame.kind == MESSAGE and frame.stream == stream and frame.message.HasField("info"):
                    seen[frame.message.info.position.revision] = time.perf_counter()
                    ready.set()
        threading.Thread(target=watch, daemon=True).start()
        ready.wait()
        answers, waits = {}, []
        next_due = time.perf_counter()
        for number in range(50 * self.arguments.seconds):
            next_due += 0.02
            time.sleep(max(0, next_due - time.perf_counter()))
            began = time.perf_counter()
            answer = buyer.get(PURCHASE, app=APP, idempotency_key=f"lag-{number}".encode(), **order("alice", SEASON))
            answers[answer.position.revision] = time.perf_counter()
            waits.append((answers[answer.position.revision] - began) * 1000)
        time.sleep(1)
        # A value may stand for several changes; each push is compared with the answer of its own revision.
        lags = sorted((seen[revision] - at) * 1000 for revision, at in answers.items() if revision in seen)
        at = lambda values, part: sorted(values)[min(len(values) - 1, int(len(values) * part))]
        commit = statistics.median(waits)
        print(f"lag: {len(lags)} of {len(answers)} purchases pushed by the other node; a commit takes {commit:.1f} ms (median answer); from "
              f"answer to push median {at(lags, 0.5):.1f} ms, p99 {at(lags, 0.99):.1f} ms; must {commit + 10:.1f}, aim {commit + 5:.1f}",
              flush=True)

    def scale(self):
        count, store = self.arguments.accounts, self.arguments.directory / "big.db"
        subprocess.run([self.arguments.perch, "store", "generate", store, "--accounts", str(count), "--catalog",
                        self.arguments.catalog, "--bundle-id", APP["bundle_id"]], check=True, stdout=subprocess.DEVNULL)
        database = self.database("scale")
        began = time.perf_counter()
        subprocess.run([self.arguments.perch, "store", "migrate", "--from", store, "--to", database.url], check=True,
                       stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        print(f"scale: {count:,} accounts moved in {seconds:.1f} s, {count / seconds:,.0f} a second", flush=True)
        first, second = self.node("scale-a", database.url), self.node("scale-b", database.url)
        print(f"scale: a node is ready {first.ready_after:.2f} s after its start, a second one {second.ready_after:.2f} s", flush=True)
        clients = self.arguments.clients
        began = time.perf_counter()
        bench = subprocess.run([self.arguments.perch, "bench", "storm", "--watchers", str(clients), "--closed", str(clients), "--product",
                                SEASON, "--connect", "%s:%d" % second.address, "--pid", str(second.pid), "-o", "json"],
                               capture_output=True, text=True)
        if bench.returncode != 0:
            raise RuntimeError(f"perch bench ended with {bench.returncode}: {bench.stderr}")
        figures = json.loads(bench.stdout)["targets"][0]["figures"]
        for node in (first, second):
            node.stop()
        print(f"scale: {clients:,} clients come at once: {figures['opens_per_second']:,.0f} a second, so all of them in "
              f"{clients / figures['opens_per_second']:.1f} s; must 15 s", flush=True)
        self.crossings(database)

    def crossings(self, database=None):
        """On the database of `scale`, or on an empty one."""
        database = database or self.database("crossings")
        # Else the first change of a page after a checkpoint writes all of it, and hides the rest.
        database.ask("ALTER SYSTEM SET full_page_writes = off", "postgres")
        database.ask("SELECT pg_reload_conf()", "postgres")
        nodes = [self.node(f"crossings-{name}", database.url, time_rate=FAST) for name in "ab"]
        caller = self.caller(nodes[0])

        def purchases(count, prefix):
            """Bytes of the log for one."""
            before = database.ask("SELECT pg_current_wal_insert_lsn()")
            for number in range(count):
                caller.get(PURCHASE, app=APP, idempotency_key=f"{prefix}-{number}".encode(), **order(f"{prefix}-{number % 50}", COINS))
            return int(database.ask(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{before}')")) / count
        purchases(200, "first")
        alone = [purchases(200, f"alone-{index}") for index in range(3)]
        readers = [self.caller(node) for node in nodes]
        seen = []
        for reader in readers:
            reader.call(READS + "AppChanges", app=APP)
            threading.Thread(target=self.note, args=(reader, seen), daemon=True).start()
        watched = [purchases(200, f"watched-{index}") for index in range(3)]
        # Each expires two seconds later.
        ender = Ender(SimpleNamespace(next_cycle=lambda: nodes[0], contract=self.contract), self.arguments.expiries, self.arguments.seconds * 4)
        rows = lambda: int(database.ask("SELECT n_tup_upd FROM pg_stat_all_tables WHERE schemaname = 'perch' AND relname = 'store'"))
        before, began = rows(), time.monotonic()
        ender.start()
        ender.join()
        expired = lambda: sum(frame.message.cause == EXPIRY for _, frame in seen if frame and frame.kind == MESSAGE and frame.message.account)
        until(lambda: expired() >= 2 * ender.made, "both readers have every expiry")
        time.sleep(1.5)  # PostgreSQL counts once a second.
        seconds = time.monotonic() - began
        writes = rows() - before
        accounts = int(database.ask("SELECT count(*) FROM perch.accounts"))
        print(f"crossings: {ender.made} expiries, to 2 readers, in {seconds:.0f} s on {accounts:,} accounts: {writes / seconds:.1f} small writes a "
              f"second; must 10", flush=True)
        print(f"crossings: a purchase writes {statistics.median(alone):,.0f} bytes of the log, and {statistics.median(watched):,.0f} with readers "
              f"of all changes", flush=True)
        for node in nodes:
            node.stop()
        own, earlier = (self.subscription(perch) if perch else 0 for perch in (self.arguments.perch, self.arguments.old))
        compared = f", {own / earlier - 1:+.1%} of what the earlier version writes; must +2 %" if earlier else ""
        print(f"crossings: a first subscription writes {own:,.0f} bytes of the log{compared}", flush=True)

    def subscription(self, perch):
        """Bytes of the log for the first purchase of an account, whose end is a crossing."""
        name = f"subscription-{len(self.databases)}"
        database = self.database(name)
        database.ask("ALTER SYSTEM SET full_page_writes = off", "postgres")
        database.ask("SELECT pg_reload_conf()", "postgres")
        own, self.arguments.perch = self.arguments.perch, perch
        node = self.node(name, database.url)
        self.arguments.perch = own
        caller, found = self.caller(node), []
        for attempt in range(4):
            before = database.ask("SELECT pg_current_wal_insert_lsn()")
            for number in range(200):
                caller.get(PURCHASE, app=APP, idempotency_key=f"{attempt}-{number}".encode(), **order(f"{attempt}-{number}", MONTHLY))
            found.append(int(database.ask(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{before}')")) / 200)
        node.stop()
        # The first fill empty pages.
        return statistics.median(found[1:])

    def sync(self):
        path, times = self.arguments.directory / "sync", []
        with path.open("wb", buffering=0) as file:
            for _ in range(200):
                file.write(os.urandom(4096))
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                times.append((time.perf_counter() - began) * 1000)
        path.unlink()
        print(f"sync: median {statistics.median(times):.2f} ms, p99 {sorted(times)[197]:.2f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("perch", "descriptors", "catalog", "directory"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--accounts", type=int, default=0)
    parser.add_argument("--clients", type=int, default=10_000)
    parser.add_argument("--expiries", type=int, default=400)
    parser.add_argument("--old", type=pathlib.Path)
    parser.add_argument("--only", choices=["crossings"])
    arguments = parser.parse_args()
    arguments.seed, arguments.full = random.randrange(10_000), True
    figures = Figures(arguments)
    try:
        if arguments.only:
            figures.crossings()
            return
        figures.sync()
        if arguments.accounts:
            figures.scale()
            return
        figures.lag()
        figures.rates()
        figures.crossings()
    finally:
        figures.close()


if __name__ == "__main__":
    main()
