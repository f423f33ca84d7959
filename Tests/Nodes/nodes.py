"""Kills and stops nodes and their database while clients write, watch and hop, and checks the promises of one store.

    nodes.py [SECONDS] [--nodes N] [--rate R] [--expiries N] [--old PERCH] [--seed N] [--calm] [--silence]

The clients and most checks are those of Tests/Crash. A client that is refused because the store is out of reach tries another node.
"""
import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import audit
import crash
import order
import trial
from client import MESSAGE, STATUS
from database import Database
from freezing import frozen
from machine import Machine
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from watchers import Watcher
from wire import ADMIN, APP, STORE, Caller
from writers import Writer, one_line

OUT_OF_REACH = ("STORE_UNREACHABLE", "SHUTTING_DOWN", "STORE_FAILED", "BEHIND")
NODE_CHECKS = (
    "the database's revisions have no hole",
    "the database's marks and records are those of its changes",
    "nodes that lived to the end have applied everything",
    "perch goes on with the next of several addresses, and lists the nodes",
    "no clock of one machine moves the store ahead, and none stops it",
    order.CHECK,
)
# Milliseconds by which a commit may seem to be ahead of the true clock, or behind it where clients write.
CLOCK_TOLERANCE = 3_000
CLOCK_PATIENCE_SECONDS = 60
crash.CHECKS += NODE_CHECKS
# Violations after which the state of all nodes is printed, and the metrics that it has.
DIAGNOSES = 3
DIAGNOSED = ("perch_database", "perch_ready", "perch_nodes", "perch_store", "perch_calls_open", "perch_revision", "perch_views", "perch_inbox")


class Cycle(crash.Cycle):
    """One connection of a client to one node."""


class Test(crash.Test):
    """Every connection goes to a node that is drawn anew."""

    def __init__(self, arguments, nodes):
        super().__init__(argparse.Namespace(seed=arguments.seed, writes_per_second=arguments.rate))
        self.nodes, self.random = nodes, random.Random(f"{arguments.seed} hops")
        self.unreachable = collections.Counter()
        self.diagnosing, self.diagnoses = threading.Lock(), 0
        # Seconds from the first attempt of a write to its acknowledgement: by live nodes alone, and where one was stopped.
        self.waits, self.waits_of_stopped, self.counted = [], [], [0] * crash.WRITERS

    def broken(self, name, what):
        """The first ones are shown at once, with the state of everything."""
        super().broken(name, what)
        with self.diagnosing:
            if self.diagnoses < DIAGNOSES:
                self.diagnoses += 1
                print(f"{time.strftime('%H:%M:%S')} BROKEN: {name}: {what}", flush=True)
                self.diagnose()

    @property
    def acknowledged(self):
        return len(self.waits) + len(self.waits_of_stopped)

    def next_cycle(self):
        while not self.ended:
            with self.lock:
                up = [node for node in self.nodes if node.is_up]
                chosen = self.random.choice(up) if up else None
            if chosen:
                cycle = Cycle(chosen.address, (0, ""))
                cycle.node = chosen
                cycle.counts = self.counted
                return cycle
            time.sleep(0.02)
        return None

    def wait_for_end(self, cycle):
        time.sleep(0.05)

    def welcomed(self, welcome, who, cycle):
        with self.lock:
            identity = (welcome.store_id, welcome.epoch)
            self.identity = self.identity or identity
        self.looked("no crash takes back what anyone has seen")
        if identity != self.identity:
            self.broken("no crash takes back what anyone has seen", f"{who}: {identity} after {self.identity}")


class HoppingCaller(Caller):
    test = None

    def ask(self, path, **request):
        answer, status = super().ask(path, **request)
        if status.code and status.reason in OUT_OF_REACH:
            self.test.unreachable[status.reason] += 1
            time.sleep(0.05)
            raise ConnectionError(status.message)
        return answer, status


class HoppingWriter(Writer):
    caller, asked = HoppingCaller, None

    def send(self, cycle):
        """As of one server; an answer that the store is out of reach is none."""
        began = time.perf_counter()
        if self.asked is not self.pending:
            self.asked, self.since, self.met_stopped = self.pending, began, False
        try:
            super().send(cycle)
        finally:
            self.met_stopped = self.met_stopped or cycle.node.was_stopped(since=began)
        waits = self.test.waits_of_stopped if self.met_stopped else self.test.waits
        waits.append(time.perf_counter() - self.since)

    def connect(self, cycle):
        HoppingCaller.test = self.test
        super().connect(cycle)

    def cut(self):
        client = self.client
        if client:
            try:
                client.socket.shutdown(2)
            except OSError:
                pass


