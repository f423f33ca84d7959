"""Runs the table of benchmarks. See the script `run` beside this."""
import argparse, json, os, pathlib, subprocess, sys

# Name; arguments; what tiny runs instead; the figure whose ratio counts, and the least (or, with <, the most) it may be.
ROWS = [
    ("hot 1,000", "hot --watchers 1000 --closed 1", "hot --watchers 20 --closed 1", "deliveries_per_second", ">0.90"),
    ("hot 10,000", "hot --watchers 10000 --closed 1", None, "deliveries_per_second", ">0.90"),
    ("hot, faster than turns", "hot --watchers 1000 --closed 64", "hot --watchers 20 --closed 64", "cpu_per_converged",
     "<1.00"),
    ("keyed 10,000", "keyed --watchers 10000 --closed 256", "keyed --watchers 20 --closed 8", "deliveries_per_second",
     ">0.85"),
    ("keyed at 20,000/s", "keyed --watchers 10000 --rate 20000", "keyed --watchers 20 --rate 200", "push_p50", "<1.20"),
    ("keyed at 5,000/s", "keyed --watchers 10000 --rate 5000", None, "cpu_per_million", "<1.15"),
    ("mux 10,000", "mux --watchers 10000 --closed 256", "mux --watchers 50 --closed 8", "deliveries_per_second", ">0.50"),
    ("storm 10,000", "storm --watchers 10000", "storm --watchers 40", "opens_per_second", ">0.80"),
    ("resume 10,000", "resume --watchers 10000", "resume --watchers 40", "opens_per_second", None),
    ("idle 10,000", "idle --watchers 10000", "idle --watchers 40", "rss_per_connection", None),
    ("idle 10,000 × 100", "idle --watchers 1000000 --connections 10000", None, "rss_per_watch", None),
    ("catalog 10,000 × 100 kB", "catalog --watchers 10000 --rate 1", "catalog --watchers 4 --rate 20 --view-bytes 10000B",
     "cpu_per_million", "<1.20"),
    ("buy, 64 writers", "buy", "buy --writers 4", "changes_per_second", None),
    ("mixed", "mixed --watchers 5000", "mixed --watchers 40 --rate 200", "push_p99", None),
]
WITH_FLOOR = ("hot", "keyed", "mux", "storm", "resume", "idle", "catalog")
WITH_REDIS = ("hot", "keyed", "mux", "storm")
UNITS = {
    "deliveries_per_second": (1, "/s"), "opens_per_second": (1, "/s"), "changes_per_second": (1, "/s"),
    "cpu_per_million": (1, " s"), "cpu_per_converged": (1e-3, " µs"), "push_p50": (1e-3, " µs"), "push_p99": (1e-3, " µs"),
    "rss_per_connection": (1, " B"), "rss_per_watch": (1, " B"),
}


def arguments_of(line, options):
    words = line.split()
    workload = words[0]
    takes_time = workload not in ("storm", "resume")
    if options.tiny:
        words += ["--duration", "200ms"] if takes_time else []
        words += ["--warmup", "50ms"] if takes_time and workload != "idle" else []
        words += ["--store", "/tmp"] if workload == "buy" else []
    else:
        words += ["--pairs", str(options.pairs)] + (["--duration", "4s"] if takes_time else [])
    if workload in WITH_FLOOR:
        words.append("--floor")
    if options.redis and (workload in WITH_REDIS or line.startswith("idle --watchers 10000") and "100" not in line[21:]):
        words.append("--redis")
    return words


def shown(figure, value):
    if value is None:
        return ""
    factor, unit = UNITS[figure]
    value *= factor
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}") + unit


def main():
    parser = argparse.ArgumentParser(prog="Tests/Bench/run")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", action="append", help="rows whose name begins like this")
    options = parser.parse_args(sys.argv[3:])
    perch, keep = sys.argv[1], pathlib.Path(sys.argv[2])
    keep = keep / "tiny" if options.tiny else keep
    keep.mkdir(parents=True, exist_ok=True)
    names = ["perch", "floor"] + (["redis"] if options.redis else [])
    head = ["", "figure", *names, "ratio"] + (["redis ratio"] if options.redis else []) + ["goal", "last ratio", "load"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head), flush=True)
    failed, void, bound = [], None, []
    for name, full, tiny, figure, goal in ROWS:
        line = tiny if options.tiny else full
        if line is None or options.only and not any(name.startswith(each) for each in options.only):
            continue
        file = keep / ("".join(c if c.isalnum() else "-" for c in name) + ".json")
        last = {}
        if file.exists():
            last = json.loads(file.read_text())
            file.replace(file.with_suffix(".last.json"))
        page = file.with_suffix(".html")
        run = subprocess.run(
            [perch, "bench", *arguments_of(line, options), "-o", "json", "--report", str(page), "--fail-if", "gaps>0",
             "--fail-if", "reorderings>0", "--fail-if", "refusals>0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not run.stdout:
            failed.append(f"{name}: {run.stderr.strip()}")
            continue
        file.write_text(run.stdout)
        report = json.loads(run.stdout)
        targets = {target["name"]: target for target in report["targets"]}
        # A generator at its limit is said, and fails who asks for figures; here it is a mark behind the name.
        breaches = [breach for breach in report["breaches"] if not breach.startswith("generator-bound")]
        bound += [name] if breaches != report["breaches"] and name not in bound else []
        failed += [f"{name}: {breach}" for breach in breaches]
        ratio = report["ratios"].get(figure)
        met = ""
        if goal and ratio is not None and not options.tiny:
            is_met = ratio >= float(goal[1:]) if goal[0] == ">" else ratio <= float(goal[1:])
            met = ("" if is_met else "**short** ") + goal
        row = [(line if options.tiny else name) + (" ¹" if name in bound else ""), figure]
        row += [shown(figure, targets[each]["figures"].get(figure)) if each in targets else "" for each in names]
        row.append("" if ratio is None else f"{ratio:.2f}")
        if options.redis:
            other = targets.get("redis", {}).get("ratios", {}).get(figure)
            row.append("" if other is None else f"{other:.2f}")
            if name == "hot 1,000" and other is not None and other > 1 / 1.1:
                void = other
        old = last.get("ratios", {}).get(figure)
        row += [met, "" if old is None else f"{old:.2f}", f"{report['machine']['load_before']:.1f}"]
        print("| " + " | ".join(row) + " |", flush=True)
    if bound:
        print("\n¹ The generator was the bottleneck in a round: not a server's figure.")
    if void and not options.tiny:
        print(f"\nVoid: Redis reaches {void:.2f} of the floor, so the floor is none (at most 0.91). Is the machine busy?")
    if not options.tiny:
        print(f"\nReports and pages: {keep}")
    for each in failed:
        print(f"failed: {each}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
