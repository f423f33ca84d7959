"""Writes Swift and Python from the contract: `python proto/generator DESCRIPTORS MAP OUTPUT`, as proto/generate.sh calls it.

DESCRIPTORS is a FileDescriptorSet with source information. OUTPUT receives a tree like that of the repository.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from google.protobuf import descriptor_pb2  # noqa: E402

import conversions  # noqa: E402
import methods  # noqa: E402
import pushed  # noqa: E402
import python  # noqa: E402
import stored  # noqa: E402
import values  # noqa: E402
from contract import Contract, ContractError  # noqa: E402


def descriptors_in_c(descriptors):
    """The descriptors without comments, as an array of C: what reflection and the JSON codec hand out."""
    plain = descriptor_pb2.FileDescriptorSet()
    plain.CopyFrom(descriptors)
    for file in plain.file:
        file.ClearField("source_code_info")
    data = plain.SerializeToString(deterministic=True)
    rows = [", ".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
    return ("/* Generated from proto/ by `make proto`. Do not edit. */\n#include \"perch/descriptors.h\"\n\n"
            f"const size_t perch_descriptors_count = {len(data)};\n"
            f"const uint8_t perch_descriptors[{len(data)}] = {{\n    " + ",\n    ".join(rows) + "};\n")


HEADER = """/* Generated from proto/ by `make proto`. Do not edit. */
#ifndef PERCH_DESCRIPTORS_H
#define PERCH_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

/* A serialized google.protobuf.FileDescriptorSet of proto/perch, each file after those that it imports. */
extern const size_t perch_descriptors_count;
extern const uint8_t perch_descriptors[];

/* Swift imports no array of unknown length. */
static inline const uint8_t *perch_descriptors_start(void) {
    return perch_descriptors;
}

#endif
"""


def main(descriptor_path, map_path, output):
    descriptors = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(descriptor_path).read_bytes())
    contract = Contract(descriptors, pathlib.Path(map_path))
    files = {
        "Sources/PerchWire/Generated/Values.swift": values.generate(contract),
        "Sources/PerchWire/Generated/Conversions.swift": conversions.generate(contract),
        "Sources/PerchWire/Generated/Structures.swift": methods.conformances(contract),
        "Sources/PerchWire/Generated/Methods.swift": methods.method_table(contract),
        "Sources/PerchWire/Generated/MessageCodec+Methods.swift": methods.codec(contract),
        "Sources/PerchWire/Generated/ContractCall.swift": methods.calls(contract),
        "Sources/PerchWire/Generated/Pushed.swift": pushed.generate(contract),
        "Sources/PerchStore/Generated/Stored.swift": stored.generate(contract),
        "Sources/Checks/PerchTesting/Generated/Samples+Stored.swift": stored.samples(contract),
        "Sources/PerchCore/Generated/MethodTable.swift": methods.handlers(contract),
        "Sources/PerchIdentity/Generated/Permission+Methods.swift": methods.permissions(contract),
        "Sources/CPerchProto/perch/descriptors.c": descriptors_in_c(descriptors),
        "Sources/CPerchProto/include/perch/descriptors.h": HEADER,
    }
    readme = (pathlib.Path(map_path).parent / "README.md").read_text()
    for name, text in python.generate(contract, readme).items():
        files[f"proto/clients/python/src/perch/_generated/{name}"] = text
    for name, text in files.items():
        path = pathlib.Path(output) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ContractError as error:
        sys.exit(f"proto/generator: {error}")
