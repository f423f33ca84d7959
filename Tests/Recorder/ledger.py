"""Counts what was checked, and keeps what was violated."""

from collections import Counter

CHECKS = {
    "shape": "calls, messages and statuses come as the protocol says",
    "heartbeat": "BEAT or PING comes within twice the agreed time",
    "ordered": "positions on a watch never decrease",
    "unique": "an equal value never comes twice in a row, also across a reconnect",
    "consistent": "two watches of one view show the same value at the same position",
    "reliable": "each watch converges to the value of a read",
    "atomic": "values that are applied together agree",
    "resumable": "tokens and cursors go on where they ended",
    "exactly-once": "each transaction event comes once in a chain of cursors, and none is lost",
    "idempotent": "a repeated key gives the same answer and one transaction",
    "read-your-writes": "a read with at_least shows the mutation that answered",
    "kept": "what was acknowledged, or shown, survives kill -9",
    "bookmarks": "BEAT never passes what it has not said",
}
VIOLATIONS_SHOWN = 40


class Ledger:
    def __init__(self):
        self.checked, self.violated, self.counts = Counter(), Counter(), Counter()
        self.violations = []

    def check(self, name, holds, explain, *arguments):
        """`explain` is a function, so that a check that holds costs no text."""
        self.checked[name] += 1
        if not holds:
            self.violated[name] += 1
            if self.violated[name] <= VIOLATIONS_SHOWN:
                self.violations.append((name, explain(*arguments)))
        return holds

    def count(self, what, by=1):
        self.counts[what] += by

    def total(self):
        return sum(self.violated.values())

    def summary(self):
        lines = ["", f"{'check':18}{'checked':>10}{'violated':>10}"]
        for name, meaning in CHECKS.items():
            lines.append(f"{name:18}{self.checked[name]:>10}{self.violated[name]:>10}  {meaning}")
        for name, text in self.violations:
            lines.append("")
            lines.append(f"VIOLATION of {name}: {text}")
        return "\n".join(lines)
