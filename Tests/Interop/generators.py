"""Runs stock `protoc` on every file of the contract, for Python, C++, Java and C#, and checks the options of other languages.

    generators.py

`protoc` is Debian's. Go's generator is no part of it, so of Go only the option is checked. The last line is `N passed, N failed`.
"""
import importlib
import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
# The files that each generator writes for one file of the contract: by the file's path without `.proto`, and its messages.
WRITES = {
    "python": lambda path, messages: [f"{path}_pb2.py"],
    "cpp": lambda path, messages: [f"{path}.pb.h", f"{path}.pb.cc"],
    "java": lambda path, messages: [f"{path.rsplit('/', 1)[0]}/{name}.java" for name in messages],
    "csharp": lambda path, messages: ["".join(word.capitalize() for word in path.rsplit("/", 1)[1].split("_")) + ".cs"],
}


def expected_options(package):
    """The options of a file, derived from its package: `perch.wire.v1`."""
    parts = package.split(".")
    return {
        "csharp_namespace": ".".join(part.capitalize() for part in parts),
        "go_package": "/".join(parts) + ";" + "".join(parts[-2:]),
        "java_multiple_files": True,
        "java_package": package,
    }


def protoc(*arguments):
    subprocess.run(["protoc", "-I.", *arguments], cwd=PROTO, check=True)


def option_faults(file):
    for name, expected in expected_options(file.package).items():
        found = getattr(file.options, name) if file.options.HasField(name) else None
        if found != expected:
            yield f"{file.name}: option {name} is {found!r}, expected {expected!r}"


def generation_faults(files, work):
    for language, writes in WRITES.items():
        output = work / language
        output.mkdir()
        protoc(f"--{language}_out={output}", *(file.name for file in files))
        for file in files:
            names = [message.name for message in file.message_type] + [enum.name for enum in file.enum_type]
            for written in writes(file.name.removesuffix(".proto"), names):
                if not (output / written).is_file():
                    yield f"{file.name}: protoc wrote no {written} for {language}"


def python_faults(files, work):
    """Imports the generated Python, and carries each message through bytes."""
    sys.path.insert(0, str(work / "python"))
    for file in files:
        module = importlib.import_module(file.name.removesuffix(".proto").replace("/", ".") + "_pb2")
        for message in file.message_type:
            made = getattr(module, message.name)()
            if type(made).FromString(made.SerializeToString()) != made:
                yield f"{file.name}: {message.name} does not survive its bytes in Python"


def main():
    paths = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "perch").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        protoc("--include_imports", f"--descriptor_set_out={work / 'contract.binpb'}", *paths)
        everything = descriptor_pb2.FileDescriptorSet.FromString((work / "contract.binpb").read_bytes()).file
        files = [file for file in everything if file.name in paths]
        checks = [(f"options of {file.name}", list(option_faults(file))) for file in files]
        checks.append((f"protoc for {', '.join(WRITES)}", list(generation_faults(files, work))))
        checks.append(("generated Python", list(python_faults(files, work))))
    for name, faults in checks:
        for fault in faults:
            print(f"generators: {fault}", file=sys.stderr)
        print(f"{'FAILED' if faults else 'ok    '} {name}")
    failed = sum(1 for _, faults in checks if faults)
    print(f"generators: {len(checks) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
