"""Kills a server while clients write and watch, restarts it, and checks that nothing is lost, duplicated or invented.

    crash.py KILLS WRITES_PER_SECOND [--seed N] [--shortest S] [--longest S] [--ready S] [--control]

A kill waits until the writes that were due are acknowledged, so a slow machine is only slower.
"""
import collections
import pathlib
import random
import statistics
import sys
import threading
import time

import audit
import controls
import trial
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from watchers import ENTITLEMENT, PRODUCTS, STATUSES, EventStream, StateStream, Watcher
from wire import Caller
from writers import COINS, GROUP, LIFETIME, SEASON, WEEKLY, Writer, as_json

WRITERS = 8
WATCHERS = 32
LATE = 2  # Number of watchers that read all events again from the start.
TIME_RATE = 1005  # Every period lasts two seconds, so lines renew by themselves all the time.
# A cycle must acknowledge all writes that were due this long before the kill.
SLACK_SECONDS = 0.1
CONTROL_KILLS = 20  # At most, until the check of each control noticed it.
LEASE_SECONDS = 12  # The longest lease that a killed server may have written ahead of the machine's clock.
CHECKS = (
    "every planned kill came in the middle of the planned writes",
    "ready after each start",
    "every acknowledged transaction is listed exactly once",
    "a listed transaction has the acknowledged fields",
    "what is listed as bought is what was acknowledged as bought",
    "what is listed as unfinished is what nobody finished",
    "the same key gives the same answer",
    "each event comes exactly once and in order, reconnects included",
    "the events of all connections together are those that the store has",
    "an event's revision and origin are those of the acknowledged request",
    "a cursor is answered by itself, then by what came after it",
    "no BEAT passes an event that is still to come",
    "positions on a watch never decrease, restarts included",
    "an equal value is never pushed twice in a row, restarts included",
    "a token is answered by a value or unchanged",
    "every watch's last value equals a unary read",
    "all watches of a view have one value at one position",
    "an entitlement and the status of its account agree at each BEAT",
    "a read at the position of a purchase shows it",
    "no stream ends but with its server",
    "no crash takes back what anyone has seen",
    "the store's clock never runs backwards",
    "the store's clock is ahead of the machine's by a lease at most",
    "a writer is refused only what its account's state forbids",
    "every call is answered",
    "a watcher hears a beat",
    "no client ends early",
    "reads at the end are answered",
    "a server that is told to stop ends with 0",
    "the file's revisions have no hole, and each has its facts",
    "the file is sound",
)


class Cycle:
    """The time from one start of the server to its kill."""

    def __init__(self, address, seen, clock=0):
        # What clients had seen, and the newest time that a server had told, before it began.
        self.address, self.seen, self.clock_before = address, seen, clock
        self.began = time.perf_counter()
        self.over = threading.Event()
        self.counts = [0] * WRITERS
        self.clock = 0

    def acknowledged(self, index):
        if not self.over.is_set():
            self.counts[index] += 1

    def refuse_another(self):
        """The next server has the same port. Who was slow to connect may have met that one, and comes again as its client."""
        if self.over.is_set():
            raise ConnectionError("the server of this cycle was killed")


