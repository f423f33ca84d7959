"""Vectors of messages: every message of the contract at its ends, and bytes that are odd or refused."""
from google.protobuf import json_format

from handmade import fields_of, number, tag, text, varint

UNICODE = "caf\u00e9 \u65e5\u672c\u8a9e \U0001f426 e\u0301 \u200f\ufeff \U0010fffd \"\\/\b\t\n\r\x7f"


def distinct(field, index):
    """A value that no other field of the message has, so that two fields mixed up are seen."""
    number = field.number + 100 * index
    return {
        field.CPPTYPE_INT32: 1_000 + number,
        field.CPPTYPE_UINT32: 1_000 + number,
        field.CPPTYPE_INT64: 1_700_000_000_000 + number if field.name.endswith("_ms") else 1_000_000 + number,
        field.CPPTYPE_UINT64: 2_000_000 + number,
        field.CPPTYPE_DOUBLE: number + 0.5,
        field.CPPTYPE_BOOL: True,
        field.CPPTYPE_ENUM: field.enum_type and field.enum_type.values[-1 - index].number,
        field.CPPTYPE_STRING: (bytes([number & 0xFF, 0, 0xFF]) if field.type == field.TYPE_BYTES
                               else f"{field.name}-{number}"),
    }[field.cpp_type]


def largest(field, index):
    """The far end of each type; in lists, also the empty value."""
    if index == 1 and field.cpp_type == field.CPPTYPE_STRING:
        return b"" if field.type == field.TYPE_BYTES else ""
    return {
        field.CPPTYPE_INT32: 2**31 - 1,
        field.CPPTYPE_UINT32: 2**32 - 1,
        field.CPPTYPE_INT64: 2**63 - 1,
        field.CPPTYPE_UINT64: 2**64 - 1,
        field.CPPTYPE_DOUBLE: 1.7976931348623157e308,
        field.CPPTYPE_BOOL: True,
        field.CPPTYPE_ENUM: 2**31 - 1,
        field.CPPTYPE_STRING: b"\x00\x80\xff" * 43 if field.type == field.TYPE_BYTES else UNICODE,
    }[field.cpp_type]


def smallest(field, index):
    """The near end of each type, and texts whose length takes two bytes to write."""
    return {
        field.CPPTYPE_INT32: -(2**31),
        field.CPPTYPE_UINT32: 1,
        field.CPPTYPE_INT64: -(2**63),
        field.CPPTYPE_UINT64: 1,
        field.CPPTYPE_DOUBLE: 5e-324,
        field.CPPTYPE_BOOL: index == 0,
        field.CPPTYPE_ENUM: -1,
        field.CPPTYPE_STRING: bytes(128) if field.type == field.TYPE_BYTES else "x" * 128,
    }[field.cpp_type]


def zero(field, index):
    """The default of each type: on the wire only in a list or a oneof."""
    value = {field.CPPTYPE_STRING: b"" if field.type == field.TYPE_BYTES else "", field.CPPTYPE_BOOL: False}
    return value.get(field.cpp_type, 0)


def fill(message, value, chosen=0, depth=0):
    """Sets every field. Of a oneof, the alternative number `chosen`, counted around."""
    for field in message.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        if oneof and oneof.fields[chosen % len(oneof.fields)] is not field:
            continue
        if field.is_repeated:
            items = getattr(message, field.name)
            for index in range(2 if depth == 0 else 1):
                if field.message_type:
                    fill(items.add(), value, chosen + index, depth + 1)
                else:
                    items.append(value(field, index))
        elif field.message_type:
            inner = getattr(message, field.name)
            inner.SetInParent()
            fill(inner, value, chosen, depth + 1)
        else:
            setattr(message, field.name, value(field, 0))
    return message


def reaches(descriptor, test):
    """Whether a field for which `test` holds is in the message or in one that it contains."""
    return any(test(f) or f.message_type and reaches(f.message_type, test) for f in descriptor.fields)


UNKNOWN = [number(15_000, 2**64 - 1), text(15_001, b"\xff\x00 not text"), tag(15_002, 5) + b"\x01\x02\x03\x04",
           tag(15_003, 1) + b"\x01\x02\x03\x04\x05\x06\x07\x08", text(536_870_911, b"")]


def with_unknown_fields(data):
    """Fields that no version of the contract has, before, between and after the others."""
    out = UNKNOWN[0]
    for index, (_, prefix, value) in enumerate(fields_of(data)):
        out += prefix + value + UNKNOWN[1 + index % 4]
    return out + UNKNOWN[4]


