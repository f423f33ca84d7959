"""Starts a server on an empty store many times. See the script `small` beside this.

    small.py STARTS
"""
import statistics
import sys

from figures import Figures
from server import Server
from trial import CATALOG, PERCH, WORK

# The required limits.
READY_MS, MEMORY_MIB = 50, 20


def main(starts):
    ready, memory, figures = [], [], Figures()
    for index in range(int(starts)):
        server = Server(PERCH, CATALOG, WORK / f"{index}.db", WORK / "log")
        try:
            ready.append(server.start() * 1000)
            memory.append(server.memory() / (1 << 20))
            status = server.stop()
        finally:
            server.kill()
        if status != 0:
            figures.holds(f"the server of start {index} that was told to stop ended with {status}", False)
    print(f"        ready after: least {min(ready):.1f}, median {statistics.median(ready):.1f}, most {max(ready):.1f} ms; "
          f"resident: {min(memory):.1f} to {max(memory):.1f} MiB ({starts} starts, each with a new store of its own)")
    figures.at_most("ready on an empty store, median", statistics.median(ready), READY_MS, "ms")
    figures.at_most("resident, the most of all starts", max(memory), MEMORY_MIB, "MiB")
    return figures.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
