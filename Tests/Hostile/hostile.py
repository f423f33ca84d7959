"""Attacks on what all clients of a server share, run by Tests/Hostile/run.

Each attack holds connections or partial frames from addresses of 127.0.0.0/8. Beside it, watchers on another address measure
how long a change takes to reach them, and newcomers connect ten times a second. An attack fails when a newcomer is refused or a
watcher misses a change. With --full, a newcomer may wait two seconds for its WELCOME or its answer, and the p99 of the watchers'
latency may be at most twice the value before the attack, three times under a flood; LATENCY_FLOOR is allowed always.

Latencies mean something on a quiet machine only, or with `nice -n -19`. Where /proc/sys/kernel/sched_autogroup_enabled is 1, that counts
among the processes of one session only: `setsid bash -c 'echo -19 >/proc/self/autogroup; nice -n -19 Tests/Hostile/run …'`. A flood of
HTTP may also add at most MEMORY_GROWTH to what the server holds with as many quiet connections.
"""
import collections
import multiprocessing
import os
import select
import socket
import struct
import sys
import threading
import time

import floods
import wire
from certificates import Authority
from checks import Peer
from client import BEAT, CALL, HELLO, MESSAGE, PING, STATUS, Client
from server import Server
from tokens import Keys
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from wire import ADMIN, APP, TRANSACTIONS