class PatientCaller(HoppingCaller):
    """Asks one node again until it answers: the audit has no blows, and a busy machine may keep a node from its database."""

    def __init__(self, address, **fields):
        self.again, self.end = (address, fields), time.monotonic() + PATIENCE_SECONDS
        super().__init__(address, **fields)

    def ask(self, path, **request):
        while True:
            try:
                return super().ask(path, **request)
            except ConnectionError as error:
                if time.monotonic() > self.end:
                    raise TimeoutError(f"{path} had no answer within {PATIENCE_SECONDS} s: {error}") from error
            self.close()
            Caller.__init__(self, self.again[0], **self.again[1])


class HoppingWatcher(Watcher):
    comes_back = True
    # Where it stays while it is compared: each node has to come to the last revision.
    node = None
    # What it was refused since then, and when.
    refusals = ()

    def next_cycle(self):
        if self.node is None or self.stopping:
            return self.test.next_cycle()
        cycle = Cycle(self.node.address, (0, ""))
        cycle.node = self.node
        return cycle

    def stay(self):
        self.is_open.wait(PATIENCE_SECONDS)
        self.refusals, self.node = [], self.cycle.node

    def is_back(self, cycle):
        return self.is_open.wait(PATIENCE_SECONDS)

    def read_all(self, position):
        try:
            return super().read_all(position)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it stayed at node {self.node.index} over {self.connections} connections in all, and was refused "
                               f"there: {self.refusals[-8:]}") from error

    def leave(self, where, status):
        self.test.unreachable[where + status.reason] += 1
        if self.node is not None:
            self.refusals.append(f"{time.strftime('%H:%M:%S')} {where}{status.reason}: {status.message}")
        time.sleep(0.05)
        raise ConnectionError(status.message)

    def take(self, frame):
        if frame.kind == STATUS and frame.message.reason in OUT_OF_REACH and not self.stopping:
            self.leave("watch ", frame.message)
        if frame.kind == MESSAGE and frame.stream in self.numbers and "state" in frame.message.DESCRIPTOR.oneofs_by_name:
            failure = frame.message.failure if frame.message.WhichOneof("state") == "failure" else None
            if failure is not None and failure.reason in OUT_OF_REACH:
                self.leave("value ", failure)
        super().take(frame)


class Node(Server):
    def __init__(self, index, url, perch=None):
        self.machine = Machine(WORK / f"machine-{index}")
        super().__init__(perch or PERCH, CATALOG, url, WORK / f"node-{index}.log", time_rate=crash.TIME_RATE, loops=1,
                         variables=self.machine.variables)
        self.index, self.is_up, self.is_old = index, False, perch is not None
        self.is_stopped, self.last_stop = False, 0.0

    def bring_up(self):
        self.start()
        self.is_up = True

    def stop_for(self, seconds):
        self.is_stopped = True
        with frozen(self.pid):
            time.sleep(seconds)
        self.is_stopped, self.last_stop = False, time.perf_counter()

    def was_stopped(self, since):
        """Whether it was stopped at any time since then."""
        return self.is_stopped or self.last_stop >= since

    def take_down(self):
        self.is_up = False
        self.kill()


