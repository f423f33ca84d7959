"""See the script `slow` beside this."""
import json
import re
import statistics
import subprocess
import sys
import time

import trial
from crowd import SEASON, Crowd, Peer, change
from figures import Figures
from server import Server
from trial import CATALOG, PERCH, WORK
from wire import Caller, contract

KERNEL_MAX, OWN_MAX, RATIO_MAX = 256 * 1024, 1024, 1.2
SKMEM = re.compile(r":(\d+)\s+[\d.]+:\d+\s.*?skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f(\d+),w(\d+),o(\d+)", re.S)


def kernel_bytes(port):
    """The kernel's memory for each of the server's connections: queued both ways, reserved, options."""
    said = subprocess.run(["ss", "-tmnH", "state", "established", f"( sport = :{port} )"], capture_output=True, text=True,
                          check=True).stdout
    return [int(r) + int(f) + int(w) + int(o) for _, r, _, f, w, o in SKMEM.findall(said)]


class Slow:
    def __init__(self, arguments):
        self.arguments, self.figures = arguments, Figures(not arguments.without_limits)

    def server(self):
        server = Server(PERCH, CATALOG, "memory", WORK / "server.log", loops=1)
        server.start()
        return server

    def stop_some(self, server, account):
        """Peers that have a value and stop reading."""
        crowd = Crowd(contract())
        peers, request = [Peer(number) for number in range(self.arguments.stopped)], crowd.request(account)
        for start in range(0, len(peers), 200):
            for peer in peers[start:start + 200]:
                crowd.connect(peer, server.address, request, receive_bytes=16 * 1024)
            if not crowd.until(lambda: all(peer.values for peer in peers[:start + 200]), 60):
                raise RuntimeError("not every reader got a first value")
        return crowd, peers

    def bench(self, server, watchers):
        """Starts the load generator as a process."""
        a = self.arguments
        return subprocess.Popen(
            [PERCH, "bench", "hot", "--connect", f"127.0.0.1:{server.port}", "--pid", str(server.pid), "--product", SEASON,
             "--watchers", str(watchers), "--rate", str(a.rate), "--duration", f"{a.seconds}s", "--warmup", "3s",
             "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def p99(self, process):
        said, wrong = process.communicate()
        if process.returncode:
            raise RuntimeError(f"perch bench ended with {process.returncode}: {wrong}")
        report = json.loads(said)
        figures = {}

        def look(value):
            if isinstance(value, dict):
                if "name" in value and ("value" in value or "median" in value):
                    figures.setdefault(value["name"], value.get("median", value.get("value")))
                for key, each in value.items():
                    if isinstance(each, (int, float)):
                        figures.setdefault(key, each)
                    look(each)
            elif isinstance(value, list):
                for each in value:
                    look(each)
        look(report)
        for name in ("push_p99", "push_p99_us", "push_p99_ms"):
            if name in figures:
                return figures[name], figures
        raise RuntimeError(f"no push_p99 in {said[:2000]}")

    def without(self):
        server = self.server()
        try:
            return self.p99(self.bench(server, self.arguments.readers - self.arguments.stopped))
        finally:
            server.kill()

    def beside(self):
        """Measures with stopped readers, and checks that all of them receive the reason."""
        a, server = self.arguments, self.server()
        try:
            self.buy(server, "bench-000000000")
            crowd, peers = self.stop_some(server, "bench-000000000")
            stopped = time.perf_counter()
            # Listing the kernel's ten thousand sockets during the measurement would itself raise the p99.
            largest = self.fill(server, "bench-000000000")
            result = self.p99(self.bench(server, a.readers - a.stopped))
            time.sleep(max(0, stopped + 60 - time.perf_counter()))
            said = crowd.until(lambda: all(peer.ended_at for peer in peers), 60)
            told = [crowd.status(peer) for peer in peers]
            return result, largest, told.count("WRITE_STALLED"), said
        finally:
            server.kill()

    def buy(self, server, account):
        writer = Caller(server.address, client_name="slow")
        change(writer, account)
        return writer

    def fill(self, server, account):
        """Makes changes until the kernel accepts no more data for stopped readers, and returns its memory for one of them.
        At ten changes a second, the maximum for 10,000 readers, this would take most of a minute, and a reader only counts
        as stalled once its buffer is full."""
        writer = Caller(server.address, client_name="slow")
        full = -1
        while (held := max(kernel_bytes(server.port))) > full:
            full = held
            for _ in range(100):
                change(writer, account)
        return full

    def memory(self):
        """The server's memory for a stopped reader, minus the cost of the same changes with reading ones."""
        (reading, _), (stopped, kernel) = self.growth(False), self.growth(True)
        return (stopped - reading) / self.arguments.stopped, kernel

    def growth(self, stops):
        """The resident bytes of some changes, and the kernel's largest memory for one reader."""
        server = self.server()
        try:
            writer = self.buy(server, "one")
            crowd, peers = self.stop_some(server, "one")
            for _ in range(50):
                change(writer, "one")
                crowd.step(0)
            crowd.until(lambda: False, 1)
            before, highest, kernel = server.memory(), 0, 0
            for number in range(1200):
                change(writer, "one")
                if not stops:
                    crowd.step(0)
                if number % 100 == 99:
                    highest = max(highest, server.memory())
                    kernel = max(kernel, max(kernel_bytes(server.port), default=0))
            if stops and not any(peer.values for peer in peers):
                raise RuntimeError("a reader stopped before it had a value")
            return highest - before, kernel
        finally:
            server.kill()

    def run(self):
        a = self.arguments
        own, kernel = self.memory()
        self.figures.expect(own <= OWN_MAX, f"{own:.0f} bytes of the server's memory for a stopped reader, at most {OWN_MAX}", True)
        ratios = []
        for _ in range(a.pairs):
            (alone, _) = self.without()
            (beside, figures), large, told, ended = self.beside()
            kernel = max(kernel, large)
            ratios.append(beside / alone)
            print(f"      push p99 {alone:g} without and {beside:g} beside {a.stopped} stopped of {a.readers}, "
                  f"gaps {figures.get('gaps')}, closes {figures.get('closes')}")
            self.figures.expect(ended and told == a.stopped, f"{told} of {a.stopped} read WRITE_STALLED when they read again")
        self.figures.expect(kernel <= KERNEL_MAX, f"{kernel} bytes of kernel memory for one of them, at most {KERNEL_MAX}")
        ratio = statistics.median(ratios)
        self.figures.expect(ratio <= RATIO_MAX, f"p99 of the others: {ratio:.2f} times, at most {RATIO_MAX}", True)
        return self.figures.end()


if __name__ == "__main__":
    parser = trial.options(__doc__)
    parser.add_argument("--readers", type=int, default=10_000)
    parser.add_argument("--stopped", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--without-limits", action="store_true", help="show what is measured, judge only what was told")
    sys.exit(Slow(parser.parse_args()).run())