FULL, CONTROL = "--full" in sys.argv, "--control" in sys.argv
FLOODS = "--floods" in sys.argv
ONLY = [sys.argv[index + 1] for index, word in enumerate(sys.argv) if word == "--only"]
FLOODERS = 200  # connections of a flood that comes from many
SECONDS = int(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 20 if FULL else 2
WATCHERS = 100 if FULL else 20
CHANGES_PER_SECOND = 40
CONNECTS_PER_SECOND = 256
ADMITTED_WITHIN, PUSHED_WITHIN = (2.0, 5) if FULL or CONTROL else (PATIENCE_SECONDS, PATIENCE_SECONDS)  # seconds
SILENT_WITHIN = 0.25  # seconds: in so short a time an address brings 64 connections, which leave 512 slots some
MEMORY_GROWTH = 128 << 20  # bytes: bounded answers, requests held in part, and the allocator's slack
LATENCY_FLOOR = 0.010  # seconds: below it, a p99 measures the scheduler of this machine
TLS = []  # the settings of a server that takes TLS too
PARTIAL_HELLO = bytes([HELLO, 0, 0, 0, 0])


class Failure(Exception):
    pass


# The attackers. Each runs in a separate process of lower priority, so that it takes no time from the measuring clients.

def dribble(address, sources, count, stop):
    """Holds `count` connections that never finish HELLO, and replaces those that the server closes.

    As many a second as the default of `connects-per-second` lets one address make, which does not hold on loopback.
    """
    poller, peers = select.epoll(), {}
    allowed, since = float(count), time.monotonic()

    def replace():
        peer = socket.socket()
        peer.setblocking(False)
        peer.bind((sources[len(peers) % len(sources)], 0))
        peer.connect_ex(address)
        peers[peer.fileno()] = peer
        poller.register(peer.fileno(), select.EPOLLOUT | select.EPOLLIN)

    while not stop.is_set():
        now = time.monotonic()
        allowed, since = min(allowed + (now - since) * CONNECTS_PER_SECOND * len(sources), count), now
        while len(peers) < count and allowed >= 1:
            allowed -= 1
            replace()
        for number, events in poller.poll(0.02):
            peer = peers[number]
            try:
                if events & select.EPOLLOUT:
                    peer.send(PARTIAL_HELLO)
                    poller.modify(number, select.EPOLLIN)
                    continue
                if peer.recv(4096):
                    continue
            except OSError:
                pass
            poller.unregister(number)
            del peers[number]
            peer.close()
        time.sleep(0.002)


def hold_frames(address, sources, lengths, stop):
    """Welcomed connections without credentials that each send a CALL but for its last byte, as far as the server reads."""
    peers = []

    def replace(length):
        peer = socket.socket()
        peer.bind((sources[len(peers) % len(sources)], 0))
        peer.settimeout(5)
        try:
            peer.connect(address)
            peer.sendall(struct.pack(">IBI", HELLO << 24, 0, 2) + b"\x08\x01")
            peer.sendall(struct.pack(">IBI", CALL << 24 | 1, 0, length) + bytes(length - 1))
        except OSError:
            pass
        peer.setblocking(False)
        peers.append((peer, length))

    for length in lengths:
        replace(length)
    while not stop.is_set():
        time.sleep(0.05)
        for peer, length in list(peers):
            try:
                while data := peer.recv(65_536):
                    pass
            except BlockingIOError:
                continue
            except OSError:
                pass
            peers.remove((peer, length))
            peer.close()
            replace(length)


class Attack:
    """A process that attacks until it is stopped."""

    def __init__(self, attacker, *arguments):
        self.stopped = multiprocessing.Event()
        self.process = multiprocessing.Process(target=self.attack, args=(attacker, *arguments), daemon=True)

    def attack(self, attacker, *arguments):
        # Behind the server and the measuring clients, because an attacker has a machine of its own.
        os.nice(10)
        attacker(*arguments, self.stopped)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()


# The healthy clients.

class Watching:
    """Watchers of one account and a writer that changes it: the latency of each change at each watcher."""

    def __init__(self, address, contract, token):
        self.contract, self.token = contract, token
        self.writer = self.connect(address)
        self.calls, self.sent, self.latencies, self.done = 0, {}, [], threading.Event()
        self.counts = collections.Counter()
        bought = self.ask(TRANSACTIONS + "Purchase", account="watched", order={"product_id": "com.example.coins"})
        assert bought.HasField("transaction"), "nothing was bought"
        self.watchers = [self.connect(address) for _ in range(WATCHERS)]
        for watcher in self.watchers:
            stream = watcher.call(TRANSACTIONS + "TransactionUpdates", app=APP, account="watched")
            # The purchase comes first, then the place where new events begin.
            while watcher.message_of(stream).HasField("transaction"):
                pass

    def connect(self, address):
        peer = Peer(address, self.contract)
        peer.hello(heartbeat_seconds=600, authorization=self.token)
        return peer

    def ask(self, path, **fields):
        messages, status = self.writer.end(self.writer.call(path, app=APP, **fields))
        assert status.code == 0, f"{path}: {status}"
        return messages[0]

    def measure(self, seconds):
        """The p99 in seconds; fails where a watcher missed a change."""
        poller = select.poll()
        by_number = {}
        for watcher in self.watchers:
            by_number[watcher.socket.fileno()] = watcher
            poller.register(watcher.socket.fileno(), select.POLLIN)
        poller.register(self.writer.socket.fileno(), select.POLLIN)
        latencies, rounds = [], int(seconds * CHANGES_PER_SECOND)
        for number in range(rounds):
            began = time.monotonic()
            self.writer.call(TRANSACTIONS + "Purchase", app=APP, account="watched",
                             order={"product_id": "com.example.coins"})
            missing, isAnswered = set(by_number), False
            while missing or not isAnswered:
                ready = poller.poll(PUSHED_WITHIN * 1_000)
                if not ready:
                    late = poller.poll((PATIENCE_SECONDS - PUSHED_WITHIN) * 1_000)
                    raise Failure(
                        f"change {number}: {len(missing)} of {WATCHERS} watchers missed it for {PUSHED_WITHIN} s, "
                        f"the writer {'had' if isAnswered else 'lacked'} its answer; "
                        + (f"something came after {time.monotonic() - began:.1f} s" if late else "nothing came later"))
                now = time.monotonic()
                for found, _ in ready:
                    if found == self.writer.socket.fileno():
                        # Read to its STATUS at once, because the socket's reader may have both frames.
                        while not isAnswered:
                            frame = self.writer.read()
                            if frame is None:
                                raise Failure("the writer's connection was closed")
                            isAnswered = frame.kind == STATUS
                        continue
                    # Not the reader of Peer, which reads on behind a PING, and nothing may follow for whoever has this change.
                    frame = Client.read(by_number[found])
                    # The socket's reader may have a beat and the value behind it.
                    while found in missing and frame and frame.kind in (BEAT, PING):
                        frame = Client.read(by_number[found])
                    if frame is None or frame.kind not in (MESSAGE, BEAT, PING):
                        raise Failure(f"a watcher was closed: {frame}")
                    if frame.kind == MESSAGE and found in missing:
                        missing.remove(found)
                        latencies.append(now - began)
            time.sleep(max(0, began + 1 / CHANGES_PER_SECOND - time.monotonic()))
        latencies.sort()
        return latencies[len(latencies) * 99 // 100]


class Newcomers:
    """Connects ten times a second from one address, each time with a HELLO, and notes how long WELCOME took."""

    def __init__(self, address, contract, source, token):
        self.address, self.contract, self.source, self.token = address, contract, source, token
        self.times, self.refusals, self.stopped = [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        hello = self.contract.message("perch.wire.v1.Hello")(protocol_version=1, authorization=self.token)
        body = hello.SerializeToString()
        while not self.stopped.is_set():
            began, silent, refusal = time.monotonic(), 0, None
            try:
                with socket.create_connection(self.address, timeout=ADMITTED_WITHIN, source_address=(self.source, 0)) as peer:
                    silent = time.monotonic() - began
                    peer.sendall(struct.pack(">IBI", HELLO << 24, 0, len(body)) + body)
                    silent = time.monotonic() - began
                    kind = peer.recv(9)[:1]
                    if kind == b"\x02":
                        self.times.append(time.monotonic() - began)
                    else:
                        refusal = "closed" if not kind else f"kind {kind[0]}"
            except OSError as error:
                refusal = str(error)
            # One that had its connection and waited for a core was as silent as the attackers, and had to make room like them.
            if refusal and silent < SILENT_WITHIN:
                self.refusals.append(refusal)
            self.stopped.wait(max(0, began + 0.1 - time.monotonic()))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(ADMITTED_WITHIN + 1)

    def tries(self, count):
        """Waits until so many have been admitted or refused."""
        until(lambda: len(self.times) + len(self.refusals) >= count, f"{count} newcomers from {self.source} come")

    def judge(self):
        tried = len(self.times) + len(self.refusals)
        if self.refusals or not self.times:
            raise Failure(f"{len(self.times)} of {tried} newcomers from {self.source} were admitted; "
                          f"first refusal: {self.refusals[:1]}")
        return f"{tried} newcomers from {self.source} admitted, the slowest after {max(self.times) * 1000:.0f} ms"


# What is tried.

class Trial:
    def __init__(self, contract, token, keys):
        self.contract, self.token, self.keys = contract, token, keys
        self.failures, self.count = [], 0

    def start(self, *settings, port=0):
        server = Server(PERCH, CATALOG, "memory", WORK / "server.log", *settings, *(["--token-keys", self.keys] if self.keys else []), port=port)
        server.start()
        return server

    def run(self, name, attack, *settings, checks=(), times=2):
        """Measures watchers before and during an attack, with newcomers from its own and from another address."""
        self.count += 1
        server = self.start(*settings)
        try:
            watching = Watching(server.address, self.contract, self.token)
            quiet = watching.measure(SECONDS)
            with Attack(attack[0], server.address, *attack[1:]):
                time.sleep(1)
                with Newcomers(server.address, self.contract, "127.0.0.9", self.token) as foreign, \
                        Newcomers(server.address, self.contract, "127.0.0.2", self.token) as same:
                    during = watching.measure(SECONDS)
                    for check in checks:
                        check(server)
                    foreign.tries(1)
                    same.tries(1)
                said = [foreign.judge(), same.judge()]
            said.append(f"p99 of pushes {quiet * 1000:.1f} ms, under attack {during * 1000:.1f} ms")
            if FULL and during > max(times * quiet, LATENCY_FLOOR):
                raise Failure(f"{said[-1]}: more than {times} times")
            self.tell(name, None, "; ".join(said))
        except Failure as failure:
            self.tell(name, str(failure), "")
        except (AssertionError, OSError) as error:
            self.tell(name, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", "")
        finally:
            server.kill()

    def restart(self, name, attack, *settings):
        """Kills the server under an attack, starts another on its port, and connects."""
        self.count += 1
        server = self.start(*settings)
        try:
            with Attack(attack[0], server.address, *attack[1:]):
                time.sleep(1)
                server.kill()
                server = self.start(*settings, port=server.port)
                with Newcomers(server.address, self.contract, "127.0.0.9", self.token) as newcomers:
                    newcomers.tries(10 * SECONDS)
                self.tell(name, None, newcomers.judge())
        except Failure as failure:
            self.tell(name, str(failure), "")
        finally:
            server.kill()

    def tell(self, name, failure, said):
        if failure:
            self.failures.append(name)
        print(f"{'FAILED ' if failure else 'ok     '} {name}: {failure or said}", flush=True)

    def flood(self, name, attack, quiet=None):
        """The same, with the server's memory bounded. `quiet` opens the connections alone."""
        if ONLY and not any(word in name for word in ONLY):
            return
        before = []

        def grown(server):
            growth = server.memory() - before[0]
            if growth > MEMORY_GROWTH:
                raise Failure(f"the server grew by {growth >> 20} MiB, {MEMORY_GROWTH >> 20} are allowed")

        started = self.start

        def start(*settings, **more):
            server = started(*settings, *(TLS if attack[-1] is True else ()), **more)
            if quiet:
                with Attack(quiet[0], server.address, *quiet[1:]):
                    time.sleep(1)
                    before.append(server.memory())
            else:
                before.append(server.memory())
            return server

        self.start = start
        try:
            self.run(name, attack, checks=[grown], times=3)
        finally:
            self.start = started

    def floods(self, kinds):
        """All at once, and with --full each alone: with and without TLS, on one connection and on many."""
        self.flood("every flood of HTTP at once", (floods.flood, kinds, 1, False))
        self.flood("ten thousand streams of HTTP/2 that nobody reads", (floods.slow_reads, 10, 1_000))
        for kind in kinds if FULL else ():
            for tls in (False, True):
                for connections in (1, FLOODERS):
                    self.alone(kind, connections, tls)

    def alone(self, kind, connections, tls):
        name = f"{'HTTP/2' if kind in floods.HTTP2 else 'HTTP/1.1'}{' over TLS' if tls else ''}, " \
            f"{connections} connection{'s' if connections > 1 else ''}: {kind.__name__.replace('_', ' ')}"
        self.flood(name, (floods.flood, (kind,), connections, tls), (floods.quiet, (kind,), connections, tls))

    def ask(self, server):
        """An authorised client sends a long request while the attack goes on, in two parts."""
        peer = Peer(server.address, self.contract)
        peer.hello(heartbeat_seconds=600, authorization=self.token)
        request = self.contract.method(ADMIN + "CheckCatalog")[0](file=bytes(3 << 20)).SerializeToString()
        call = self.contract.message("perch.wire.v1.Call")(method=ADMIN + "CheckCatalog", request=request)
        body = call.SerializeToString()
        frame = struct.pack(">IBI", CALL << 24 | 1, 0, len(body)) + body
        peer.answers[1] = self.contract.method(ADMIN + "CheckCatalog")[1]
        peer.socket.sendall(frame[:len(frame) // 2])
        time.sleep(1)
        try:
            peer.socket.sendall(frame[len(frame) // 2:])
            _, status = peer.end(1)
        except (AssertionError, OSError) as error:
            raise Failure(f"an authorised client lost its connection: {' '.join(str(error).split())[:200]}") from None
        if status.reason not in ("", "CATALOG_INVALID"):
            raise Failure(f"an authorised client was refused: {status.reason}")
        peer.close()


def main():
    contract, keys = wire.contract(), Keys(PERCH, WORK / "tokens")
    small = ("--handshakes", "512")
    # 15 of 4 MiB and 70 of 65 kB: with them, 64 MiB were full.
    frames = [(4 << 20) - 64] * 15 + [65_000] * 70
    attackers = [f"127.0.0.{number}" for number in range(2, 9)]

    authority = Authority(WORK)
    certificate, key = authority.sign("localhost", names="DNS:localhost")
    TLS[:] = ["--tls-certificate", certificate, "--tls-key", key, "--tls", "allowed"]

    trial = Trial(contract, "", None)
    # Only where there are keys is a token verified.
    known = Trial(contract, "Bearer " + keys.text("admin"), keys.public)
    if FLOODS:
        known.flood("every flood of HTTP at once, where tokens are required", (floods.flood, floods.KINDS, 1, False))
        trial.floods([kind for kind in floods.KINDS if kind not in floods.FRESH])
        for kind in floods.FRESH if FULL else ():
            for tls in (False, True):
                for connections in (1, FLOODERS):
                    known.alone(kind, connections, tls)
        trial.failures += known.failures
        trial.count += known.count
        print(f"hostile: {trial.count - len(trial.failures)} of {trial.count} floods were withstood", flush=True)
        sys.exit(1 if trial.failures else 0)
    trial.run("one address dribbles, default slots", (dribble, ["127.0.0.2"], 700))
    trial.run("one address dribbles, 512 slots", (dribble, ["127.0.0.2"], 700), *small)
    if FULL or CONTROL:
        trial.run("seven addresses dribble, 512 slots", (dribble, attackers, 1_400), *small)
    trial.restart("a restart under the attack, 512 slots", (dribble, ["127.0.0.2"], 700), *small)
    if not CONTROL:
        known.flood("every flood of HTTP at once, where tokens are required", (floods.flood, floods.KINDS, 1, False))
        trial.floods([kind for kind in floods.KINDS if kind not in floods.FRESH])
    known.run("partial frames without credentials", (hold_frames, ["127.0.0.2"], frames), checks=[known.ask])
    if FULL or CONTROL:
        known.run("connections dribble where tokens are required, 512 slots", (dribble, ["127.0.0.2"], 700), *small)

    failures, count = trial.failures + known.failures, trial.count + known.count
    if CONTROL:
        # With default slots an attack of this size finds slots free, whatever the server does when there are none.
        missed = count - 1 - len(failures)
        print(f"hostile: without the protections, {len(failures)} of {count - 1} attacks succeed")
        sys.exit(1 if missed else 0)
    print(f"hostile: {count - len(failures)} of {count} attacks were harmless")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
