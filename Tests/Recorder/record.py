"""Runs the workload against a real server and checks what the streams say. See README.md."""

import argparse
import hashlib
import itertools
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))

import journal as journals
from checks import Checks
from controls import run_controls
from driver import Driver
from peers import Caller, Chain, Watcher
from server import Server
from spoiler import CONTROLS
from values import EVENTS
from waiting import free_port
from wire import Contract, Loop
from workload import GROUP, LIFETIME, PLUS, PRO, PRODUCTS, Requests, Size, account_names, catalogue, plan

CLOCK = "2026-01-31T10:00:00Z"
CALLERS = 4


def large(events):
    return Size(events, 24, 40, 6, 400, 700, (300, 1_000, 3_000, 6_000))


def small(events):
    return Size(events, 8, 12, 4, 90, 150, (100, 300))


class World:
    """Everything that a run consists of."""

    def __init__(self, options, size):
        self.options, self.size = options, size
        self.random = random.Random(f"peers {options.seed}")
        self.timing = random.Random(f"timing {options.seed}")
        self.contract = Contract(options.descriptors)
        self.loop = Loop()
        self.accounts = account_names(size)
        self.checks = Checks(self.contract, self.accounts[-2:], options.count_from, options.one_instant)
        self.journal = journals.Journal(self.checks, keeps=options.keep is not None or options.controls)
        self.extra_numbers = itertools.count(10_000_001)
        self.streamed, self.kills, self.stops = 0, 0, 0
        self.server_is_up, self.is_stopping = False, False
        self.after_restart = None
        self.history = None
        with open(options.catalogue, encoding="utf-8") as file:
            sample = file.read()
        self.directory = options.directory or tempfile.mkdtemp(prefix="perch-recorder-")
        os.makedirs(self.directory, exist_ok=True)
        first = os.path.join(self.directory, "catalogue.storekit")
        with open(first, "wb") as file:
            file.write(catalogue(sample, 0))
        self.server = Server(options.perch, self.directory, options.port or free_port(), first, CLOCK)
        self.callers = [Caller(self, f"caller-{n}", self.peer_random()) for n in range(CALLERS)]
        self.watchers = []
        self.first_cursors = {}
        self.requests = Requests(self.contract, sample)
        self.driver = Driver(self, plan(options.seed, size), self.requests)
        self.began_at = time.monotonic()

    def peer_random(self):
        return random.Random(self.random.getrandbits(64))

    def extra_number(self):
        return next(self.extra_numbers)

    def is_over(self, driver):
        if self.options.operations:
            return driver.done >= self.options.operations
        return self.streamed >= self.size.events or time.monotonic() - self.began_at > self.options.seconds

    # The server.

    def serve(self, how):
        self.server.start()
        self.server.wait_until_it_listens()
        self.journal.write("serve", note={"how": how})
        self.server_is_up = True
        for peer in self.peers():
            peer.connect()

    def peers(self):
        return self.callers + self.watchers + ([self.history] if self.history else [])

    def kill(self):
        if self.is_stopping or not self.server_is_up:
            return
        self.server_is_up = False
        self.server.kill()
        self.kills += 1
        self.journal.write("kill", note={"signal": 9})
        self.loop.later(self.timing.uniform(0, 0.1), self.restart)

    def restart(self):
        # Reads the bytes of the dead server first.
        if any(peer.connection is not None for peer in self.peers()):
            self.loop.later(0.005, self.restart)
            return
        self.is_stopping = False
        self.serve("again")
        action, self.after_restart = self.after_restart, None
        if action:
            self.loop.later(0.05, action)

    def terminate(self):
        if self.is_stopping or not self.server_is_up:
            return
        self.is_stopping = True
        self.stops += 1
        self.server.stop()
        self.journal.write("kill", note={"signal": 15})
        self.await_end()

    def await_end(self):
        if self.server.has_ended():
            self.server_is_up = False
            self.restart()
        else:
            self.loop.later(0.02, self.await_end)

    def is_calm(self):
        """No kill is under way, and every watch is open."""
        return (
            self.server_is_up
            and not self.is_stopping
            and self.after_restart is None
            and all(peer.is_ready for peer in self.peers())
            and all(chain.stream is not None for watcher in self.watchers for chain in watcher.chains)
        )

    # Watches.

    def make_watchers(self):
        pairs = [self.accounts[n : n + 2] for n in range(0, len(self.accounts), 2)]
        for number in range(self.size.sessions):
            watcher = Watcher(self, f"watcher-{number}", self.peer_random(), reads_zlib=number % 3 == 0)
            for place in range(self.size.accounts_of_session // 2):
                for account in pairs[(number * 2 + place * 3) % len(pairs)]:
                    watcher.chains.append(Chain(watcher, "SubscriptionStatusTask", account, group_id=GROUP))
                    for product in (PLUS, PRO, LIFETIME):
                        watcher.chains.append(
                            Chain(watcher, "CurrentEntitlementTask", account, product_id=product)
                        )
                    watcher.chains.append(Chain(watcher, EVENTS, account))
            half = len(PRODUCTS) // 2
            watcher.chains.append(Chain(watcher, "ProductsTask", product_ids=list(PRODUCTS[:half])))
            watcher.chains.append(Chain(watcher, "ProductsTask", product_ids=list(PRODUCTS[half:])))
            watcher.chains.append(Chain(watcher, "ProductsTask", product_ids=[PRO, "no.such.product", PLUS]))
            self.watchers.append(watcher)

    def read_first_cursors(self):
        """Where the events of each account begin, before anything has happened."""
        opener = Watcher(self, "opener", self.peer_random(), reads_zlib=False)
        opener.chains = [Chain(opener, EVENTS, account) for account in self.accounts]
        opener.connect()
        self.turn_until(lambda: all(chain.tokens for chain in opener.chains), 30, "the first cursors")
        self.first_cursors = {chain.account: chain.tokens[-1] for chain in opener.chains}
        opener.connects = False
        opener.connect = lambda: None
        opener.drop()

    def open_history(self):
        """Reads all events of all accounts again, from the first cursors."""
        self.history = Watcher(self, "historian", self.peer_random(), reads_zlib=True)
        for account in self.accounts:
            chain = Chain(self.history, EVENTS, account)
            chain.tokens = [self.first_cursors[account]]
            chain.is_history = True
            self.history.chains.append(chain)
        self.history.connect()

    def checks_view(self, method, fields):
        view = (method, fields.get("account", ""))
        return (
            *view,
            *(fields[name] for name in ("product_id", "group_id") if name in fields),
            *fields.get("product_ids", ()),
        )

    def has_converged(self, final):
        if self.checks.streams.unequal():
            return False
        return not final or self.checks.changes.history_is_complete()

    # The run.

    def turn_until(self, holds, seconds, what):
        end = time.monotonic() + seconds
        while not holds():
            self.loop.turn()
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s for {what}")

    def run(self):
        self.serve("first")
        self.read_first_cursors()
        self.make_watchers()
        for watcher in self.watchers:
            watcher.connect()
        self.turn_until(self.is_calm, 300, "the first connections")
        now = self.contract.methods["GetClock"][1]()
        self.callers[0].unary("GetClock", now, {"read": "clock"}, self.learn_clock)
        self.turn_until(lambda: self.requests.now_ms, 300, "the clock")
        shown = time.monotonic()
        while not self.driver.is_over() or self.driver.pause:
            self.driver.turn()
            self.loop.turn()
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                self.say(f"{self.streamed} stream events, {self.driver.done} operations, {self.kills} kills")
        self.driver.settle(final=True)
        limit = time.monotonic() + 300
        while self.driver.pause and not self.driver.pause():
            self.loop.turn()
            if time.monotonic() > limit:
                raise RuntimeError("the end of the run did not come: " + self.state())
        self.journal.write("end")

    def state(self):
        waiting = {place: str(queue[0]) for place, queue in self.driver.waiting.items() if queue}
        return f"in flight {self.driver.in_flight}, reads {self.driver.reads}, waiting {list(waiting.items())[:5]}"

    def learn_clock(self, status, answer):
        self.requests.now_ms = answer.clock.now_ms

    def say(self, text):
        if not self.options.quiet:
            print(f"recorder: {time.monotonic() - self.began_at:5.0f} s: {text}", flush=True)

    def close(self):
        if self.server.process is not None and self.server.process.poll() is None:
            self.server.kill()
        self.server_is_up = False
        for peer in self.peers():
            peer.connect = lambda: None
            peer.drop()


def header(world, options):
    digest = hashlib.sha256("\n".join(world.driver.digest_parts).encode()).hexdigest()[:16]
    watches = sum(len(watcher.chains) for watcher in world.watchers)
    counts = world.checks.ledger.counts
    return (
        f"recorder: seed {options.seed}: {counts['stream events']} stream events of {watches} watches on "
        f"{len(world.watchers)} connections; {world.driver.done} operations (workload {digest}), {world.kills} times "
        f"kill -9, {world.stops} times SIGTERM, {time.monotonic() - world.began_at:.0f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--perch", required=True, help="the server's program")
    parser.add_argument("--descriptors", required=True, help="descriptor set of the contract")
    parser.add_argument("--catalogue", required=True, help="the sample catalogue")
    parser.add_argument("--port", type=int, default=0, help="the server's port; a free one if not given")
    parser.add_argument("--seed", type=int, default=None, help="the same seed makes the same workload")
    parser.add_argument("--events", type=int, default=100_000, help="stream events to check, at least")
    parser.add_argument("--operations", type=int, default=0, help="end after so many operations instead")
    parser.add_argument("--seconds", type=int, default=1_800, help="end after so many seconds at the latest")
    parser.add_argument("--small", action="store_true", help="few accounts and connections, many kills")
    parser.add_argument(
        "--count-from", choices=("call", "message"), default="call", help="when a state watch counts"
    )
    parser.add_argument("--still-clock", action="store_true", help="the clock moves by advances alone")
    parser.add_argument(
        "--one-instant",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="a group has to show one instant of the app's clock",
    )
    parser.add_argument("--directory", help="where to keep store and log; a temporary directory if not given")
    parser.add_argument("--keep", help="write the journal to this file")
    parser.add_argument(
        "--controls", action="store_true", help="spoil the journal of the run, and see it found"
    )
    parser.add_argument("--check", metavar="FILE", help="check a journal that --keep wrote, without a server")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    try:
        return check_journal(options) if options.check else record(options)
    except (RuntimeError, OSError, ValueError) as error:
        print(f"recorder: the run could not be made: {error}", file=sys.stderr)
        return 2


def record(options):
    options.seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    print(f"recorder: seed {options.seed}", flush=True)
    size = small(options.events) if options.small else large(options.events)
    if options.still_clock:
        size.runs_ms = ()
    world = World(options, size)
    try:
        world.run()
    finally:
        world.close()
        if options.keep:
            journals.save(options.keep, world.journal.entries, {"scratch accounts": world.accounts[-2:]})
    print(header(world, options))
    result = report(world.checks.ledger, options)
    if result:
        print(f"the server's log is {world.directory}/server.log")
    elif options.controls:
        failed = run_controls(world.contract, world.journal.entries, world.accounts[-2:], options.seed, print)
        result = 1 if failed else 0
        print(f"recorder: {len(CONTROLS) - failed} of {len(CONTROLS)} controls were found")
    if not result and not options.directory:
        shutil.rmtree(world.directory, ignore_errors=True)
    return result


def check_journal(options):
    about, entries = journals.load(options.check)
    checks = Checks(
        Contract(options.descriptors), about["scratch accounts"], options.count_from, options.one_instant
    )
    for entry in entries:
        checks.feed(entry)
    return report(checks.ledger, options)


def report(ledger, options):
    if not options.quiet:
        for what, count in sorted(ledger.counts.items()):
            print(f"    {count:>8}  {what}")
    print(ledger.summary())
    print(f"\nrecorder: {ledger.total()} violations")
    return 1 if ledger.total() else 0


if __name__ == "__main__":
    sys.exit(main())
