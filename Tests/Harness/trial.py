"""What every trial is given: the program to test and a directory, by Harness/trial.sh; options that mean the same everywhere."""
import argparse
import os
import pathlib
import random
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOG, SAMPLE = ROOT / "Tests/Interop/catalog.storekit", ROOT / "deploy/sample.storekit"
PERCH = pathlib.Path(os.environ.get("PERCH", ROOT / ".build/debug/perch"))
if "WORK" not in os.environ:
    _directory = tempfile.TemporaryDirectory(prefix="trial-")  # Gone with this process.
WORK = pathlib.Path(os.environ.get("WORK") or _directory.name)


def options(document, *words, **more):
    """A parser with --seed; `words` are switches such as "--full"."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31), help="repeats a run")
    for word in words:
        parser.add_argument(word, action="store_true")
    return parser


def ends_what_it_began():
    """Reported to end, a trial runs its `finally`."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