class Run:
    # At the end too a node of a busy machine may lose its database for a moment.
    comes_back = True

    def __init__(self, arguments):
        self.arguments, self.random = arguments, random.Random(f"{arguments.seed} chaos")
        os.chmod(WORK, 0o755)
        self.database = Database(WORK / "postgres")
        self.database_machine = Machine(WORK / "machine-database")
        self.database.as_user = self.database.as_user + ["env", *(f"{name}={value}" for name, value in self.database_machine.variables.items())]
        self.database.start()
        # The first one is of another version, if one is named.
        self.nodes = [Node(index, self.database.url, arguments.old if index == 0 else None)
                      for index in range(arguments.nodes)]
        self.test = Test(arguments, self.nodes)
        self.test.diagnose = self.diagnose
        self.writers = [HoppingWriter(index, crash.WRITERS, self.test) for index in range(crash.WRITERS)]
        streams = crash.Run.streams
        self.watchers = [HoppingWatcher(index, streams(self, writer), self.test)
                         for index, writer in enumerate(self.writers)]
        alone = [account for writer in self.writers for account in writer.accounts][:8]
        self.watchers += [HoppingWatcher(len(self.watchers) + index, [crash.EventStream(account)], self.test)
                          for index, account in enumerate(alone)]
        self.ender = order.Ender(self.test, arguments.expiries, max(1, arguments.seconds - 3))
        self.readers = [order.ChangeReader(index, self.test, hops=index > 0) for index in range(order.READERS)]
        self.events, self.longest = collections.Counter(), collections.defaultdict(float)

    def event_streams(self):
        return [stream for watcher in self.watchers for stream in watcher.streams if isinstance(stream, crash.EventStream)]

    def run(self):
        # All at once, on an empty database: one store.
        if self.arguments.old:
            # It makes the store, and the others come to it.
            self.nodes[0].bring_up()
        starts = [threading.Thread(target=node.bring_up) for node in self.nodes if not node.is_up]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
        if not all(node.is_up for node in self.nodes):
            raise RuntimeError("a node did not start: " + "; ".join(str(node.lines[-3:]) for node in self.nodes))
        for watcher in self.watchers:
            watcher.start()
        for stream in self.event_streams():
            if not stream.has_begun.wait(PATIENCE_SECONDS):
                raise TimeoutError(f"{stream.name} did not say where new events begin within {PATIENCE_SECONDS} s")
        for writer in self.writers + self.readers + [self.ender]:
            writer.start()
        began = time.monotonic()
        end = began + self.arguments.seconds
        next_blow = began + 1.0
        while time.monotonic() < end and all(client.is_alive() for client in self.watchers + self.writers):
            time.sleep(0.1)
            for client in self.random.sample(self.watchers + self.writers, 2):
                if self.random.random() < 0.5:
                    client.cut()
                    self.events["hops"] += 1
            if not self.arguments.calm and time.monotonic() >= next_blow:
                self.blow()
                next_blow = time.monotonic() + self.random.uniform(0.5, 1.5)
        self.finish(time.monotonic() - began)

    def blow(self):
        """Something bad. It is over when this returns."""
        blows = ["kill a node", "kill a node", "stop a node", "end all sessions", "restart the database", "kill the database"]
        # The version before follows the wall clock of its machine.
        if not self.arguments.old:
            blows += ["step the clock of a node", "step the clock of the database"]
        blow = self.random.choice(blows)
        self.events[blow] += 1
        node = self.random.choice(self.nodes)
        began = time.monotonic()
        if blow == "kill a node":
            node.take_down()
            time.sleep(self.random.uniform(0, 0.3))
            node.bring_up()
        elif blow == "stop a node":
            node.stop_for(self.random.uniform(0.5, 3))
        elif blow.startswith("step the clock"):
            machine = self.database_machine if "database" in blow else node.machine
            machine.give(ahead=self.random.choice([-600, 600]))
            time.sleep(self.random.uniform(1, 6))
            self.check_clock()
            machine.give()
        elif blow == "end all sessions":
            self.database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'perch' AND pid <> "
                              "pg_backend_pid()")
        else:
            self.database.kill(signal.SIGQUIT if blow == "restart the database" else signal.SIGKILL)
            time.sleep(self.random.uniform(0, 0.5))
            self.database.start()
        accepting, before = time.monotonic(), self.test.acknowledged
        while time.monotonic() < accepting + 10 and self.test.acknowledged < before + 3:
            time.sleep(0.01)
        self.longest[blow] = max(self.longest[blow], time.monotonic() - accepting)
        if self.arguments.verbose:
            print(f"  {blow}: {accepting - began:.2f} s, then {time.monotonic() - accepting:.2f} s to three writes", flush=True)
        for each in self.nodes:
            if each.process.poll() is not None:
                self.test.broken("no client ends early", f"node {each.index} ended with {each.process.returncode}: {each.lines[-3:]}")
                each.bring_up()

    def check_clock(self):
        """The newest commit is of now: clients write all the time, if a busy machine lets them. A clock that stands still stays behind."""
        self.test.looked(NODE_CHECKS[4])
        end = time.monotonic() + CLOCK_PATIENCE_SECONDS
        while newest := self.database.ask("SELECT max(committed) FROM perch.commits"):
            difference = int(newest) - int(time.time() * 1000)
            if abs(difference) <= CLOCK_TOLERANCE:
                return
            if difference > 0 or time.monotonic() > end:
                return self.test.broken(NODE_CHECKS[4], f"the newest commit is {difference} ms ahead of the true clock")
            time.sleep(0.1)

    def finish(self, seconds):
        test = self.test
        self.ender.stopping.set()
        before = test.acknowledged
        until(lambda: test.acknowledged >= before + 8 or not all(client.is_alive() for client in self.watchers + self.writers),
              "writes are acknowledged after the last blow")
        self.check_clock()
        for writer in self.writers:
            writer.stopping.set()
        for writer in self.writers:
            writer.join(PATIENCE_SECONDS)
            if writer.is_alive():
                test.broken("every call is answered", f"{writer.name}: {writer.describe()}")
        cycle = test.next_cycle()
        self.server = next(node for node in self.nodes if node.address == cycle.address)
        caller = PatientCaller(cycle.address, client_name="nodes audit", heartbeat_seconds=600)
        frozen = caller.get(STORE + "SetClock", app=APP, freeze={})
        for watcher in self.watchers:
            watcher.stay()
        if self.arguments.silence:
            threading.Thread(target=self.silence, daemon=True).start()
        audit.watches(self, test, cycle, frozen.position)
        for writer in self.writers:
            for account in writer.accounts:
                audit.history(self, test, caller, writer, account, frozen.position)
            for request in writer.requests:
                audit.again(test, caller, request)
        self.expiries = order.check(test, self.readers, cycle, frozen.position.revision)
        self.ask_with_perch()
        for watcher in self.watchers:
            watcher.stopping = True
        test.end_all()
        self.look_into_database(frozen.position.revision)
        # All at once: each waits some seconds for the clients that it tells to go.
        statuses = {}
        stops = [threading.Thread(target=lambda node=node: statuses.update({node: node.stop()})) for node in self.nodes]
        for node, stop in zip(self.nodes, stops):
            node.is_up = False
            stop.start()
        for node, stop in zip(self.nodes, stops):
            stop.join()
            status = statuses.get(node)
            test.looked("a server that is told to stop ends with 0")
            if status != 0:
                test.broken("a server that is told to stop ends with 0", f"node {node.index} ended with {status}")
        self.tell(seconds)

    def silence(self):
        """The database says nothing for longer than nodes vouch for what they know."""
        self.database.freeze()
        time.sleep(5)
        self.database.thaw()

    def diagnose(self):
        """What each node and the database say at this moment."""
        for node in self.nodes:
            print(f"  node {node.index}: " + ("old, " if node.is_old else "") + f"port {node.port}, process {node.process.poll()}")
            try:
                caller = Caller(node.address, client_name="diagnosis")
                print(f"    revision {caller.welcome.revision}, epoch {caller.welcome.epoch}")
                status = caller.get(ADMIN + "GetServerStatus")
                print("    " + "; ".join(f"{each.name} {each.value:g}" for each in status.metrics
                                         if each.value and (each.name.startswith(DIAGNOSED) or "refus" in each.name)))
                for finding in status.findings:
                    if finding.level != "ok" and finding.subject != "node":
                        print(f"    finding: {one_line(finding)}")
                caller.close()
            except (OSError, RuntimeError, AttributeError) as error:
                print(f"    {type(error).__name__}: {error}")
            for line in [line for line in node.lines if "a call changed" not in line][-12:]:
                print(f"    | {line}")
        for sql in ("SELECT max(revision), max(committed), (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM perch.commits",
                    "SELECT * FROM perch.nodes ORDER BY beat DESC LIMIT 6",
                    "SELECT pid, state, wait_event_type, wait_event, now() - state_change, left(query, 60) FROM pg_stat_activity "
                    "WHERE datname = 'perch'",
                    "SELECT pid, mode, granted FROM pg_locks WHERE NOT granted"):
            print(f"  {sql.split(' FROM')[0][:60]}…: " + (self.database.ask(sql) or "nothing").replace("\n", "\n    "))
        print("  load " + pathlib.Path("/proc/loadavg").read_text().strip(), flush=True)

    def ask_with_perch(self):
        """The commands of perch with several addresses, of which the first is of nobody."""
        servers = ",".join(["127.0.0.1:1"] + ["%s:%d" % node.address for node in self.nodes])
        for command, word in ((["nodes"], "applied revision"), (["get", "apps"], "com.example.app")):
            done = subprocess.run([PERCH, *command, "--server", servers], capture_output=True, text=True)
            self.test.looked(NODE_CHECKS[3])
            if done.returncode != 0 or done.stdout.count(word) < (len(self.nodes) if command == ["nodes"] else 1):
                self.test.broken(NODE_CHECKS[3], f"{command}: {done.returncode} {done.stdout} {done.stderr}")

    def look_into_database(self, revision):
        test, ask = self.test, self.database.ask
        rows = ask("SELECT count(*), max(revision), min(revision) FROM perch.commits").split("|")
        test.looked(NODE_CHECKS[0], int(rows[0]))
        if rows[0] != rows[1] or rows[2] != "1" or int(rows[1]) < revision:
            test.broken(NODE_CHECKS[0], f"{rows[0]} rows up to {rows[1]}, clients were at {revision}")
        stray = ask("SELECT count(*) FROM perch.transactions t LEFT JOIN perch.facts f USING (account, revision, ordinal) "
                    "WHERE f.account IS NULL AND octet_length(t.blob) = 0")
        facts = ask("SELECT count(*) FROM perch.facts f LEFT JOIN perch.commits c USING (revision) WHERE c.revision IS NULL")
        marks = ask("SELECT count(*) - count(DISTINCT mark) FROM perch.commits")
        test.looked(NODE_CHECKS[1], int(rows[0]))
        if (stray, facts, marks) != ("0", "0", "0"):
            test.broken(NODE_CHECKS[1], f"{stray} transactions and {facts} facts stand alone, {marks} marks are there twice")
        newest = int(ask("SELECT max(revision) FROM perch.commits"))
        first = {}

        def applied():
            """What each node has applied that beats: one that was killed while its clock was ahead has a beat to come."""
            rows = [row.split("|") for row in ask("SELECT id, beat, applied FROM perch.nodes").splitlines()]
            return [int(count) for node, beat, count in rows if first.setdefault(node, beat) != beat]

        def have_all():
            found = applied()
            return len(found) >= len(self.nodes) and min(found) >= newest

        test.looked(NODE_CHECKS[2], len(self.nodes))
        try:
            until(have_all, lambda: f"not each of {len(self.nodes)} nodes has applied revision {newest}: {applied()}")
        except AssertionError as late:
            test.broken(NODE_CHECKS[2], str(late))

    def tell(self, seconds):
        waits, stopped = sorted(self.test.waits), sorted(self.test.waits_of_stopped)
        requests = [request for writer in self.writers for request in writer.requests]
        at = lambda part: waits[min(len(waits) - 1, int(len(waits) * part))] * 1000
        print(f"{len(self.nodes)} nodes, {seconds:.0f} s: {len(requests)} writes acknowledged, "
              f"{sum(1 for each in requests if each.attempts > 1)} of them asked for again; waits ms: median {at(0.5):.1f}, "
              f"p99 {at(0.99):.0f}, longest {waits[-1] * 1000:.0f}"
              + (f"; {len(stopped)} that met a stopped node: longest {stopped[-1] * 1000:.0f}" if stopped else ""))
        print("blows: " + ", ".join(
            f"{count} times {name}" + (f" (then at most {self.longest[name]:.2f} s to three acknowledged writes)" if name in self.longest else "")
            for name, count in self.events.items()))
        print(f"out of reach: {dict(self.test.unreachable)}")
        print(f"changes: {max(len(reader.seen) for reader in self.readers)} to each of {len(self.readers)} readers, {self.expiries} of them "
              f"by time, over {sum(reader.connections for reader in self.readers)} connections")
        events = sum(len(stream.events) for stream in self.event_streams())
        states = [stream for watcher in self.watchers for stream in watcher.streams if isinstance(stream, crash.StateStream)]
        print(f"watches: {events} events, {sum(stream.pushes for stream in states)} values, "
              f"{sum(stream.resumes for stream in states)} resumed by token, "
              f"{sum(watcher.connections for watcher in self.watchers)} connections")

    def verdict(self):
        bad = 0
        for name, found in self.test.violations.items():
            print(f"BROKEN {len(found)} times: {name}")
            for what in found[:5]:
                print(f"    {what}")
            bad += len(found)
        looked = sum(self.test.examined.values())
        print(f"nodes: {bad} violations in {looked} checks")
        return 1 if bad or looked == 0 or not self.test.waits else 0

    def close(self):
        self.test.end_all()
        for node in self.nodes:
            if node.process and node.process.poll() is None:
                node.kill()
        self.database.stop()


def main():
    parser = trial.options(__doc__, "--verbose", "--calm", "--silence")
    parser.add_argument("seconds", type=float, nargs="?", default=30)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--expiries", type=int, default=200)
    parser.add_argument("--old", type=pathlib.Path)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    trial.ends_what_it_began()
    run = Run(arguments)
    try:
        run.run()
        status = run.verdict()
    finally:
        run.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
