"""What a trial of the App Store expects. Each expectation is counted, and one that fails is printed at once."""
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
    if failures:
        sys.exit(f"apple: {len(failures)} of {count} checks of {what} failed")
    print(f"apple: {count} checks of {what} passed")
