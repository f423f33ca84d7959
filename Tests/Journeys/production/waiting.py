"""Waiting for something to become true. The guard is against hanging only: no judgement depends on it."""
import time

GUARD_SECONDS = 180
long_waits = []  # Of more than a second, for `--verbose`.


class Hung(Exception):
    """Something that was waited for never came."""


def until(what, holds, described=None, every=0.02):
    """Returns what `holds` answers as soon as that is true. `described` adds to the message of a wait that never ended."""
    began = time.monotonic()
    while not (found := holds()):
        if time.monotonic() > began + GUARD_SECONDS:
            more = f": {described()}" if described else ""
            raise Hung(f"waited {GUARD_SECONDS} s for: {what}{more}")
        time.sleep(every)
    if time.monotonic() > began + 1:
        long_waits.append(f"{time.monotonic() - began:.1f} s for {what}")
    return found
