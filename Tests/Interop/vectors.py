"""Checks the test vectors of proto/vectors in Python: what is committed means what it says, to a second reader.

`scan` is the rules of proto/README.md for the messages of a client, as a program. One line for each file; the last
line is `N passed, N failed`.
"""
import json
import pathlib
import re
import struct
import sys
import zlib

from google.protobuf import json_format, message

import wire

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
KINDS = ["HELLO", "WELCOME", "CALL", "MESSAGE", "STATUS", "CANCEL", "BEAT", "PING", "PONG", "DRAIN"]
FIELDS_MAX, ITEMS_MAX, DEPTH_MAX = 4_096, 65_536, 32
FRAME_BYTES_MAX, HELLO_BYTES_MAX = 4 << 20, 16 << 10
RATIO_MAX, RATIO_FREE_BYTES = 100, 64 << 10


class Refused(Exception):
    """A rule was broken; its reason is the word of the table."""


def reasons():
    """The table of proto/README.md: reason to code."""
    rows = re.findall(r"^\| `([A-Z0-9_]+)` \| (\d+) [A-Z_]+ \|", (PROTO / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a reason stands in the table twice"
    return {reason: int(code) for reason, code in rows}


def retries():
    """The column Retry of that table, of the reasons of a connection."""
    text = (PROTO / "README.md").read_text().split("Reasons of a connection, in DRAIN:")[1].split("Reasons of a call")[0]
    return dict(re.findall(r"^\| `([A-Z0-9_]+)` \| \d+ [A-Z_]+ \| ([^|]+) \|", text, re.MULTILINE))


def bytes_of(vector, key="hex", parts="parts"):
    """The bytes of a vector: as hex, or as parts, each with the number of its repetitions."""
    if key in vector:
        return bytes.fromhex(vector[key])
    return b"".join(bytes.fromhex(piece) * times for piece, times in vector[parts])


# Messages


def varint(data, at, longest):
    value = 0
    for index in range(longest):
        if at + index >= len(data):
            raise Refused("MESSAGE_MALFORMED")
        value |= (data[at + index] & 0x7F) << 7 * index
        if data[at + index] < 0x80:
            return value, at + index + 1
    raise Refused("MESSAGE_MALFORMED")


def scan(data, descriptor, counts=None, depth=1):
    """Reads a message without making anything of it; raises what a server answers. Counts are of the whole message."""
    counts = counts if counts is not None else {"fields": 0, "items": 0}
    if depth > DEPTH_MAX:
        raise Refused("MESSAGE_TOO_DEEP")
    at = 0
    while at < len(data):
        key, at = varint(data, at, 5)
        number, wire_type, start = key >> 3, key & 7, at
        if number == 0 or number > 536_870_911 or wire_type not in (0, 1, 2, 5):
            raise Refused("MESSAGE_MALFORMED")
        if wire_type == 0:
            _, at = varint(data, at, 10)
        elif wire_type == 2:
            length, start = varint(data, at, 5)
            at = start + length
        else:
            at += 8 if wire_type == 1 else 4
        if at > len(data):
            raise Refused("MESSAGE_MALFORMED")
        check(descriptor.fields_by_number.get(number), wire_type, data[start:at], counts, depth)


def check(field, wire_type, value, counts, depth):
    """One field of `scan`: its count, its type, its text, what is nested in it."""
    listed = field is not None and field.is_repeated
    width = {field.TYPE_FIXED32: 4, field.TYPE_SFIXED64: 8}.get(field.type) if field is not None else None
    packed = listed and wire_type == 2 and (width or field.cpp_type in (field.CPPTYPE_ENUM, field.CPPTYPE_UINT32))
    if packed and width and len(value) % width:
        raise Refused("MESSAGE_MALFORMED")
    counts["items" if listed else "fields"] += (len(value) // width if width else sum(byte < 0x80 for byte in value)) if packed else 1
    if counts["fields"] > FIELDS_MAX:
        raise Refused("MESSAGE_TOO_MANY_FIELDS")
    if counts["items"] > ITEMS_MAX:
        raise Refused("MESSAGE_TOO_MANY_ITEMS")
    if field is None or packed:
        return
    fits = {4: 5, 8: 1}.get(width) or {field.CPPTYPE_STRING: 2, field.CPPTYPE_MESSAGE: 2, field.CPPTYPE_DOUBLE: 1}.get(field.cpp_type, 0)
    if wire_type != fits:
        raise Refused("MESSAGE_MALFORMED")
    if field.message_type:
        scan(value, field.message_type, counts, depth + 1)
    elif field.type == field.TYPE_STRING:
        try:
            value.decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Refused("TEXT_NOT_UTF8") from None
        if b"\x00" in value:
            raise Refused("TEXT_HAS_NUL")


def check_message(contract, vector):
    """Decodes, compares the JSON, and encodes again to the same bytes; a refused one must be refused for its reason."""
    kind = contract.message(vector["message"])
    data = bytes_of(vector)
    if "reason" in vector:
        try:
            scan(data, kind.DESCRIPTOR)
        except Refused as refused:
            assert str(refused) == vector["reason"], f"scan says {refused}"
            return
        raise AssertionError("scan finds nothing wrong")
    scan(data, kind.DESCRIPTOR)
    decoded = kind.FromString(data)
    decoded.DiscardUnknownFields()
    canonical = data
    if "canonical" in vector or "canonical_parts" in vector:
        canonical = bytes_of(vector, "canonical", "canonical_parts")
    assert decoded.SerializeToString(deterministic=True) == canonical, "other bytes when encoded again"
    if "json" in vector:
        said = json_format.MessageToDict(decoded)
        assert said == vector["json"], f"the JSON is {json.dumps(said)}"
        read = json_format.ParseDict(vector["json"], kind())
        assert read.SerializeToString(deterministic=True) == canonical, "other bytes when read from the JSON"


# Frames


def inflate(body):
    """The bytes of a compressed message, stopping at the first limit it passes."""
    inflater, out, fed = zlib.decompressobj(), b"", 0
    try:
        while not inflater.eof:
            piece = inflater.unconsumed_tail or body[fed:fed + 4_096]
            if not piece:
                raise Refused("INFLATE_CORRUPT")
            fed += 0 if inflater.unconsumed_tail else len(piece)
            out += inflater.decompress(piece, 65_536)
            if len(out) > FRAME_BYTES_MAX:
                raise Refused("INFLATE_LIMIT")
            if len(out) > max(RATIO_FREE_BYTES, RATIO_MAX * len(body)):
                raise Refused("INFLATE_RATIO")
    except zlib.error:
        raise Refused("INFLATE_CORRUPT") from None
    if inflater.unused_data or fed < len(body):
        raise Refused("INFLATE_CORRUPT")
    return out


def next_frame(data, given):
    """The first frame of what a client sent: kind, stream, flag, message, bytes used; None when more is to come. The
    rules are asked in the order of proto/README.md, and before the message is there as far as the header tells."""
    if len(data) < 9:
        return None
    address, flag, length = struct.unpack_from(">IBI", data)
    kind, stream = address >> 24, address & 0xFFFFFF
    if not 1 <= kind <= 10:
        raise Refused("UNKNOWN_KIND")
    name = KINDS[kind - 1]
    if given and name in ("WELCOME", "MESSAGE", "STATUS", "BEAT", "DRAIN"):
        raise Refused("KIND_NOT_FOR_CLIENTS")
    if flag > 1:
        raise Refused("RESERVED_FLAG")
    if name in ("CALL", "MESSAGE", "STATUS", "CANCEL"):
        if stream == 0:
            raise Refused("STREAM_ZERO")
    elif stream != 0:
        raise Refused("STREAM_NOT_ZERO")
    if flag and name not in ("CALL", "MESSAGE"):
        raise Refused("COMPRESSION_NOT_OFFERED")
    if given == "connected" and name != "HELLO":
        raise Refused("HELLO_EXPECTED")
    if given and given != "connected" and name == "HELLO":
        raise Refused("HELLO_REPEATED")
    if length > (HELLO_BYTES_MAX if given == "connected" else FRAME_BYTES_MAX):
        raise Refused("FRAME_TOO_LONG")
    if name in ("PING", "PONG") and length != 8:
        raise Refused("PING_LENGTH")
    if name == "CANCEL" and length != 0:
        raise Refused("CANCEL_NOT_EMPTY")
    if name == "CALL" and given == f"welcomed, stream {stream} live":
        raise Refused("STREAM_LIVE")
    if len(data) < 9 + length:
        return None
    body = data[9:9 + length]
    return name, kind, stream, bool(flag), inflate(body) if flag else body, 9 + length


def check_hello(contract, body):
    """What is asked of the message of HELLO."""
    kind = contract.message("perch.wire.v1.Hello")
    try:
        scan(body, kind.DESCRIPTOR)
        hello = kind.FromString(body)
    except (Refused, message.DecodeError):
        raise Refused("HELLO_INVALID") from None
    if len(hello.client_id) > 32:
        raise Refused("HELLO_INVALID")
    if hello.protocol_version != 1:
        raise Refused("PROTOCOL_VERSION")


def check_frames(contract, vector):
    data = bytes_of(vector)
    if "drain" in vector:
        try:
            frame = next_frame(data, vector["given"])
            if frame and frame[0] == "HELLO":
                check_hello(contract, frame[4])
        except Refused as refused:
            assert str(refused) == vector["drain"], f"the reader says {refused}"
            return
        raise AssertionError("the reader finds nothing wrong")
    for says in vector["frames"]:
        name, kind, stream, compressed, body, used = next_frame(data, "")
        found = {"kind": name, "number": kind, "stream": stream, "compressed": compressed, "length": used - 9}
        if "message" in says:
            decoded = contract.message(says["message"]).FromString(body)
            found["message"] = says["message"]
            found["json"] = json_format.MessageToDict(decoded)
            assert decoded.SerializeToString(deterministic=True) == body, "other bytes when encoded again"
        else:
            found["data"] = body.hex()
        assert found == says, f"the reader says {json.dumps(found)}"
        data = data[used:]
    assert data.hex() == vector["rest"] and next_frame(data, "") is None, "bytes are left"


def main():
    contract = wire.contract()
    table = reasons()
    seen, passed, failed = set(), 0, 0
    for path in sorted((PROTO / "vectors").glob("*.json")):
        vectors = json.loads(path.read_text())
        for vector in vectors:
            try:
                (check_frames if path.name.startswith("frames") else check_message)(contract, vector)
                reason = vector.get("drain") or vector.get("reason")
                assert reason is None or reason in table, f"{reason} is not in the table of proto/README.md"
                seen.add(vector.get("message"))
                passed += 1
            except Exception as error:  # whatever it is, it is this vector's
                print(f"FAILED  {path.name}: {vector.get('message', '')} {vector['name']}: {error!r}")
                failed += 1
        print(f"ok      {path.name}: {len(vectors)} vectors")
    for name in every_message(contract):
        if name not in seen:
            print(f"FAILED  {name}: there is no vector")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def every_message(contract):
    """The full names of all messages of the contract."""
    for path in sorted(PROTO.glob("perch/**/*.proto")):
        file = contract.pool.FindFileByName(str(path.relative_to(PROTO)))
        yield from (descriptor.full_name for descriptor in file.message_types_by_name.values())


if __name__ == "__main__":
    sys.exit(main())