def vector(message, name, hex_bytes=None):
    """What a name, the bytes and the JSON of a message look like in a file."""
    canonical = message.SerializeToString(deterministic=True)
    given = canonical if hex_bytes is None else hex_bytes
    out = {"name": name, "message": message.DESCRIPTOR.full_name, "hex": given.hex()}
    if given != canonical:
        out["canonical"] = canonical.hex()
    decoded = type(message).FromString(given)
    decoded.DiscardUnknownFields()
    assert decoded == message or "NaN" in name, name
    out["json"] = json_format.MessageToDict(decoded)
    return out


def messages_of(contract, file):
    for each in file.message_type:
        name = f"{file.package}.{each.name}"
        empty = contract(name)
        kind = empty.DESCRIPTOR
        yield vector(empty, "no field")
        yield vector(empty, "only unknown fields", with_unknown_fields(b""))
        if not kind.fields:
            continue
        alternatives = max([len(oneof.fields) for oneof in kind.oneofs] or [1])
        for chosen in range(alternatives):
            which = "" if alternatives == 1 else f", {kind.oneofs[0].fields[chosen].name}"
            yield vector(fill(contract(name), distinct, chosen), "every field" + which)
        yield vector(fill(contract(name), largest), "largest values, empty items, unicode")
        yield vector(fill(contract(name), smallest), "smallest values, lengths of two bytes")
        if reaches(kind, lambda f: f.is_repeated or f.message_type or f.containing_oneof):
            yield vector(fill(contract(name), zero), "nested messages, items and oneofs with nothing in them")
        if reaches(kind, lambda f: f.enum_type):
            unknown = fill(contract(name), lambda f, i: 77 + i if f.enum_type else zero(f, i))
            yield vector(unknown, "unknown enum values")
        plain = fill(contract(name), distinct)
        data = plain.SerializeToString(deterministic=True)
        yield vector(plain, "unknown fields between the known", with_unknown_fields(data))
        falling = b"".join(prefix + value for _, prefix, value in reversed(list(fields_of(data))))
        if falling != data and not any(f.is_repeated for f in kind.fields):
            yield vector(plain, "fields in falling order", falling)


def lenient(contract):
    """Bytes that no serializer need write and every reader must take, on a few messages."""
    transaction, position = "perch.v1.Transaction", "perch.v1.Position"
    yield vector(contract(position, revision=2), "the same number twice: the last counts", number(1, 1) + number(1, 2))
    yield vector(contract(position), "defaults written out", number(1, 0) + number(2, 0))
    yield vector(contract(position, revision=1), "a number with needless bytes", tag(1, 0) + b"\x81\x80\x80\x00")
    yield vector(contract(position, revision=1), "a tag with needless bytes", b"\x88\x80\x00\x01")
    yield vector(contract(position, as_of_ms=-1), "minus one in ten bytes", number(2, 2**64 - 1))
    yield vector(contract("perch.wire.v1.Hello", accepts=[1, 2]), "a packed list written one by one",
                 number(4, 1) + number(4, 2))
    yield vector(contract("perch.wire.v1.Hello", accepts=[1, 2, 3]), "a packed list in pieces",
                 text(4, b"\x01") + number(4, 2) + text(4, b"") + text(4, b"\x03"))
    yield vector(contract(transaction, is_upgraded=True), "true written as 2", number(13, 2))
    yield vector(contract(transaction, expiration_date_ms=0), "a date that is present and 0", number(11, 0))
    yield vector(contract(transaction, id=0, original_id=0, product_id="x"), "transaction 0", text(6, "x"))
    yield vector(contract("perch.v1.ValueInfo", position={"revision": 7, "as_of_ms": 9}),
                 "a nested message in two pieces is merged", text(1, number(1, 7)) + text(1, number(2, 9)))
    yield vector(contract("perch.v1.ProductsTaskResponse", unchanged={}), "two of a oneof: the last counts",
                 text(1, b"") + text(4, b""))
    yield vector(contract("perch.v1.SetClockRequest", advance_by_ms=0), "a oneof with the value 0", number(4, 0))
    yield vector(contract("perch.v1.SubscriptionStatuses", effective_index=0), "the index 0 is present", number(2, 0))
    yield vector(contract("perch.v1.SubscriptionStatusTaskRequest", account="\u00e9" * 127 + "x"), "a key of 255 bytes")
    yield vector(contract("perch.v1.Metric", value=float("inf")), "infinity")
    yield vector(contract("perch.v1.Metric", value=float("-inf")), "minus infinity")
    yield vector(contract("perch.v1.Metric", value=float("nan")), "NaN")
    yield vector(contract("perch.v1.Metric", value=0.1), "a tenth")


