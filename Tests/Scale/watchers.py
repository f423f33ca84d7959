"""Counts the server's calls for a further watcher of a view. See the script `watchers`."""
import collections
import re
import subprocess
import sys

from client import MESSAGE
from server import Server
from trial import PERCH, SAMPLE, WORK
from wire import STORE, Caller

COUNTED = ("swift_retain", "swift_release", "malloc")
STEPS = (1000, 4000)
APP = {"bundle_id": "app.perch.sample"}


def calls(path):
    """The number of calls of each counted function, from the `calls=` lines of a callgrind file."""
    names, counts, callee = {}, collections.Counter(), None
    for line in open(path):
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            if match[2]:
                names[match[1]] = match[2].strip().split("'")[0]
            if line.startswith("cfn="):
                callee = names[match[1]]
        elif match := re.match(r"calls=(\d+)", line):
            counts[callee] += int(match[1])
    return {name: sum(n for f, n in counts.items() if f in (name, "_" + name + "_")) for name in COUNTED}


def main():
    server = Server(PERCH, SAMPLE, "memory", WORK / "server.log", bundle=APP["bundle_id"], loops=1)
    server.arguments = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--dump-instr=no", f"--callgrind-out-file={WORK}/out",
                        *server.arguments]
    try:
        server.start()
        writer = Caller(server.address, client_name="writer")
        watchers, measured = [], []
        for round, count in enumerate(STEPS):
            while len(watchers) < count:
                watcher = Caller(server.address, client_name="watcher")
                watcher.call("/perch.v1.EntitlementService/CurrentEntitlementTask", app=APP, account="one",
                             product_id="app.perch.season")
                watchers.append(watcher)
                while not watcher.read().message.HasField("success") if watcher.answers else False:
                    pass
            subprocess.run(["callgrind_control", "-i", "on", str(server.pid)], check=True, stdout=subprocess.DEVNULL)
            writer.get(STORE + "Operate", app=APP, account="one", operation={"buy": {"product_id": "app.perch.season"}})
            for watcher in watchers:
                while watcher.read().kind != MESSAGE:
                    pass
            subprocess.run(["callgrind_control", "-i", "off", str(server.pid)], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["callgrind_control", "-d", str(server.pid)], check=True, stdout=subprocess.DEVNULL)
            dumps = sorted(WORK.glob("out*"), key=lambda path: path.stat().st_mtime)
            measured.append(calls(dumps[-1]))
            subprocess.run(["callgrind_control", "-z", str(server.pid)], check=True, stdout=subprocess.DEVNULL)
            print(f"one change to {count} watchers:", ", ".join(f"{n} {c}" for n, c in measured[-1].items()))
    finally:
        server.stop()
    failed = 0
    for name in COUNTED:
        each = (measured[1][name] - measured[0][name]) / (STEPS[1] - STEPS[0])
        # Growing tables and extra iterations under valgrind add calls: one in a hundred watchers counts as none for each.
        verdict = "none" if each < 0.05 else "TOO MANY"
        failed += verdict != "none"
        print(f"{name} for a further watcher: {each:.3f} ({verdict})")
    print(f"{len(COUNTED) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
