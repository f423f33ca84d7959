"""Measures the search for customers among many accounts, and what it costs the watchers beside it.

    search.py ACCOUNTS [--watchers N] [--searches N] [--rounds N] [--without-limits]

Rounds without a search and rounds with one take turns, so that both meet the same machine. In each, changes at a steady rate are
pushed to the watcher of the changed account, and timed from the request to the push.
"""
import argparse
import gc
import json
import random
import statistics
import subprocess
import sys
import time

from client import MESSAGE
from figures import Figures
from scale import GROUP, YEARLY, generate, p99, percentiles
from server import Server
from trial import CATALOG, PERCH, WORK
from wire import ADMIN, APP, READS, STORE, Caller

# The required limits.
SEARCH_P99_MS, RATIO = 50, 1.5
CHANGES_PER_SECOND, ROUND_CHANGES = 50, 250


def texts(accounts, draw):
    """What people type, each with the first customer that it finds: beginnings of a key, whole keys, transactions, orders, and nobody."""
    while True:
        number = draw.randrange(1, accounts + 1)
        key = f"user-{number}"
        yield key, key
        yield key[:draw.randrange(2, len(key) + 1)], None
        yield str(number), None
        yield f"nobody-{number}", ""
        yield f"{number}@example.com", ""
        yield f"00000000-0000-0000-0000-{number:012}", ""


def search(port, accounts, rate):
    """The process that searches. Each line of its input turns it on or off; at the end it prints the microseconds of each search."""
    client = Caller(("127.0.0.1", int(port)), client_name="search", heartbeat_seconds=600)
    asked, took = texts(int(accounts), random.Random(7)), []
    print("ready", flush=True)
    for line in sys.stdin:
        if line != "search\n":
            continue
        count, began = int(sys.stdin.readline()), time.perf_counter()
        for place in range(count):
            time.sleep(max(0, began + place / float(rate) - time.perf_counter()))
            text, first = next(asked)
            sent = time.perf_counter_ns()
            answer = client.get(ADMIN + "FindCustomers", app=APP, text=text)
            took.append((time.perf_counter_ns() - sent) / 1000)
            found = answer.customers[0].account if answer.customers else ""
            if first is not None and found != first:
                raise RuntimeError(f"{text} found {found!r}, not {first!r}")
        print("done", flush=True)
    print(json.dumps(took))


class Searcher:
    """A process of its own, which does not wait for this one's interpreter."""

    def __init__(self, arguments, address):
        self.process = subprocess.Popen([sys.executable, __file__, "--search", str(address[1]), str(arguments.accounts), str(arguments.searches)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.wait("ready")

    def wait(self, word):
        if self.process.stdout.readline() != f"{word}\n":
            raise RuntimeError("the search ended")

    def begin(self, count):
        self.process.stdin.write(f"search\n{count}\n")
        self.process.stdin.flush()

    def stop(self):
        """Microseconds of each search."""
        self.process.stdin.close()
        took = json.loads(self.process.stdout.read())
        self.process.wait()
        return took


class Watchers:
    def __init__(self, arguments, address):
        draw = random.Random(3)
        self.writer, self.all, self.place = Caller(address, client_name="writer", heartbeat_seconds=600), [], 0
        for number in draw.sample(range(1, arguments.accounts + 1), arguments.watchers):
            watcher = Caller(address, client_name="watcher", heartbeat_seconds=600)
            watcher.call(READS + "SubscriptionStatusTask", app=APP, account=f"user-{number}", group_id=GROUP)
            while not (message := self.message(watcher)).HasField("success"):
                pass
            # A store that is kept has what the run before left.
            renews = message.success.statuses[0].renewal_info.renewal_info.will_auto_renew
            self.all.append([f"user-{number}", watcher, renews])

    @staticmethod
    def message(watcher):
        while frame := watcher.read():
            if frame.kind == MESSAGE:
                return frame.message
        raise ConnectionError("the server closed the connection of a watcher")

    def round(self):
        """Microseconds from a change to its push, of one round of changes."""
        took, began = [], time.perf_counter()
        gc.disable()
        for place in range(ROUND_CHANGES):
            time.sleep(max(0, began + place / CHANGES_PER_SECOND - time.perf_counter()))
            account, watcher, renews = changed = self.all[self.place % len(self.all)]
            operation = {"set_auto_renew": {"target": {"product_id": YEARLY}, "enabled": not renews}}
            changed[2] = not renews
            self.place += 1
            sent = time.perf_counter_ns()
            stream = self.writer.call(STORE + "Operate", app=APP, account=account, operation=operation)
            self.message(watcher)
            took.append((time.perf_counter_ns() - sent) / 1000)
            while (frame := self.writer.read()).stream != stream or frame.kind == MESSAGE:
                pass
            if frame.message.code:
                raise RuntimeError(f"a change was refused: {frame.message.message}")
        gc.enable()
        return took


def measure(arguments, server, figures):
    watchers, searcher = Watchers(arguments, server.address), Searcher(arguments, server.address)
    watchers.round()  # The first changes fill caches.
    quiet, beside = [], []
    for _ in range(arguments.rounds):
        quiet += watchers.round()
        searcher.begin(round(arguments.searches * ROUND_CHANGES / CHANGES_PER_SECOND))
        beside += watchers.round()
        searcher.wait("done")
    searches = searcher.stop()
    print(f"        pushes without a search: {percentiles(quiet)}")
    print(f"        pushes beside {arguments.searches} searches a second: {percentiles(beside)}")
    print(f"        searches: {percentiles(searches)}, mean {statistics.mean(searches) / 1000:.3f} ms", flush=True)
    figures.at_most(f"a search among {arguments.accounts:,} accounts, p99", p99(searches), SEARCH_P99_MS, "ms")
    figures.at_most("p99 of pushes beside the search, of that without", p99(beside) / p99(quiet), RATIO, "times")
    figures.holds("every search was answered", len(searches) == arguments.rounds * round(arguments.searches * ROUND_CHANGES / CHANGES_PER_SECOND))


def main():
    if sys.argv[1:2] == ["--search"]:
        return search(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("accounts", type=int)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--searches", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--without-limits", action="store_true", help="say the figures, judge only what is no figure")
    arguments = parser.parse_args()
    store = WORK / f"scale-{arguments.accounts}.db"
    if not store.exists():
        generate(arguments, store)
    server, figures = Server(PERCH, CATALOG, store, WORK / "server.log"), Figures(not arguments.without_limits)
    try:
        server.start()
        measure(arguments, server, figures)
        figures.holds("a server that is told to stop ends with 0", server.stop() == 0)
    finally:
        server.kill()
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