def refused(contract):
    """Requests that are answered by a status, with its reason."""
    status, position = "perch.v1.SubscriptionStatusTaskRequest", "perch.v1.Position"

    def bad(name, message, reason, data=None, parts=None):
        out = {"name": name, "message": message}
        out.update({"hex": data.hex()} if parts is None else {"parts": parts})
        return out | {"reason": reason}

    malformed = "MESSAGE_MALFORMED"
    yield bad("ends within a tag", position, malformed, b"\x88")
    yield bad("ends after a tag", position, malformed, b"\x08")
    yield bad("ends within a number", position, malformed, b"\x08\x80")
    yield bad("a number of eleven bytes", position, malformed, b"\x08" + b"\x80" * 10 + b"\x00")
    yield bad("a tag of six bytes", position, malformed, b"\x88\x80\x80\x80\x80\x00\x01")
    yield bad("field number 0", position, malformed, b"\x00\x01")
    yield bad("field number 0 with a length", position, malformed, b"\x02\x00")
    yield bad("wire type 6", position, malformed, b"\x0e\x01")
    yield bad("wire type 7", position, malformed, b"\x0f\x01")
    yield bad("a group begins", position, malformed, tag(15_000, 3) + tag(15_000, 4))
    yield bad("a group ends that never began", position, malformed, tag(15_000, 4))
    yield bad("a number where a text belongs", status, malformed, number(2, 1))
    yield bad("a text where a number belongs", position, malformed, text(1, "1"))
    yield bad("a length past the end", status, malformed, b"\x12\x05anna")
    yield bad("the longest length", status, malformed, b"\x12\xff\xff\xff\xff\x0fanna")
    yield bad("a nested message that ends too early", status, malformed, text(1, b"\x0a\x05com"))
    yield bad("an unknown fixed64 that ends too early", position, malformed, tag(15_000, 1) + b"\x00" * 7)
    utf8 = "TEXT_NOT_UTF8"
    yield bad("a lone continuation byte", status, utf8, text(2, b"an\x80na"))
    yield bad("a sequence that ends too early", status, utf8, text(2, b"anna\xc3"))
    yield bad("an overlong slash", status, utf8, text(2, b"\xc0\xaf"))
    yield bad("an overlong NUL", status, utf8, text(2, b"\xc0\x80"))
    yield bad("a surrogate", status, utf8, text(2, b"\xed\xa0\x80"))
    yield bad("above U+10FFFF", status, utf8, text(2, b"\xf4\x90\x80\x80"))
    yield bad("the byte FF", status, utf8, text(2, b"\xff"))
    yield bad("in a nested message", status, utf8, text(1, text(1, b"com.\xffexample")))
    yield bad("in a list", "perch.v1.ProductsTaskRequest", utf8, text(2, "good") + text(2, b"\xe2\x82"))
    yield bad("NUL in the middle", status, "TEXT_HAS_NUL", text(2, b"an\x00na"))
    yield bad("NUL at the end", status, "TEXT_HAS_NUL", text(2, b"anna\x00"))
    yield bad("NUL in a list", "perch.v1.ProductsTaskRequest", "TEXT_HAS_NUL", text(2, b"\x00"))
    many = "MESSAGE_TOO_MANY_FIELDS"
    once = number(1, 1).hex()
    yield bad("4,097 times the same field", position, many, parts=[[once, 4_097]])
    yield bad("4,097 unknown fields", position, many, parts=[[number(15_000, 1).hex(), 4_097]])
    yield bad("4,097 fields in nested messages", "perch.v1.FinishRequest", many,
              parts=[[text(1, number(2, 3)).hex(), 2_048], [number(3, 1).hex(), 1]])
    yield bad("65,537 items", "perch.wire.v1.Call", "MESSAGE_TOO_MANY_ITEMS", parts=[[text(3, b"").hex(), 65_537]])
    packed = tag(4, 2) + varint(65_537)
    yield bad("65,537 packed items", "perch.wire.v1.Hello", "MESSAGE_TOO_MANY_ITEMS",
              parts=[[packed.hex(), 1], ["02", 65_537]])


def at_limits(contract):
    """What is just not too much, so that a limit is not one too low."""
    def long(message, name, parts):
        out = vector(message, name)
        return {**out, "canonical": out.pop("hex"), "parts": parts}

    yield long(contract("perch.v1.Position", revision=1), "4,096 times the same field", [[number(1, 1).hex(), 4_096]])
    yield long(contract("perch.v1.FinishRequest", app={"environment": 3}), "4,096 fields in nested messages",
               [[text(1, number(2, 3)).hex(), 2_048]])
    packed = tag(4, 2) + varint(65_536)
    hello = contract("perch.wire.v1.Hello", accepts=[2] * 65_536)
    yield {"name": "65,536 packed items", "message": hello.DESCRIPTOR.full_name,
           "parts": [[packed.hex(), 1], ["02", 65_536]], "canonical_parts": [[packed.hex(), 1], ["02", 65_536]]}
