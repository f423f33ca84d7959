"""Measures the cost of clock advances. See the script `time`.

    time_costs.py PERCH CONTRACT CATALOG DIRECTORY ACCOUNTS
"""
import pathlib
import statistics
import subprocess
import sys
import time

from client import MESSAGE, STATUS, Client, Contract
from figures import Figures
from server import Server

APP = {"bundle_id": "com.example.app", "environment": 3}
CLOCK = "/perch.v1.TestStoreService/SetClock"
STATUSES = "/perch.v1.EntitlementService/SubscriptionStatusTask"
DAY_MS = 86_400_000
# The required limits.
YEAR_MS = 200


def answered(client, path, **fields):
    """The answer of a unary call."""
    stream, answer = client.call(path, app=APP, **fields), None
    while (frame := client.read()).kind != STATUS or frame.stream != stream:
        answer = frame.message if frame.stream == stream else answer
    if frame.message.code != 0:
        raise RuntimeError(f"{path}: {frame.message.reason}: {frame.message.message}")
    return answer


def greeted(server, contract, name):
    client = Client(server.address, contract)
    client.hello(client_name=name, heartbeat_seconds=600)
    return client


def year(perch, contract, catalog, directory, figures):
    """365 daily steps of an account with a monthly subscription and one watcher."""
    server = Server(perch, catalog, "memory", pathlib.Path(directory) / "log")
    server.start()
    try:
        watcher, tester = greeted(server, contract, "watcher"), greeted(server, contract, "tester")
        watcher.call(STATUSES, app=APP, account="one", group_id="premium")
        answered(tester, CLOCK, freeze={})
        answered(tester, "/perch.v1.TransactionService/Purchase", account="one",
                 order={"product_id": "com.example.monthly"})
        runs = []
        for _ in range(5):
            began, renewals = time.perf_counter(), 0
            for _ in range(365):
                renewals += answered(tester, CLOCK, advance_by_ms=DAY_MS).settled_count
            runs.append((time.perf_counter() - began) * 1000)
        print(f"        365 daily steps, 5 times: {', '.join(f'{run:.0f}' for run in runs)} ms; "
              f"{renewals} renewals in the last year")
        figures.at_most("a year in daily steps with one watcher, median", statistics.median(runs), YEAR_MS, "ms")
        figures.holds(f"a year has 12 or 13 renewals ({renewals})", renewals in (12, 13))
    finally:
        server.kill()


def renewals(perch, contract, catalog, directory, accounts, figures):
    """The renewals of a store's accounts, a hundred of them watched."""
    store = pathlib.Path(directory) / "many.db"
    subprocess.run([perch, "store", "generate", str(store), "--accounts", str(accounts), "--catalog", catalog,
                    "--product", "com.example.yearly"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server(perch, catalog, store, pathlib.Path(directory) / "log", loops=1)
    server.start()
    try:
        watcher, tester = greeted(server, contract, "watcher"), greeted(server, contract, "tester")
        watched = [1 + index * (accounts // 100) for index in range(100)]
        for number in watched:
            watcher.call(STATUSES, app=APP, account=f"user-{number}", group_id="premium")
        answered(tester, CLOCK, freeze={})
        # The subscriptions end ten to eleven years after the store was created, evenly spread.
        answered(tester, CLOCK, advance_by_ms=10 * 365 * DAY_MS)
        began, cpu = time.perf_counter(), cpu_seconds(server.pid)
        settled = answered(tester, CLOCK, advance_by_ms=36 * DAY_MS).settled_count
        took, cpu = time.perf_counter() - began, cpu_seconds(server.pid) - cpu
        pushed = drain(watcher)
        print(f"        {settled} renewals in one move of the clock: {took:.2f} s, {settled / took:.0f} a second, "
              f"{cpu / settled * 1e6:.0f} us of processor each; {fsync_ms(directory):.2f} ms for an fsync here")
        expected = accounts * 36 / 365
        figures.holds(f"{settled} accounts of {accounts} were due", abs(settled - expected) < 0.05 * expected + 2)
        figures.holds(f"{pushed} values were pushed, to those of the 100 watched that renewed", pushed <= 12)
    finally:
        server.kill()


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def fsync_ms(directory):
    """The time to make 4 KiB durable; a group commit waits for at least one such sync."""
    import os
    path, took = pathlib.Path(directory) / "fsync", []
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


def main(perch, contract, catalog, directory, accounts):
    contract, figures = Contract(contract), Figures()
    year(perch, contract, catalog, directory, figures)
    renewals(perch, contract, catalog, directory, int(accounts), figures)
    return figures.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
