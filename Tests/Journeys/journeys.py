"""Plays the stories of this directory, two at a time, each in a process of its own, and says which failed.

    journeys.py PERCH [NAME…] [--full] [--control] [--keep DIRECTORY] [--verbose] [--old PERCH]
"""
import argparse
import concurrent.futures
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["first_day", "customer", "support", "upgrade", "node_dies", "database_away", "attacker", "move", "family", "restore", "backend"]
ON_REQUEST = ["rolling_upgrade"]
AT_ONCE = 2
GUARD_SECONDS = 1200  # Of a whole story that hangs in spite of the guard of each wait. `--full` has none.


def module(name):
    return importlib.import_module(f"stories.{name}")


def play(arguments):
    """One story in this process. Its last line is for `run`."""
    from production.waiting import Hung, long_waits
    from production.world import Broken, World
    name, setting = arguments.names[0].split(":")
    story = module(name)
    world = World(arguments.keep / f"{name}-{setting}", arguments.keep, arguments.perch, setting, arguments.control, arguments.full,
                  arguments.old)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    status = 1
    try:
        story.play(world)
        status = 0
        waited = f", waited {', '.join(long_waits)}" if arguments.verbose and long_waits else ""
        print(f"{world.checks} checks{waited}", flush=True)
    except Broken as broken:
        is_planted = arguments.control and broken.sentence == story.BREAKS
        print(f"{'as it must: ' if is_planted else 'BROKEN: '}{broken}", flush=True)
        status = 3 if is_planted else 1
    except Hung as hung:
        print(f"HUNG: {hung}", flush=True)
    except Exception as error:
        print(f"{''.join(traceback.format_exception(error)[-4:])}\nBROKEN: {type(error).__name__}: {error}", flush=True)
    finally:
        if status == 1:
            for log in sorted(world.directory.glob("node-*.log")):
                lines = [f"    {line[:300]}" for line in log.read_text().splitlines()[-8:]]
                print("\n".join([f"    the end of {log.name}:", *lines]), flush=True)
        world.close()
    sys.stdout.flush()
    # Threads of clients may still wait for an answer of a server that is gone.
    os._exit(status)


def run(arguments, jobs, directory):
    """Plays them, and returns those that failed."""
    began = time.monotonic()

    def one(job):
        command = [sys.executable, __file__, arguments.perch, job, "--play", "--keep", directory]
        for option in ("full", "control", "verbose"):
            command += [f"--{option}"] if getattr(arguments, option) else []
        command += ["--old", arguments.old] if arguments.old else []
        start = time.monotonic()
        try:
            done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=None if arguments.full else GUARD_SECONDS)
            status, said = done.returncode, done.stdout.strip()
        except subprocess.TimeoutExpired as expired:
            status, said = 1, f"{(expired.output or b'').decode()[-3000:]}\nHUNG for {GUARD_SECONDS} s"
        return status, said, time.monotonic() - start

    failed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        played = {pool.submit(one, job): job for job in jobs}
        for future in concurrent.futures.as_completed(played):
            (status, said, seconds), job = future.result(), played[future]
            name, setting = job.split(":")
            is_good = status == (3 if arguments.control else 0)
            if arguments.control and status == 0:
                said += f"\nthe control passed, although it lacks a protection: {module(name).CONTROL}"
            if not is_good:
                failed.append(name)
            print(f"journeys: {name} ({setting}): {said} ({seconds:.1f} s)", flush=True)
    what = "controls failed as they must" if arguments.control else "journeys"
    print(f"journeys: {len(jobs) - len(failed)} of {len(jobs)} {what}, in {time.monotonic() - began:.0f} s")
    for name in sorted(set(failed)):
        print(f"journeys: again: Tests/Journeys/run {'--control ' if arguments.control else ''}{name}")
    return failed


def main():
    parser = argparse.ArgumentParser(prog="Tests/Journeys/run")
    parser.add_argument("perch", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"of {', '.join(NAMES + ON_REQUEST)}; NAME:sqlite and NAME:nodes choose a setting")
    parser.add_argument("--full", action="store_true", help="every setting of each story, at length")
    parser.add_argument("--control", action="store_true", help="without the protection that the story names: it must fail")
    parser.add_argument("--keep", type=pathlib.Path, help="a directory for logs and stores that stays")
    parser.add_argument("--old", type=pathlib.Path, help="a program of an earlier version, for upgrades")
    parser.add_argument("--verbose", action="store_true", help="name the waits that took more than a second")
    parser.add_argument("--play", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_intermixed_args()
    if arguments.play:
        play(arguments)
    jobs = []
    for name in arguments.names or NAMES:
        name, _, setting = name.partition(":")
        name = name.replace("-", "_")
        if name not in NAMES + ON_REQUEST:
            parser.error(f"there is no {name!r}; there are {', '.join(NAMES + ON_REQUEST)}")
        story = module(name)
        if setting and setting not in story.FULL:
            parser.error(f"{name} has no {setting!r}; it has {', '.join(story.FULL)}")
        jobs += [f"{name}:{each}" for each in ([setting] if setting else story.FULL if arguments.full else story.SETTINGS)]
    with tempfile.TemporaryDirectory(prefix="journeys-") as made:
        directory = arguments.keep or pathlib.Path(made)
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)
        failed = run(arguments, jobs, directory)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
