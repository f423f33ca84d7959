"""Writes the test vectors of this folder, and the session in hex of proto/README.md, from the contract itself.

    generate.py DESCRIPTORS [--check]

DESCRIPTORS is a descriptor set of proto/ (`protoc --include_imports --descriptor_set_out=…`; Tests/Interop/run makes
one). --check writes nothing, and exits with 1 when what is committed differs from what would be written.

Deterministic: the same contract gives the same files on every machine. What zlib made is the one thing that may differ
between its versions, so a committed compressed payload is kept as long as it inflates to what it should.
"""
import json
import pathlib
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from example import session
from frames import Frames, bad_frames, good_frames
from messages import at_limits, lenient, messages_of, refused

HERE = pathlib.Path(__file__).resolve().parent
README = HERE.parent / "README.md"


class Contract:
    """The messages of a descriptor set, as classes."""

    def __init__(self, path):
        self.pool = descriptor_pool.DescriptorPool()
        self.files = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(path).read_bytes()).file
        for file in self.files:
            self.pool.AddSerializedFile(file.SerializeToString())

    def __call__(self, name, **fields):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(name))(**fields)


def lines_of(vectors):
    """One vector a line, so that a change of the contract is readable as a difference."""
    return "[\n" + ",\n".join(json.dumps(v) for v in vectors) + "\n]\n"


def committed_payloads(path):
    """Compressed payloads that are committed, by the name of their vector."""
    if not path.exists():
        return {}
    out = {}
    for each in json.loads(path.read_text()):
        if any(f["compressed"] for f in each.get("frames", [])):
            out[each["name"]] = bytes.fromhex(each["hex"])[9:]
    return out


def main(arguments):
    check = "--check" in arguments
    contract = Contract([a for a in arguments if not a.startswith("--")][0])
    frames = Frames(contract, committed_payloads(HERE / "frames.json"))
    files = {HERE / "frames.json": lines_of(good_frames(frames)),
             HERE / "frames-refused.json": lines_of(bad_frames(frames)),
             HERE / "messages-lenient.json": lines_of([*lenient(contract), *at_limits(contract)]),
             HERE / "messages-refused.json": lines_of(refused(contract))}
    for file in contract.files:
        vectors = list(messages_of(contract, file))
        files[HERE / f"messages-{pathlib.Path(file.name).stem}.json"] = lines_of(vectors)
    begin, end = "<!-- session: written by vectors/generate.py -->\n", "<!-- end of session -->"
    prose = README.read_text()
    before, _, after = prose.partition(begin)
    _, _, after = after.partition(end)
    files[README] = before + begin + "```\n" + session(contract) + "```\n" + end + after
    different = [path for path, content in files.items() if not path.exists() or path.read_text() != content]
    stray = [path for path in HERE.glob("*.json") if path not in files]
    for path in different + stray:
        print(f"{path.relative_to(HERE.parent)}: {'differs from the contract; run generate.py' if check else 'written'}"
              if path in files else f"{path.name}: belongs to no file of the contract; remove it")
    if not check:
        for path in different:
            path.write_text(files[path])
    return 1 if stray or check and different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
