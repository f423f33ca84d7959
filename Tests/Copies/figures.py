"""What copies of all entitlements cost, of a store on SQLite with many accounts that have one name each.

    figures.py [--accounts N] [--copies N] [--seconds S] [--only alone,swift,python,list,load] [--seed N]

A server with one loop has a core, and what reads has the other. Read alone by a program in C: seconds, bytes an account, and the
server's memory. Then the clients: Swift (`clientagent`, with 1,000 grants a second of its own), Python (`Tests/Clients/measure`), and
`perch entitlements list --all`. Then `perch bench keyed` makes 1,000 changes a second with 1,000 watchers: quiet, beside three copies that
follow the changes, and beside three programs that read whole copies without a pause. p99 is of the server's own histogram, from commit to
send. --only: some of these parts. Other load on the machine makes every figure worse.
"""
import json
import os
import re
import pathlib
import statistics
import subprocess
import sys
import time

import trial
from server import Server
from trial import CATALOG, PERCH, WORK

READERS, WATCHERS, RATE = 3, 1_000, 1_000
ENTITLEMENTS = {"plus": "com.example.yearly", "season": "com.example.season"}


class Figures:
    def __init__(self, arguments):
        self.arguments, self.failed = arguments, False
        catalogue = WORK / "shop.storekit"
        catalogue.write_bytes(CATALOG.read_bytes())
        (WORK / "shop.entitlements.json").write_text(json.dumps({"entitlements": [
            {"name": name, "from": [{"product": product}]} for name, product in ENTITLEMENTS.items()]}))
        (WORK / "store").mkdir()
        subprocess.run([PERCH, "store", "generate", WORK / "store", "--accounts", str(arguments.accounts), "--catalog", catalogue,
                        "--bundle-id", "com.example.app", "--product", ENTITLEMENTS["plus"]], check=True, stderr=subprocess.DEVNULL)
        self.server = Server(PERCH, catalogue, WORK / "store", WORK / "server.log", loops=1, http=True,
                             preexec_fn=lambda: os.sched_setaffinity(0, {0}))

    def reader(self, copies, *words):
        return subprocess.Popen([WORK / "reader", str(self.server.port), str(copies), *words], stdout=subprocess.PIPE, text=True,
                                preexec_fn=lambda: os.sched_setaffinity(0, {1}))

    def figure(self, what, found, must, unit):
        print(f"{what:58} {found:8.2f} {unit:9} must {must} {'holds' if found <= must else 'FAILS'}", flush=True)
        self.failed |= found > must

    def read(self, count):
        reader = self.reader(count)
        copies = [line.split() for line in reader.communicate()[0].splitlines()]
        if reader.returncode or len(copies) != count or int(copies[-1][0]) != self.arguments.accounts:
            sys.exit(f"figures: the copies were {copies}")
        return copies

    def alone(self):
        self.read(1)  # The store's cache has what it has space for.
        self.server.forget_peak()
        before = self.server.memory()
        copies = self.read(self.arguments.copies)
        self.figure(f"a copy of {self.arguments.accounts:,} accounts", statistics.median(float(copy[2]) for copy in copies), 5, "s")
        self.figure("bytes an account, keys of up to 12 bytes", int(copies[-1][1]) / self.arguments.accounts, 60, "B")
        self.figure("the server's memory beside what it had", (self.server.memory("VmHWM") - before) / 2**20, 16, "MiB")

    def swift(self):
        found = self.client([os.environ["AGENT"], "figures", f"127.0.0.1:{self.server.port}", "season", str(self.arguments.seconds)])
        found = json.loads(found)
        if found["accounts"] < self.arguments.accounts:
            sys.exit(f"figures: the copy in Swift has {found['accounts']:.0f} accounts")
        self.figure("Swift: until usable", found["seconds"], 5, "s")
        print(f"{'Swift: of it CPU of the client':58} {found['cpuSeconds']:8.2f} s")
        print(f"{'Swift: memory an account':58} {found['bytesAnAccount']:8.2f} B")
        self.figure("Swift: a check, random accounts", found["check"], 100, "ns")
        self.figure("Swift: a check of an account that has nothing", found["checkOfNobody"], 100, "ns")
        self.figure("Swift: a check, few accounts", found["checkOfFew"], 100, "ns")
        print(f"{'Swift: from the request of a change to its callback, p50':58} {found['p50']:8.2f} ms")
        self.figure(f"Swift: the same, p99 of {found['changes']:.0f} at 1,000 a second", found["p99"], 10, "ms")

    def python(self):
        program = pathlib.Path(__file__).resolve().parents[1] / "Clients" / "measure"
        for words in (["--url", f"http://127.0.0.1:{self.server.port}"], []):
            print("Python:", "of this server" if words else "of a sender in another process")
            print(self.client([sys.executable, program, *words], may_fail=True), end="", flush=True)

    def client(self, words, may_fail=False):
        """What a client prints, which has the second core."""
        ended = subprocess.run(words, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {1}))
        if ended.returncode and not may_fail:
            sys.exit(f"figures: {words[0]} ended with {ended.returncode}")
        self.failed |= ended.returncode != 0
        return ended.stdout

    def list(self):
        began = time.monotonic()
        with open(WORK / "list", "wb") as file:
            subprocess.run([PERCH, "entitlements", "list", "--all", "-o", "ndjson", "--server", f"127.0.0.1:{self.server.port}"], check=True,
                           stdout=file)
        with open(WORK / "list", "rb") as file:
            lines = sum(1 for _ in file)
        print(f"{'perch entitlements list --all':58} {time.monotonic() - began:8.2f} s")
        if lines < self.arguments.accounts:
            sys.exit(f"figures: the list has {lines} lines")

    def buckets(self):
        return {float(end): count for series, count in self.server.metrics().items()
                if (found := re.match(r'perch_push_seconds_bucket{le="(.+)"}', series)) and (end := found[1])}

    def p99(self, before):
        """Milliseconds, within the bucket that has it."""
        counts = [(end, count - before.get(end, 0)) for end, count in sorted(self.buckets().items())]
        wanted, start, below = counts[-1][1] * 0.99, 0.0, 0
        for end, count in counts:
            if count >= wanted:
                return 1_000 * (start + (end - start) * (wanted - below) / max(1, count - below))
            start, below = end, count
        return float("inf")

    def load(self):
        quiet = self.measured()
        print(f"p99 from commit to send, quiet: {quiet:.2f} ms", flush=True)
        self.server.forget_peak()
        before = self.server.memory()
        for what, copies, words in (("follow", 1, ["follow"]), ("are read without a pause", 0, [])):
            readers = [self.reader(copies, *words) for _ in range(READERS)]
            for reader in readers:
                reader.stdout.readline()
            beside = self.measured()
            for reader in readers:
                if reader.poll() is not None:
                    sys.exit("figures: a reader was cut off")
                reader.kill()
                reader.communicate()
            print(f"p99 while three copies {what}: {beside:.2f} ms", flush=True)
            self.figure("over quiet", beside / quiet, 2, "times")
        print(f"{'memory of the server after it, beside what it had':58} {(self.server.memory('VmHWM') - before) / 2**20:8.2f} MiB", flush=True)

    def measured(self):
        """p99 while `perch bench` runs. It fails if one of its watchers is cut off."""
        before = self.buckets()
        found = subprocess.run([PERCH, "bench", "keyed", "--connect", f"127.0.0.1:{self.server.port}", "--product", ENTITLEMENTS["season"],
                                "--watchers", str(WATCHERS), "--connections", "10", "--rate", str(RATE), "--duration",
                                f"{self.arguments.seconds}s", "--output", "json"], capture_output=True, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, {1}))
        if found.returncode:
            sys.exit(f"figures: {found.stderr}")
        return self.p99(before)

    def run(self):
        with self.server:
            self.server.start()
            for part in self.arguments.only.split(","):
                getattr(self, part)()
        return 1 if self.failed else 0


def main():
    parser = trial.options(__doc__)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--only", default="alone,swift,python,list,load")
    sys.exit(Figures(parser.parse_args()).run())


main()
