"""Runs the table of benchmarks. See the script `run`."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

# A figure of a row. `of` selects the value for the goal: the ratio to the baseline server, or Perch's own figure.
FURTHER = "rss_per_further_watch"  # computed here from two runs


@dataclass
class Figure:
    name: str
    goal: str = ""  # `>0.90`, `<1.2`; empty: only reported
    of: str = "ratio"


@dataclass
class Row:
    name: str
    full: str
    tiny: str | None  # used by test runs instead; None: the row above covers it
    figures: list[Figure]
    floor: bool = True
    redis: bool = False
    pairs: int | None = None  # if it differs from the other rows
    duration: str | None = "4s"
    store: bool = False


ROWS = [
    Row("hot 1,000", "hot --watchers 1000 --closed 1", "hot --watchers 20 --closed 1",
        [Figure("deliveries_per_second", ">0.90")], redis=True, pairs=15, duration="1500ms"),
    Row("hot 10,000", "hot --watchers 10000 --closed 1", None, [Figure("deliveries_per_second", ">0.90")], redis=True,
        pairs=9, duration="2s"),
    Row("hot, 64 outstanding", "hot --watchers 1000 --closed 64", "hot --watchers 20 --closed 64",
        [Figure("cpu_per_converged")], redis=True),
    # Uses a fixed rate, because a closed loop is never faster than the server's iterations. Without Redis, which would send
    # every change to every subscriber: twenty million a second.
    Row("hot at 20,000/s", "hot --watchers 1000 --rate 20000", "hot --watchers 20 --rate 200",
        [Figure("cpu_per_converged", "<1.00"), Figure("push_p50")]),
    Row("keyed 10,000", "keyed --watchers 10000 --closed 256", "keyed --watchers 20 --closed 8",
        [Figure("deliveries_per_second", ">0.85")], redis=True),
    Row("keyed at 20,000/s", "keyed --watchers 10000 --rate 20000", "keyed --watchers 20 --rate 200",
        [Figure("push_p50", "<1.20"), Figure("push_p99")], redis=True),
    Row("keyed at 5,000/s", "keyed --watchers 10000 --rate 5000", None, [Figure("cpu_per_million", "<1.15")],
        redis=True),
    Row("mux 10,000", "mux --watchers 10000 --closed 256", "mux --watchers 50 --closed 8",
        [Figure("deliveries_per_second", ">0.50"), Figure("cpu_per_million"), Figure("generator_wakeups_per_second", "", "perch")],
        redis=True),
    Row("mux, without a key", "mux --watchers 10000 --closed 256 --change keyless-purchase",
        "mux --watchers 50 --closed 8 --change keyless-purchase", [Figure("deliveries_per_second"), Figure("cpu_per_million")]),
    Row("mux, renewals", "mux --watchers 10000 --closed 256 --change renewal",
        "mux --watchers 50 --closed 8 --change renewal", [Figure("deliveries_per_second"), Figure("cpu_per_million")]),
    Row("keyed at 5,000/s, renewals", "keyed --watchers 10000 --rate 5000 --change renewal", None,
        [Figure("cpu_per_million"), Figure("push_p50")]),
    Row("restart, 10,000 at once", "storm --watchers 10000 --closed 10000", "storm --watchers 40 --closed 40",
        [Figure("first_max"), Figure("opens_per_second")], duration=None),
    Row("storm 10,000", "storm --watchers 10000", "storm --watchers 40", [Figure("opens_per_second", ">0.80")],
        redis=True, duration=None),
    Row("resume 10,000", "resume --watchers 10000", "resume --watchers 40", [Figure("opens_per_second")],
        duration=None),
    Row("idle 10,000", "idle --watchers 10000", "idle --watchers 40",
        [Figure("rss_per_connection", "<1024", "perch"), Figure("socket_bytes_per_connection")], redis=True),
    Row("10,000 × 100 watches", "keyed --watchers 1000000 --connections 10000 --rate 1000",
        "keyed --watchers 200 --connections 10 --rate 200",
        [Figure(FURTHER, "<256", "perch"), Figure("push_p50", "<1e6", "perch")], floor=False, pairs=1),
    Row("catalog 10,000 × 100 kB", "catalog --watchers 10000 --rate 1",
        "catalog --watchers 4 --rate 20 --view-bytes 10000B",
        [Figure("cpu_per_million", "<1.20"), Figure("encodings_per_change", "<1.01", "perch")], duration="6s"),
    Row("catalog, compressed", "catalog --watchers 10000 --rate 1 --zlib",
        "catalog --watchers 4 --rate 20 --view-bytes 10000B --zlib",
        [Figure("cpu_per_million", "<1.20"), Figure("compressions_per_change", "<1.01", "perch")], duration="6s"),
    Row("buy, 64 writers", "buy", "buy --writers 4",
        [Figure("changes_per_second", ">0.70"), Figure("changes_per_commit", ">32", "perch"), Figure("fsync_p50")],
        store=True),
    Row("commit to push", "keyed --watchers 1000 --rate 1000", "keyed --watchers 20 --rate 100",
        [Figure("push_p99"), Figure("push_beyond_fsync", "<2e6", "perch")], store=True),
    Row("two loops", "hot --watchers 1000 --closed 1 --loops 2 --one-loop",
        "hot --watchers 20 --closed 1 --loops 2 --one-loop", [Figure("cpu_per_million", "<1.10")], floor=False),
    Row("mixed", "mixed --watchers 5000", "mixed --watchers 40 --rate 200", [Figure("push_p99")], floor=False),
    Row("scenario", "scenario proto/scenario/grace.scenario --accounts 1000 --rate 2000",
        "scenario proto/scenario/grace.scenario --accounts 10 --rate 500 --patience 300s", [Figure("push_p99")], floor=False,
        duration=None),
]

# Factor and unit for display.
UNITS = {
    "deliveries_per_second": (1, "/s"), "opens_per_second": (1, "/s"), "changes_per_second": (1, "/s"),
    "cpu_per_million": (1, " s"), "cpu_per_converged": (1e-3, " µs"), "push_p50": (1e-3, " µs"),
    "push_p99": (1e-3, " µs"), "first_max": (1e-6, " ms"), "generator_wakeups_per_second": (1, "/s"), "push_beyond_fsync": (1e-3, " µs"), "fsync_p50": (1e-3, " µs"),
    "rss_per_connection": (1, " B"), "socket_bytes_per_connection": (1, " B"), "rss_per_watch": (1, " B"),
    "rss_growth_per_hour": (1e-6, " MB"), "rss": (1e-6, " MB"), FURTHER: (1, " B"),
}
# If the generator cannot reach the rate, the server's CPU time is compared instead.
BY_PROCESSOR = ("deliveries_per_second", "opens_per_second")
REDIS_AT_MOST = 1 / 1.1
SCRIPT = pathlib.Path(__file__).parent / "purchase.lua"
PAIRS = 5


def arguments_of(row, options, store):
    words = (row.tiny if options.tiny else row.full).split()
    if options.tiny:
        words += ["--duration", "200ms"] if row.duration else []
        words += ["--warmup", "50ms"] if row.duration and words[0] != "idle" else []
    else:
        words += ["--pairs", str(options.pairs or row.pairs or PAIRS)]
        words += ["--duration", row.duration] if row.duration else []
    words += ["--store", str(store)] if row.store else []
    words += ["--floor"] if row.floor else []
    if row.redis and options.redis:
        words += ["--redis"]
        # Redis does the work of a purchase where the workload buys.
        words += ["--redis-script", str(SCRIPT)] if words[0] in ("hot", "keyed", "mux") else []
    return words


def shown(figure, value):
    if value is None:
        return ""
    factor, unit = UNITS.get(figure, (1, ""))
    value *= factor
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}") + unit


def is_met(value, goal):
    return value > float(goal[1:]) if goal[0] == ">" else value < float(goal[1:])


class Table:
    """Prints rows immediately, and keeps them for a file."""

    def __init__(self, head):
        self.lines = []
        self.add(head)
        self.say("|" + "---|" * len(head))

    def add(self, cells):
        self.say("| " + " | ".join(cells) + " |")

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)


class Runs:
    """The runs of a table, kept as JSON and pages together with the previous run."""

    def __init__(self, perch, keep, options):
        self.perch, self.keep, self.options = perch, keep, options
        self.store = keep / "store"
        self.store.mkdir(parents=True, exist_ok=True)
        self.failed, self.bound = [], []
        self.per_connection = None  # resident bytes of a connection with one watch

    def run(self, row):
        """The report and the previous one; None if there is none."""
        file = self.keep / ("".join(c if c.isalnum() else "-" for c in row.name) + ".json")
        last = {}
        if file.exists():
            last = json.loads(file.read_text())
            file.replace(file.with_suffix(".last.json"))
        command = [
            self.perch, "bench", *arguments_of(row, self.options, self.store), "-o", "json", "--report",
            str(file.with_suffix(".html"))]
        forbidden = ["failures>0"] if row.name == "scenario" else ["gaps>0", "reorderings>0", "refusals>0"]
        for condition in forbidden:
            command += ["--fail-if", condition]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not run.stdout:
            self.failed.append(f"{row.name}: {run.stderr.strip()}")
            return None, last
        file.write_text(run.stdout)
        report = json.loads(run.stdout)
        # A generator-bound run is marked in the table instead of failing it.
        breaches = [each for each in report["breaches"] if not each.startswith("generator-bound")]
        if breaches != report["breaches"]:
            self.bound.append(row.name)
        self.failed += [f"{row.name}: {each}" for each in breaches]
        targets = {target["name"]: target for target in report["targets"]}
        own = targets["perch"]["figures"]
        if row.name == "idle 10,000":
            self.per_connection = own.get("rss_per_connection")
        watches = int(report["settings"].get("watchers", 0))
        connections = int(report["settings"].get("connections", 0))
        if self.per_connection is not None and connections and watches > connections:
            further = watches / connections - 1
            own[FURTHER] = (own.get("rss_per_connection", 0) - self.per_connection) / further
        return report, last


def rows(options, runs, table, names):
    void = None
    for row in ROWS:
        if options.tiny and row.tiny is None:
            continue
        if options.only and not any(row.name.startswith(each) for each in options.only):
            continue
        report, last = runs.run(row)
        if report is None:
            continue
        targets = {target["name"]: target for target in report["targets"]}
        for place, figure in enumerate(row.figures):
            name, mark = figure.name, ""
            if row.name in runs.bound and name in BY_PROCESSOR:
                name, mark = "cpu_per_million", " ¹"
            ratio = report["ratios"].get(name)
            old = last.get("ratios", {}).get(name)
            redis = targets.get("redis", {}).get("ratios", {}).get(name)
            if mark:
                ratio, old, redis = (1 / each if each else None for each in (ratio, old, redis))
            elif row.name in runs.bound:
                mark = " ²"
            own = targets["perch"]["figures"].get(figure.name)
            held = ratio if figure.of == "ratio" else own
            goal = "" if options.tiny else figure.goal
            # On a fast disk a batch ends before many changes can join it.
            if name == "changes_per_commit" and targets["perch"]["figures"].get("fsync_p50", 0) < 1e6:
                goal = ""
            if goal:
                at = shown(figure.name, float(goal[1:])) if figure.of == "perch" else goal[1:]
                goal = ("≥ " if goal[0] == ">" else "≤ ") + at
                if held is not None and not is_met(held, figure.goal):
                    goal += " **short**"
            cells = [(row.tiny if options.tiny else row.name) if place == 0 else "", figure.name + mark]
            cells += [shown(figure.name, targets[each]["figures"].get(figure.name)) if each in targets else ""
                      for each in names]
            cells.append("" if ratio is None else f"{ratio:.2f}")
            if options.redis:
                cells.append("" if redis is None else f"{redis:.2f}")
                if row.name == "hot 1,000" and redis is not None and redis > REDIS_AT_MOST:
                    void = redis
            cells += [goal, "" if old is None else f"{old:.2f}", f"{report['machine']['load_before']:.1f}"]
            table.add(cells)
    return void


CACHE_FILLS_SECONDS = 200


def churn(options, runs):
    """Measures resident memory under reconnects for the given duration.

    It uses SQLite, because a store in memory keeps every fact. At 1,000 changes a second the page cache of 64 MiB is full after
    about three minutes; then memory must stay flat.
    """
    file = runs.keep / "churn.json"
    words = ["mixed", "--watchers", "5000", "--churn", "100", "--rate", "1000", "--duration", options.churn, "--warmup",
             "10s", "--store", str(runs.store)]
    run = subprocess.run(
        [runs.perch, "bench", *words, "-o", "json", "--report", str(file.with_suffix(".html")), "--fail-if", "gaps>0",
         "--fail-if", "reorderings>0", "--fail-if", "refusals>0"], stdout=subprocess.PIPE, text=True)
    if not run.stdout:
        return 1
    file.write_text(run.stdout)
    report = json.loads(run.stdout)
    figures = report["targets"][0]["figures"]
    growth = figures.get("rss_growth_per_hour")
    print(f"perch bench {' '.join(words[:-2])}")
    seconds = report["targets"][0]["rounds"][0]["intervals"]
    tenths = [seconds[len(seconds) * place // 10] for place in range(10)] + seconds[-1:] if seconds else []
    print("resident: " + ", ".join(f"{shown('rss', each['rss_bytes'])} at {each['end_s']:.0f} s" for each in tenths))
    print("growth in the second half: "
          + ("too short to say" if growth is None else f"{shown('rss_growth_per_hour', growth)} an hour"))
    # The cache fills first, which is not a leak, so only the second half counts.
    if seconds and seconds[-1]["end_s"] / 2 < CACHE_FILLS_SECONDS:
        print(f"A page cache was filling for the first {CACHE_FILLS_SECONDS} s of it: LASTING={2 * CACHE_FILLS_SECONDS}s or "
              "more says whether memory stays flat.")
    print(f"{figures['changes']:,.0f} changes, {figures['gaps']:.0f} gaps, {figures['reorderings']:.0f} reorderings; "
          f"page: {file.with_suffix('.html')}")
    return run.returncode


def main():
    parser = argparse.ArgumentParser(prog="Tests/Bench/run")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, which only show that the table works")
    parser.add_argument("--redis", action="store_true", help="also measure redis-server")
    parser.add_argument("--pairs", type=int, help=f"pairs of rounds of each row ({PAIRS}, and of some rows their own)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only rows whose name starts with NAME")
    parser.add_argument("--churn", metavar="DURATION", help="measure memory under reconnects instead, for example for 10m")
    options = parser.parse_args(sys.argv[3:])
    perch, keep = sys.argv[1], pathlib.Path(sys.argv[2])
    runs = Runs(perch, keep / "tiny" if options.tiny else keep, options)
    if options.churn:
        return churn(options, runs)
    names = ["perch", "floor"] + (["redis"] if options.redis else [])
    titles = ["Perch", "baseline"] + (["Redis"] if options.redis else [])
    table = Table(["", "", *titles, "ratio"] + (["Redis' ratio"] if options.redis else []) + ["goal", "last", "load"])
    void = rows(options, runs, table, names)
    if runs.bound:
        table.say("")
        table.say("The load generator was the bottleneck: ¹ the ratio compares work per second of the server's CPU time; "
                  "² the figure does not describe the server.")
    if void and not options.tiny:
        table.say("")
        table.say(f"Invalid: Redis reaches {void:.2f} of the baseline server (limit {REDIS_AT_MOST:.2f}), so the baseline is too slow. "
                  "Check whether the machine is busy.")
    if not options.tiny and not options.only:
        file = keep / ("table-redis.md" if options.redis else "table.md")
        if file.exists():
            file.replace(file.with_suffix(".last.md"))
        file.write_text("\n".join(table.lines) + "\n")
        print(f"\nTable: {file}, with reports and pages in the same directory")
    for each in runs.failed:
        print(f"failed: {each}", file=sys.stderr)
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
