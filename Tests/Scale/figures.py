"""Figures with optional limits."""


class Figures:
    def __init__(self, has_limits=True):
        self.has_limits, self.passed, self.failed = has_limits, 0, 0

    def at_most(self, what, found, limit, unit):
        """A figure that must be below its limit."""
        if self.has_limits:
            self.holds(f"{what}: {found:.2f} {unit}, limit {limit} {unit}", found < limit)
        else:
            print(f"        {what}: {found:.2f} {unit} (limit {limit} {unit}, not checked in this run)", flush=True)

    def holds(self, what, is_so):
        self.passed, self.failed = self.passed + is_so, self.failed + (not is_so)
        print(f"{'ok    ' if is_so else 'FAILED'}  {what}", flush=True)

    def expect(self, holds, what, is_measured=False):
        """As `holds`; what is measured is only shown where there are no limits."""
        if is_measured and not self.has_limits:
            print(f"{'ok    ' if holds else 'over  '}  {what}", flush=True)
        else:
            self.holds(what, holds)

    def end(self):
        """Prints the last line and returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
