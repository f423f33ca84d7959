"""Counts the hand-written lines that transcribe the contract: `proto/generate.sh --count`.

A line counts if it is code, no generator wrote it, and it names a field of a message that its file uses: as a member
(`.productID`), as a label (`productID:`), or by the contract's own name (`product_id`). A file uses a message if it names the
message's Swift or C type. Such a line has to be written again, or at least checked, when the field changes. The parameters that a
function declares (`func state(of app: AppNumber)`) are names of its own, and do not count.

Counted is all of Sources, and `proto/swift.map`, except the folders and files of LEFT_OUT. The command fails beyond a limit.
"""
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from google.protobuf import descriptor_pb2  # noqa: E402

from contract import Contract, camel  # noqa: E402

TRANSCRIPTION_MAX = 3_130  # Of 75 methods.
GENERATOR_MAX = 1_800  # Some 1,450 for Swift, and 300 for Python.

# Folders and files of Sources whose lines are no transcription, and the reason.
LEFT_OUT = {
    "PerchModel": "decisions and views",
    "PerchStore": "decisions, and the store's own disk form",
    "PerchSQLite": "the store's own disk form",
    "PerchPostgres": "the store's own disk form",
    "PerchCore/Views": "views",
    "PerchApple": "reads and writes the App Store's payloads, whose field names are partly the contract's",
    "PerchTwin": "writes the App Store's payloads, as PerchApple reads them",
    "PerchReconciler": "reads the App Store's payloads",
    "PerchClientTesting": "values and a store for tests of programs that use the client",
    "PerchServer/IntakeLoop.swift": "hands the App Store's payloads to the store",
    "PerchServer/AppleAppsFile.swift": "reads a settings file of its own",
    "PerchScenario": "uses the contract like any client: its own language for steps and expectations",
    "PerchBench": "uses the contract like any client: a load generator",
    "Checks": "uses the contract like any client: simulation and fuzzing",
}


def words_of(message):
    """All names under which a field of the message stands in code."""
    names = set()
    for field in message.fields:
        names |= {field.property, camel(field.name), field.name}
    return names


def types_of(contract):
    """Field names by the name of a type: Swift's, and protobuf-c's."""
    names = collections.defaultdict(set)
    for _, _, messages, _ in contract.files:
        for message in messages:
            swift = re.sub(r"<.*", "", message.swift)
            # A response that stands for another value has fields of both.
            for name in (swift, message.name, message.c_type):
                names[name] |= words_of(message)
    return names


def counted_lines(path, types):
    """The lines of a Swift file that name a field of a message that the file uses."""
    text = path.read_text()
    used = set()
    for name in set(re.findall(r"\b[A-Z]\w*", text)) & types.keys():
        used |= types[name]
    if not used:
        return 0
    names = "|".join(sorted(map(re.escape, used), key=len, reverse=True))
    names_field = re.compile(rf'\.(?:{names})\b|\b(?:{names}):|"(?:{names})"')
    code = (re.sub(r"\bfunc .*", "", line.strip()) for line in text.splitlines())
    return sum(1 for line in code if not line.startswith("//") and names_field.search(line))


def main(descriptor_path, map_path):
    contract = Contract(
        descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(descriptor_path).read_bytes()), pathlib.Path(map_path))
    types = types_of(contract)
    counted, left_out = collections.Counter(), collections.Counter()
    sources = pathlib.Path("Sources")
    for path in sorted(sources.rglob("*.swift")):
        place = path.relative_to(sources).as_posix()
        if "/Generated/" in place:
            continue
        folder = next((name for name in LEFT_OUT if place == name or place.startswith(name + "/")), None)
        lines = counted_lines(path, types)
        if folder:
            left_out[folder] += lines
        else:
            counted["/".join(place.split("/")[:2]).removesuffix(".swift")] += lines
    fields = re.compile(r"^ +[a-z]")
    counted["proto/swift.map"] = sum(1 for line in pathlib.Path(map_path).read_text().splitlines() if fields.match(line))

    generator = sum(
        len(path.read_text().splitlines()) for path in pathlib.Path(__file__).parent.glob("*.py") if path != pathlib.Path(__file__))
    for folder, lines in counted.most_common():
        if lines:
            print(f"{lines:6}  {folder}")
    total = sum(counted.values())
    print(f"{total:6}  hand-written lines transcribe the contract, the limit is {TRANSCRIPTION_MAX}")
    print(f"{generator:6}  lines of the generator, the limit is {GENERATOR_MAX}")
    print("Left out:")
    for folder, reason in LEFT_OUT.items():
        print(f"{left_out[folder]:6}  {folder}: {reason}")
    return 0 if total <= TRANSCRIPTION_MAX and generator <= GENERATOR_MAX else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
