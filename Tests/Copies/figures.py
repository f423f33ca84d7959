"""What copies of all entitlements cost, of a store on SQLite with many accounts that have one name each.

    figures.py [--accounts N] [--copies N] [--seconds S] [--seed N]

A server with one loop has a core, and what reads has the other. Read alone: seconds, bytes an account, and the server's memory. Then
`perch bench keyed` makes 1,000 changes a second with 1,000 watchers: quiet, beside three copies that follow the changes, and beside three
programs that read whole copies without a pause. p99 is of the server's own histogram, from commit to send.
"""
import json
import os
import re
import statistics
import subprocess
import sys

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

    def alone(self):
        before = self.server.memory()
        reader = self.reader(self.arguments.copies)
        copies = [line.split() for line in reader.communicate()[0].splitlines()]
        if reader.returncode or len(copies) != self.arguments.copies or int(copies[-1][0]) != self.arguments.accounts:
            sys.exit(f"figures: the copies were {copies}")
        self.figure(f"a copy of {self.arguments.accounts:,} accounts", statistics.median(float(copy[2]) for copy in copies), 5, "s")
        self.figure("bytes an account, keys of up to 12 bytes", int(copies[-1][1]) / self.arguments.accounts, 60, "B")
        self.figure("the server's memory beside what it had", (self.server.memory("VmHWM") - before) / 2**20, 16, "MiB")

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
            self.alone()
            quiet = self.load()
            print(f"p99 from commit to send, quiet: {quiet:.2f} ms", flush=True)
            for what, copies, words in (("follow", 1, ["follow"]), ("are read without a pause", 0, [])):
                readers = [self.reader(copies, *words) for _ in range(READERS)]
                for reader in readers:
                    reader.stdout.readline()
                beside = self.load()
                for reader in readers:
                    if reader.poll() is not None:
                        sys.exit("figures: a reader was cut off")
                    reader.kill()
                    reader.communicate()
                print(f"p99 while three copies {what}: {beside:.2f} ms", flush=True)
                self.figure("over quiet", beside / quiet, 2, "times")
        return 1 if self.failed else 0


def main():
    parser = trial.options(__doc__)
    parser.add_argument("--accounts", type=int, default=1_000_000)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    sys.exit(Figures(parser.parse_args()).run())


main()
