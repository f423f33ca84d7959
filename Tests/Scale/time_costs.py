"""Measures the cost of clock advances. See the script `time`.

    time_costs.py ACCOUNTS
"""
import os
import statistics
import subprocess
import sys
import time

from client import MESSAGE
from figures import Figures
from server import Server, cpu_seconds
from trial import CATALOG, PERCH, WORK
from wire import APP, Caller

CLOCK = "/perch.v1.TestStoreService/SetClock"
STATUSES = "/perch.v1.EntitlementService/SubscriptionStatusTask"
DAY_MS = 86_400_000
# The required limits.
YEAR_MS = 200


def year(figures):
    """365 daily steps of an account with a monthly subscription and one watcher."""
    server = Server(PERCH, CATALOG, "memory", WORK / "log")
    server.start()
    try:
        watcher, tester = (Caller(server.address, client_name=name, heartbeat_seconds=600) for name in ("watcher", "tester"))
        watcher.call(STATUSES, app=APP, account="one", group_id="premium")
        tester.get(CLOCK, app=APP, freeze={})
        tester.get("/perch.v1.TransactionService/Purchase", app=APP, account="one",
                 order={"product_id": "com.example.monthly"})
        runs = []
        for _ in range(5):
            began, renewals = time.perf_counter(), 0
            for _ in range(365):
                renewals += tester.get(CLOCK, app=APP, advance_by_ms=DAY_MS).settled_count
            runs.append((time.perf_counter() - began) * 1000)
        print(f"        365 daily steps, 5 times: {', '.join(f'{run:.0f}' for run in runs)} ms; "
              f"{renewals} renewals in the last year")
        figures.at_most("a year in daily steps with one watcher, median", statistics.median(runs), YEAR_MS, "ms")
        figures.holds(f"a year has 12 or 13 renewals ({renewals})", renewals in (12, 13))
    finally:
        server.kill()


def renewals(accounts, figures):
    """The renewals of a store's accounts, a hundred of them watched."""
    store = WORK / "many.db"
    subprocess.run([PERCH, "store", "generate", str(store), "--accounts", str(accounts), "--catalog", CATALOG,
                    "--product", "com.example.yearly"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server(PERCH, CATALOG, store, WORK / "log", loops=1)
    server.start()
    try:
        watcher, tester = (Caller(server.address, client_name=name, heartbeat_seconds=600) for name in ("watcher", "tester"))
        watched = [1 + index * (accounts // 100) for index in range(100)]
        for number in watched:
            watcher.call(STATUSES, app=APP, account=f"user-{number}", group_id="premium")
        tester.get(CLOCK, app=APP, freeze={})
        # The subscriptions end ten to eleven years after the store was created, evenly spread.
        tester.get(CLOCK, app=APP, advance_by_ms=10 * 365 * DAY_MS)
        began, cpu = time.perf_counter(), cpu_seconds(server.pid)
        settled = tester.get(CLOCK, app=APP, advance_by_ms=36 * DAY_MS).settled_count
        took, cpu = time.perf_counter() - began, cpu_seconds(server.pid) - cpu
        pushed = drain(watcher)
        print(f"        {settled} renewals in one move of the clock: {took:.2f} s, {settled / took:.0f} a second, "
              f"{cpu / settled * 1e6:.0f} us of processor each; {fsync_ms():.2f} ms for an fsync here")
        expected = accounts * 36 / 365
        figures.holds(f"{settled} accounts of {accounts} were due", abs(settled - expected) < 0.05 * expected + 2)
        figures.holds(f"{pushed} values were pushed, to those of the 100 watched that renewed", pushed <= 12)
    finally:
        server.kill()


def fsync_ms():
    """The time to make 4 KiB durable; a group commit waits for at least one such sync."""
    path, took = WORK / "fsync", []
    with open(path, "wb") as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def drain(watcher):
    """Values after the first of each watch, until a second of silence."""
    watcher.socket.settimeout(1)
    values = 0
    try:
        while frame := watcher.read():
            values += frame.kind == MESSAGE and frame.message.HasField("success")
    except TimeoutError:
        pass
    return values - 100


def main(accounts):
    figures = Figures()
    year(figures)
    renewals(int(accounts), figures)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
