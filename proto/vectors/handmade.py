"""Protobuf and deflate by hand: bytes that a library would not write, or not the same on every machine."""
import struct


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def tag(number, wire_type):
    return varint(number << 3 | wire_type)


def text(number, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return tag(number, 2) + varint(len(payload)) + payload


def number(field, value):
    return tag(field, 0) + varint(value)


def fields_of(data):
    """The fields of a serialized message in their order: number, the bytes before the value, the value's bytes."""
    at = 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        start = at
        key = read()
        begin = at
        if key & 7 == 2:
            length = read()
            begin = at
            at += length
        elif key & 7 == 0:
            read()
        else:
            at += {1: 8, 5: 4}[key & 7]
        yield key >> 3, data[start:begin], data[begin:at]


class DeflatedZeros:
    """A deflate block of zeros by the fixed codes of RFC 1951, written bit by bit: zlib does not promise that its
    versions write the same bytes."""

    def __init__(self, count, last):
        self.bits = self.size = 0
        self.put(0b011 if last else 0b010, 3)
        self.code(0x30, 8)  # the literal 0
        for _ in range((count - 1) // 258):
            self.code(0b11000101, 8)  # length 258
            self.code(0, 5)  # distance 1
        for _ in range((count - 1) % 258):
            self.code(0x30, 8)
        self.code(0, 7)  # the end of the block
        if not last:
            self.put(0, 3)  # an empty stored block, so that what follows begins with a byte
        self.bytes = self.bits.to_bytes((self.size + 7) // 8, "little") + (b"" if last else b"\x00\x00\xff\xff")

    def put(self, value, width):
        self.bits |= value << self.size
        self.size += width

    def code(self, value, width):
        """Huffman codes go in with their highest bit first."""
        self.put(int(f"{value:0{width}b}"[::-1], 2), width)


def stored(data):
    """A deflate block that is not the last and holds bytes as they are."""
    return b"\x00" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
