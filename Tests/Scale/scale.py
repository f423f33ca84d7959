"""Measures a server with many accounts: its start time, its memory before the first read, and its read latency.

    scale.py ACCOUNTS [--reads N] [--starts N] [--seed N] [--without-limits]

It reads uniformly random accounts, one at a time on one connection, with prebuilt requests. PINGs show the cost of Python and
the loopback, because the server's loop answers them without the store.
"""
import argparse
import gc
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

from client import CALL, MESSAGE, PING, PONG, STATUS, Client
from figures import Figures
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS
from wire import APP, Caller, contract

ENTITLEMENTS, GROUP = "/perch.v1.EntitlementService/", "premium"
YEARLY, COINS = "com.example.yearly", "com.example.coins"
# The required limits.
READY_MS, MEMORY_MIB, READ_P99_MS = 200, 64, 1.0
WRITES_PER_SECOND, WRITERS = 500, 8
SUBSCRIBED = 1


class Requests:
    """The prebuilt bytes of read requests."""

    def __init__(self, contract, accounts, count, seed):
        self.contract = contract
        self.call = contract.message("perch.wire.v1.Call")
        order = random.Random(seed)
        self.picked = [order.randrange(1, accounts + 1) for _ in range(count)]
        self.checked = 0
        self.reads = [self.frame(number, index) for index, number in enumerate(self.picked)]

    def frame(self, number, index):
        account = f"user-{number}"
        if index % 2:
            return self.frame_of("GetCurrentEntitlement", account=account, product_id=YEARLY)
        return self.frame_of("GetSubscriptionStatus", account=account, group_id=GROUP)

    def frame_of(self, method, **fields):
        path = ENTITLEMENTS + method
        request = self.contract.method(path)[0](app=APP, **fields).SerializeToString()
        body = self.call(method=path, request=request).SerializeToString()
        return struct.pack(">IBI", CALL << 24 | 1, 0, len(body)) + body

    def check(self, index, answer):
        """Checks the answer of the read at `index` and returns it."""
        kind = "GetCurrentEntitlement" if index % 2 else "GetSubscriptionStatus"
        message = self.contract.method(ENTITLEMENTS + kind)[1].FromString(answer)
        if index % 2:
            right = message.success.transaction.transaction.product_id == YEARLY
        else:
            right = [each.state for each in message.success.statuses] == [SUBSCRIBED]
        if not right:
            raise RuntimeError(f"user-{self.picked[index]} was read as {message}, but has {YEARLY}")
        self.checked += 1


class Prober:
    """One connection with minimal Python overhead."""

    def __init__(self, address, contract):
        client = Client(address, contract)
        client.hello(client_name="scale", heartbeat_seconds=600)
        self.socket, self.client = client.socket, client
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ping(self, count):
        """Microseconds of round trips that the loop answers alone."""
        frame = struct.pack(">IBI", PING << 24, 0, 8) + b"measured"
        return self.measure(frame for _ in range(count))

    def measure(self, frames, answers=None):
        """Microseconds from sending a frame to its complete answer. A MESSAGE goes to `answers`."""
        took, send, receive, now = [], self.socket.sendall, self.socket.recv, time.perf_counter_ns
        gc.disable()
        for frame in frames:
            began = now()
            send(frame)
            data = receive(65536)
            while (message := ended(data)) is None:
                data += receive(65536)
            took.append((now() - began) / 1000)
            if answers is not None:
                answers.append(message)
        gc.enable()
        return took


def ended(data):
    """The body of the MESSAGE (empty for a PONG) if the answer is complete, otherwise None."""
    at, message = 0, b""
    while len(data) - at >= 9:
        kind, length = data[at], int.from_bytes(data[at + 5:at + 9], "big")
        if len(data) - at < 9 + length:
            return None
        if kind == MESSAGE:
            message = data[at + 9:at + 9 + length]
        elif kind in (STATUS, PONG):
            return message
        at += 9 + length
    return None


def percentiles(took):
    ordered = sorted(took)
    return (f"p50 {statistics.median(ordered) / 1000:.3f}, p90 {ordered[len(ordered) * 90 // 100] / 1000:.3f}, p99 "
            f"{ordered[len(ordered) * 99 // 100] / 1000:.3f}, most {ordered[-1] / 1000:.3f} ms ({len(ordered)})")


