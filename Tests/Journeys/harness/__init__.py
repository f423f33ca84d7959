"""Starts what a trial needs from outside: servers of Perch, PostgreSQL, nginx, Chromium, stock clients, and an App Store.

One module each; `world` puts them together as production has them, and `stories` runs the scripts that use a world. Every process is
ended by its own number. A wait has one guard, which is minutes long and says what was waited for.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]

for folder in ("Console", "Interop", "Nodes", "Apple"):
    path = str(ROOT / "Tests" / folder)
    if path not in sys.path:
        sys.path.append(path)
