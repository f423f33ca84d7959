"""Adds a run without a finding to Executions.md: record.py TARGET EXECUTIONS SECONDS EDGES EDGES_LINKED

Executions and seconds add up over runs; the edges are those that the corpus of the last run reached.
"""
import datetime
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parent / "Executions.md"
HEAD = """# What was fuzzed

Runs of `RECORD=1 Tests/Fuzz/run`, with AddressSanitizer and without a finding, added up. Edges are libFuzzer's inline
counters: those that the corpus reaches, of all that are linked into the program, of which a target has its own part only.

| Target | Executions | Seconds | Edges | Of | Last run |
|---|---|---|---|---|---|
"""


def main(target, executions, seconds, edges, linked):
    rows = {}
    if PAGE.exists():
        for line in PAGE.read_text().splitlines():
            if found := re.match(r"\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (\S+) \|", line):
                rows[found[1]] = [int(cell.replace(",", "")) for cell in found.groups()[1:5]] + [found[6]]
    old = rows.get(target, [0, 0, 0, 0, ""])
    rows[target] = [old[0] + int(executions), old[1] + int(seconds), int(edges or 0), int(linked),
                    str(datetime.date.today())]
    PAGE.write_text(HEAD + "".join(
        "| " + " | ".join([name, *(f"{cell:,}" if isinstance(cell, int) else cell for cell in row)]) + " |\n"
        for name, row in sorted(rows.items())))


if __name__ == "__main__":
    main(*sys.argv[1:])