def p99(took):
    return sorted(took)[len(took) * 99 // 100] / 1000


def drop_pages(store):
    """Drops the file's pages from the kernel's cache, so that reads come from the disk."""
    descriptor = os.open(store, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def read_all(address, requests, name, count):
    """Reads on a separate connection; every answer is checked afterwards."""
    prober, answers = Prober(address, requests.contract), []
    floor = prober.ping(2_000)
    took = prober.measure(requests.reads[:count], answers)
    for index, answer in enumerate(answers):
        requests.check(index, answer)
    print(f"        {name}: {percentiles(took)}")
    print(f"        PING beside it: {percentiles(floor)}", flush=True)
    return took


class Writers:
    """Connections that buy, in a separate process, so that they do not wait for this one's interpreter."""

    def __init__(self, arguments, address):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--write", str(address[1]), str(arguments.accounts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "writing\n":
            raise RuntimeError("the writers did not begin")

    def stop(self):
        """Writes per second, and their latencies in milliseconds."""
        self.process.stdin.close()
        rate, median, worst = self.process.stdout.read().split()
        self.process.wait()
        return float(rate), float(median), float(worst)


def write(port, accounts):
    """The process of `Writers`: writes until its input ends."""
    address = ("127.0.0.1", int(port))
    stopping, wrote, took, began = threading.Event(), threading.Event(), [], time.perf_counter()

    def run(index):
        client = Caller(address, client_name="scale writer", heartbeat_seconds=600)
        order, place = random.Random(index), 0
        while not stopping.is_set():
            wait = began + (place * WRITERS + index) / WRITES_PER_SECOND - time.perf_counter()
            if wait > 0 and stopping.wait(wait):
                return
            place += 1
            sent = time.perf_counter()
            client.get("/perch.v1.TransactionService/Purchase", app=APP, order={"product_id": COINS},
                       account=f"user-{order.randrange(1, int(accounts) + 1)}", idempotency_key=struct.pack(">II", index, place))
            took.append(time.perf_counter() - sent)
            wrote.set()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(WRITERS)]
    for thread in threads:
        thread.start()
    # A reader may be done before the first write: then nothing was measured, and there are no latencies.
    if not wrote.wait(PATIENCE_SECONDS):
        os._exit(1)  # The threads would be waited for.
    print("writing", flush=True)
    sys.stdin.read()
    stopping.set()
    for thread in threads:
        thread.join()
    ordered = sorted(took)
    print(len(took) / (time.perf_counter() - began), ordered[len(ordered) // 2] * 1000, ordered[-1] * 1000)


def generate(arguments, store):
    began = time.perf_counter()
    subprocess.run([PERCH, "store", "generate", store, "--accounts", str(arguments.accounts), "--catalog",
                    CATALOG, "--bundle-id", APP["bundle_id"], "--product", YEARLY], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    print(f"        generated {arguments.accounts} accounts in {seconds:.1f} s "
          f"({arguments.accounts / seconds:.0f} a second), {store.stat().st_size / (1 << 20):.0f} MiB", flush=True)


def measure(arguments, store, server, figures):
    requests = Requests(contract(), arguments.accounts, arguments.reads, arguments.seed)
    ready, memory = [], []
    for start in range(arguments.starts):
        if start == 0:
            drop_pages(store)
        ready.append(server.start() * 1000)
        memory.append(server.memory() / (1 << 20))
        if start + 1 < arguments.starts:
            status = server.stop()
            assert status == 0, f"the server that was told to stop ended with {status}"
    print(f"        ready after: median {statistics.median(ready):.1f} ms; the first, with the file's pages dropped, "
          f"{ready[0]:.1f} ms ({len(ready)} starts)")
    figures.at_most(f"ready after exec, the slowest of {len(ready)} starts", max(ready), READY_MS, "ms")
    figures.at_most("resident before the first read", max(memory), MEMORY_MIB, "MiB")

    took = read_all(server.address, requests, "random reads", arguments.reads)
    figures.at_most("random reads, no writers, p99", p99(took), READ_P99_MS, "ms")
    print(f"        resident after {arguments.reads} reads: {server.memory() / (1 << 20):.1f} MiB")
    read_all(server.address, requests, "the same again, records in the cache", arguments.reads)
    assert server.stop() == 0

    drop_pages(store)
    server.start()
    read_all(server.address, requests, "random reads, the file's pages dropped before", arguments.reads // 4)
    assert server.stop() == 0

    server.start()
    writers = Writers(arguments, server.address)
    read_all(server.address, requests, f"random reads under {WRITES_PER_SECOND} writes a second",
             arguments.reads // 2)
    rate, median, worst = writers.stop()
    print(f"        the writes: {rate:.0f} a second, p50 {median:.1f}, most {worst:.1f} ms")
    if figures.has_limits:
        figures.holds(f"the writers kept up with {WRITES_PER_SECOND} a second", rate > WRITES_PER_SECOND * 0.95)
    figures.holds(f"{requests.checked} answers were right", requests.checked > arguments.reads)
    figures.holds("a server that is told to stop ends with 0", server.stop() == 0)


def main():
    if sys.argv[1:2] == ["--write"]:
        return write(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("accounts", type=int)
    parser.add_argument("--reads", type=int, default=20_000)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-limits", action="store_true", help="say the figures, judge only what is no figure")
    arguments = parser.parse_args()
    print(f"        {arguments.accounts} accounts, {os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f}")
    store = WORK / f"scale-{arguments.accounts}.db"
    if not store.exists():
        generate(arguments, store)
    server = Server(PERCH, CATALOG, store, WORK / "server.log")
    figures = Figures(not arguments.without_limits)
    try:
        measure(arguments, store, server, figures)
    finally:
        server.kill()
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