class Test:
    """The state shared by all clients: the current server, the log, and the findings."""

    def __init__(self, arguments):
        self.seed, self.rate = arguments.seed, arguments.writes_per_second
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.cycle, self.ended = None, False
        self.violations, self.examined = collections.defaultdict(list), collections.Counter()
        self.seen, self.seen_by, self.clock = 0, "", 0
        self.identity, self.ahead, self.value_at = None, 0.0, {}
        self.log = (WORK / "acknowledged.ndjson").open("a")

    # What clients ask

    def next_cycle(self):
        """Waits for the running server; None after the last one."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.cycle and not self.cycle.over.is_set())
            return None if self.ended else self.cycle

    def wait_for_end(self, cycle):
        """Handles a writer's lost connection, which only a kill may cause."""
        if not cycle.over.wait(PATIENCE_SECONDS):
            self.broken("no client ends early", "a writer lost its connection to a server that was not killed")

    def pause(self):
        time.sleep(0.002)  # Between attempts to come back; nothing waits for it but a watcher.

    # What clients tell

    def broken(self, name, what):
        assert name in CHECKS, name
        with self.lock:
            self.violations[name].append(what)

    def looked(self, name, count=1):
        assert name in CHECKS, name
        with self.lock:
            self.examined[name] += count

    def saw(self, revision, who):
        with self.lock:
            if revision > self.seen:
                self.seen, self.seen_by = revision, who

    def write_down(self, record):
        with self.lock:
            self.log.write(as_json(record) + "\n")
            self.log.flush()
        self.saw(record["revision"], f"the answer to {record['key']}")

    def welcomed(self, welcome, who, cycle):
        """By the server of this cycle: the next one may run by now."""
        identity = (welcome.store_id, welcome.epoch)
        with self.lock:
            self.identity = self.identity or identity
        self.looked("no crash takes back what anyone has seen")
        if identity != self.identity or welcome.revision < cycle.seen[0]:
            self.broken("no crash takes back what anyone has seen",
                        f"{who} is welcomed at revision {welcome.revision} of {identity}; {cycle.seen[1]} was at "
                        f"{cycle.seen[0]} of {self.identity} before the server was killed")
        self.looked("the store's clock never runs backwards")
        if welcome.server_time_ms < cycle.clock_before:
            self.broken("the store's clock never runs backwards",
                        f"{who} is welcomed at {welcome.server_time_ms}, it was {cycle.clock_before} before the kill")
        self.looked("the store's clock is ahead of the machine's by a lease at most")
        if welcome.server_time_ms > time.time() * 1000 + LEASE_SECONDS * 1000:
            self.broken("the store's clock is ahead of the machine's by a lease at most",
                        f"{who} is welcomed at {welcome.server_time_ms}, the machine is at {time.time() * 1000:.0f}")
        with self.lock:
            cycle.clock = max(cycle.clock, welcome.server_time_ms)
            self.ahead = max(self.ahead, welcome.server_time_ms / 1000 - time.time())

    # What the schedule says

    def begin(self, address):
        with self.changed:
            self.cycle = Cycle(address, (self.seen, self.seen_by), self.clock)
            self.changed.notify_all()
            return self.cycle

    def end(self, cycle):
        cycle.over.set()
        with self.lock:
            self.clock = max(self.clock, cycle.clock)

    def end_all(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class Run:
    # Its clients lose their connections by a kill only.
    comes_back = False
    auditor = Caller

    def __init__(self, arguments):
        self.arguments, self.test = arguments, Test(arguments)
        self.random = random.Random(f"{arguments.seed} kills")
        self.store = WORK / "store.db"
        self.server = Server(PERCH, CATALOG, self.store, WORK / "server.log", time_rate=TIME_RATE)
        self.writers = [Writer(index, WRITERS, self.test) for index in range(WRITERS)]
        self.watchers = [Watcher(index, self.streams(writer), self.test) for index, writer in enumerate(self.writers)]
        # A connection with a single watch has no groups, which is a different code path. The last ones make 32 in total.
        alone = [account for writer in self.writers for account in writer.accounts][:WATCHERS - WRITERS - LATE]
        self.watchers += [Watcher(WRITERS + index, [EventStream(account)], self.test)
                          for index, account in enumerate(alone)]
        # These read many pages of events late, while their other streams continue.
        self.watchers += [Watcher(len(self.watchers) + index, self.streams(writer, reads_again=True), self.test)
                          for index, writer in enumerate(self.writers[:LATE])]
        self.ready, self.early_kills, self.planted, self.spoilt = [], 0, [], set()
        if arguments.control:
            controls.plant(self)

    def streams(self, writer, reads_again=False):
        first, second, third, fourth = writer.accounts
        streams = [EventStream(account, reads_again) for account in writer.accounts]
        streams += [StateStream(STATUSES, account=account, group_id=GROUP) for account in (first, second)]
        streams += [StateStream(ENTITLEMENT, account=first, product_id=WEEKLY)]
        streams += [StateStream(ENTITLEMENT, account=account, product_id=LIFETIME) for account in (third, fourth)]
        streams += [StateStream(ENTITLEMENT, account=third, product_id=SEASON)]
        return streams + [StateStream(PRODUCTS, product_ids=[COINS, SEASON, LIFETIME, WEEKLY])]

    def start(self):
        """Starts the server, sometimes after one that is killed during its start."""
        if self.ready and self.random.random() < 0.2:
            self.server.spawn()
            time.sleep(self.random.uniform(0, 0.04))
            self.server.kill()
            self.early_kills += 1
        seconds = self.server.start()
        self.ready.append(seconds)
        self.test.looked("ready after each start")
        if seconds > self.arguments.ready:
            self.test.broken("ready after each start", f"{seconds * 1000:.0f} ms")
        return seconds

    def open(self):
        """Runs a first server without writes, because a stream does not contain events from before its start."""
        self.start()
        cycle = self.test.begin(self.server.address)
        for watcher in self.watchers:
            watcher.start()
        for stream in self.event_streams():
            if not stream.has_begun.wait(PATIENCE_SECONDS):
                raise TimeoutError(f"{stream.name} did not say where new events begin within {PATIENCE_SECONDS} s")
        self.server.kill()
        self.test.end(cycle)
        for writer in self.writers:
            writer.start()

    def kill_in_writes(self, times=1):
        """One start, some writes, one kill in the middle of them. `times`: as many times as long as usual."""
        duration = self.random.uniform(self.arguments.shortest, self.arguments.longest) * times
        cuts = [(self.random.uniform(0.2, 0.9) * duration, self.random.choice(self.watchers)) for _ in range(2)]
        seconds = self.start()
        cycle = self.test.begin(self.server.address)
        for after, watcher in sorted(cuts, key=lambda cut: cut[0]):
            time.sleep(max(0, cycle.began + after - time.perf_counter()))
            watcher.cut()
        time.sleep(max(0, cycle.began + duration - time.perf_counter()))
        planned = int(self.test.rate * max(0, duration - SLACK_SECONDS))
        until(lambda: sum(cycle.counts) >= planned or self.server.process.poll() is not None or self.is_hopeless(),
              lambda: f"{planned} writes are acknowledged: {sum(cycle.counts)}")
        time.sleep(self.random.uniform(0, 0.02))
        written, ended = sum(cycle.counts), self.server.process.poll()
        self.server.kill()
        self.test.end(cycle)
        waiting = sum(1 for writer in self.writers if writer.pending)
        log = pathlib.Path(f"{self.store}-wal")
        print(f"{len(self.ready):4}  {seconds * 1000:8.0f}  {duration:6.2f}  {written:6} of {planned:4}  {waiting:7}  "
              f"{self.test.seen:8}  {log.stat().st_size / 1024 if log.exists() else 0:8.0f}",
              flush=True)
        if ended is not None:
            self.test.broken("no client ends early", f"the server ended by itself with {ended}; see server.log")

    def run(self):
        print(f"seed {self.arguments.seed}, {self.arguments.kills} kills, {self.test.rate} writes a second from "
              f"{WRITERS} writers, {len(self.watchers)} watchers with "
              f"{sum(len(watcher.streams) for watcher in self.watchers)} streams", flush=True)
        print("run   ready ms  kill s  acknowledged  waiting  revision  log KiB", flush=True)
        began = time.perf_counter()
        self.open()
        kills, name = 0, CHECKS[0]
        while (kills < self.arguments.kills or controls.wait(self) and kills < CONTROL_KILLS) and not self.is_hopeless():
            # A slow client needs a long life of the server, to come back and to see a change.
            self.kill_in_writes(max(1, kills - self.arguments.kills + 2))
            kills += 1
        self.test.looked(name, kills)
        if kills < self.arguments.kills:
            self.test.broken(name, f"{kills} of {self.arguments.kills}: a client gave up")
        self.finish()
        self.figures(time.perf_counter() - began)

    def is_hopeless(self):
        """Whether a client has given up."""
        return any(not client.is_alive() for client in self.watchers + self.writers)

    def finish(self):
        """Starts a last server, writes more, waits for silence, and compares everything."""
        self.start()
        cycle = self.test.begin(self.server.address)
        until(lambda: sum(cycle.counts) >= WRITERS or self.is_hopeless(), "the last server acknowledges writes")
        for writer in self.writers:
            writer.stopping.set()
        for writer in self.writers:
            writer.join(PATIENCE_SECONDS)
            if writer.is_alive():
                self.test.broken("every call is answered", f"{writer.name}: {writer.describe()}")
        audit.audit(self, cycle)

    def figures(self, seconds):
        ready = sorted(self.ready)
        requests = [request for writer in self.writers for request in writer.requests]
        events = sum(len(stream.events) for stream in self.event_streams())
        states = [stream for watcher in self.watchers for stream in watcher.streams if isinstance(stream, StateStream)]
        print(f"ready after: least {ready[0] * 1000:.0f}, median {statistics.median(ready) * 1000:.0f}, 90 % "
              f"{ready[int(len(ready) * 0.9)] * 1000:.0f}, most {ready[-1] * 1000:.0f} ms, of {len(ready)} starts")
        print(f"kills: {len(self.ready) - 2} while writing, {self.early_kills} while starting, "
              f"in {seconds:.0f} s")
        print(f"writes: {len(requests)} acknowledged, {sum(1 for each in requests if each.attempts > 1)} of them asked "
              f"for again after a kill, {sum(1 for each in requests if each.refused)} refused, "
              f"{sum(writer.replays for writer in self.writers)} repeated with their key")
        print(f"watches: {events} events, {sum(stream.pushes for stream in states)} values, "
              f"{sum(stream.resumes for stream in states)} resumed by token "
              f"({sum(stream.resumed_unchanged for stream in states)} unchanged), "
              f"{sum(watcher.connections for watcher in self.watchers)} connections, "
              f"{sum(watcher.beats for watcher in self.watchers)} beats")
        print(f"clock: up to {self.test.ahead:.1f} s ahead of the machine's")

    def event_streams(self):
        return [stream for watcher in self.watchers for stream in watcher.streams if isinstance(stream, EventStream)]


def report(test):
    passed = failed = 0
    for name in CHECKS:
        violations, examined = test.violations[name], test.examined[name]
        if not violations and examined:
            passed += 1
            print(f"ok      {name} ({examined})")
            continue
        failed += 1
        print(f"FAILED  {name}: {f'{len(violations)} times' if violations else 'nothing of the kind was seen'}")
        for violation in violations[:3]:
            print(f"        {violation[:700]}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed == 0


def main():
    parser = trial.options(__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("writes_per_second", type=int)
    parser.add_argument("--shortest", type=float, default=0.3, help="seconds from ready to a kill, at least")
    parser.add_argument("--longest", type=float, default=1.5, help="seconds from ready to a kill, at most")
    parser.add_argument("--control", action="store_true", help="spoil what clients get: each check must notice what is meant for it")
    parser.add_argument("--ready", type=float, default=PATIENCE_SECONDS, help="seconds that a start may take; for a quiet machine")
    arguments = parser.parse_args()
    trial.ends_what_it_began()
    run = Run(arguments)
    try:
        run.run()
    finally:
        run.test.end_all()
        run.server.kill()
    return 0 if (controls.found(run) if arguments.control else report(run.test)) else 1


if __name__ == "__main__":
    sys.exit(main())
