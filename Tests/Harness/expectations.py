"""What a trial expects. Each expectation is counted, and one that fails is printed at once."""
import pathlib
import sys

count, failures = 0, []


def expect(condition, sentence):
    global count
    count += 1
    if not condition:
        failures.append(sentence)
        if len(failures) <= 40:
            print(f"{pathlib.Path(sys.argv[0]).stem}: FAILED: {sentence}", file=sys.stderr)
    return condition


def conclude(what):
    """The last line of a trial; an expectation that failed ends it with 1."""
    trial = pathlib.Path(sys.argv[0]).resolve().parent.name.lower()
    if failures:
        sys.exit(f"{trial}: {len(failures)} of {count} checks of {what} failed")
    print(f"{trial}: {count} checks of {what} passed")
