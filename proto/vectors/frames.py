"""Vectors of frames: good ones, and those that end a connection."""
import random
import struct
import zlib

from google.protobuf import json_format

from handmade import DeflatedZeros, number, stored, text
from messages import distinct, fill

KINDS = {"HELLO": 1, "WELCOME": 2, "CALL": 3, "MESSAGE": 4, "STATUS": 5, "CANCEL": 6, "BEAT": 7, "PING": 8, "PONG": 9,
         "DRAIN": 10}
FRAME_LIMIT, HELLO_LIMIT = 4 << 20, 16 << 10


class Frames:
    """Frames as bytes and as JSON."""

    def __init__(self, contract, committed):
        self.contract = contract
        self.compressed = committed

    def compress(self, name, payload):
        """Committed bytes that still inflate to this payload are kept: versions of zlib write different ones."""
        old = self.compressed.get(name)
        try:
            if old is not None and zlib.decompress(old) == payload:
                return old
        except zlib.error:
            pass
        return zlib.compress(payload, 6)

    def frame(self, kind, stream=0, message=None, data=b"", compressed=None):
        """The bytes of one frame, and what a vector says of it."""
        plain = message.SerializeToString(deterministic=True) if message is not None else data
        body = plain if compressed is None else self.compress(compressed, plain)
        says = {"kind": kind, "number": KINDS[kind], "stream": stream, "compressed": compressed is not None,
                "length": len(body)}
        if message is None:
            says["data"] = data.hex()
        else:
            says["message"] = message.DESCRIPTOR.full_name
            says["json"] = json_format.MessageToDict(message)
        return raw(KINDS[kind], stream, compressed is not None, body), says


def raw(kind, stream, flag, body=b"", length=None):
    return struct.pack(">IBI", kind << 24 | stream, flag, len(body) if length is None else length) + body


def good_frames(frames):
    contract = frames.contract
    wire, v1 = "perch.wire.v1.", "perch.v1."
    products = contract(v1 + "ProductsTaskRequest", app={"bundle_id": "com.example.app"},
                        product_ids=[f"com.example.item.{n:03}" for n in range(100)])
    call = contract(wire + "Call", method="/perch.v1.EntitlementService/ProductsTask",
                    request=products.SerializeToString(deterministic=True))
    answer = fill(contract(v1 + "ProductsTaskResponse"), distinct, 2)
    for n in range(3):
        answer.success.products.add().CopyFrom(answer.success.products[n % 2])
    loading = contract(v1 + "SubscriptionStatusTaskResponse", loading={})

    def one(name, sender, *frame, rest=b"", **more):
        parts = [frames.frame(*frame, **more)]
        return many(name, sender, parts, rest)

    def many(name, sender, parts, rest=b""):
        return {"name": name, "from": sender, "hex": (b"".join(p[0] for p in parts) + rest).hex(),
                "frames": [p[1] for p in parts], "rest": rest.hex()}

    yield one("HELLO, the least", "client", "HELLO", 0, contract(wire + "Hello", protocol_version=1))
    yield one("HELLO, every field", "client", "HELLO", 0,
              contract(wire + "Hello", protocol_version=1, authorization="Bearer \u2026", client_name="vectors/1",
                       accepts=[2], heartbeat_seconds=10, client_id=bytes(range(32))))
    yield one("WELCOME", "server", "WELCOME", 0, fill(contract(wire + "Welcome"), distinct))
    yield one("CALL, plain", "client", "CALL", 1, call)
    yield one("CALL, compressed", "client", "CALL", 2, call, compressed="CALL, compressed")
    yield one("CALL on the highest stream", "client", "CALL", 0xFFFFFF, call)
    yield one("MESSAGE, plain", "server", "MESSAGE", 1, answer)
    yield one("MESSAGE, compressed", "server", "MESSAGE", 1, answer, compressed="MESSAGE, compressed")
    yield one("MESSAGE, nothing but loading", "server", "MESSAGE", 1, loading)
    yield one("MESSAGE of no bytes", "server", "MESSAGE", 1, contract(v1 + "FinishResponse"))
    yield one("STATUS, OK in no bytes", "server", "STATUS", 1, contract(wire + "Status"))
    yield one("STATUS, cancelled", "server", "STATUS", 66_051, contract(wire + "Status", code=1, reason="CANCELLED"))
    yield one("CANCEL", "client", "CANCEL", 1)
    yield one("BEAT", "server", "BEAT", 0, fill(contract(wire + "Beat"), distinct))
    yield one("PING", "client", "PING", 0, data=bytes(range(8)))
    yield one("PONG", "server", "PONG", 0, data=b"\xff" * 8)
    yield one("PONG that nobody asked for, which is ignored", "client", "PONG", 0, data=bytes(8))
    yield one("DRAIN, calls go on", "server", "DRAIN", 0,
              contract(wire + "Drain", reason="SHUTTING_DOWN", reconnect_after_ms=100, jitter_ms=5_000))
    yield one("DRAIN, final", "server", "DRAIN", 0,
              contract(wire + "Drain", reason="FRAME_TOO_LONG", message="frame declares 4194305 bytes, the limit is "
                       "4194304", final=True, details=[{"key": "found", "value": "4194305"},
                                                       {"key": "limit", "value": "4194304"}]))
    ping, pong = frames.frame("PING", 0, data=b"12345678"), frames.frame("CANCEL", 7)
    yield many("three frames in one read", "client", [ping, pong, ping])
    yield many("nothing", "client", [])
    whole = ping[0]
    for cut in range(1, len(whole)):
        yield many(f"a frame, then {cut} bytes of the next", "client", [pong], whole[:cut])


def bad_frames(frames):
    contract = frames.contract
    wire = "perch.wire.v1."
    hello = contract(wire + "Hello", protocol_version=1).SerializeToString()
    call = contract(wire + "Call", method="/perch.v1.AdminService/ListApps").SerializeToString()
    opened, start, live = "welcomed", "connected", "welcomed, stream 1 live"

    def bad(name, given, reason, data=None, parts=None):
        out = {"name": name, "given": given}
        out.update({"hex": data.hex()} if parts is None else {"parts": parts})
        return out | {"drain": reason}

    for kind in (0, 11, 12, 0x16, 0x7F, 0xFF):
        yield bad(f"kind {kind}", opened, "UNKNOWN_KIND", raw(kind, 0, 0))
    yield bad("an unknown kind before HELLO", start, "UNKNOWN_KIND", raw(12, 0, 0))
    yield bad("an unknown kind that breaks every other rule too", opened, "UNKNOWN_KIND",
              raw(99, 1, 0xFF, length=2**32 - 1))
    for kind in ("WELCOME", "MESSAGE", "STATUS", "BEAT", "DRAIN"):
        yield bad(f"{kind} from a client", opened, "KIND_NOT_FOR_CLIENTS", raw(KINDS[kind], 1, 0))
    for bit in range(1, 8):
        yield bad(f"flag bit {bit}", opened, "RESERVED_FLAG", raw(3, 1, 1 << bit, call))
    yield bad("a reserved flag bit beside the one for compression", opened, "RESERVED_FLAG", raw(3, 1, 3, call))
    yield bad("a reserved flag bit on HELLO", start, "RESERVED_FLAG", raw(1, 0, 4, hello))
    yield bad("CALL on stream 0", opened, "STREAM_ZERO", raw(3, 0, 0, call))
    yield bad("CANCEL on stream 0", opened, "STREAM_ZERO", raw(6, 0, 0))
    yield bad("HELLO on stream 1", start, "STREAM_NOT_ZERO", raw(1, 1, 0, hello))
    yield bad("PING on stream 1", opened, "STREAM_NOT_ZERO", raw(8, 1, 0, bytes(8)))
    yield bad("PONG on the highest stream", opened, "STREAM_NOT_ZERO", raw(9, 0xFFFFFF, 0, bytes(8)))
    yield bad("one byte over the limit, header alone", opened, "FRAME_TOO_LONG", raw(3, 1, 0, length=FRAME_LIMIT + 1))
    yield bad("the longest length, header alone", opened, "FRAME_TOO_LONG", raw(3, 1, 0, length=2**32 - 1))
    yield bad("a compressed one over the limit", opened, "FRAME_TOO_LONG", raw(3, 1, 1, length=FRAME_LIMIT + 1))
    yield bad("HELLO one byte over its limit", start, "FRAME_TOO_LONG", raw(1, 0, 0, length=HELLO_LIMIT + 1))
    for length in (0, 7, 9):
        yield bad(f"PING of {length} bytes", opened, "PING_LENGTH", raw(8, 0, 0, bytes(length)))
    yield bad("PONG of 9 bytes", opened, "PING_LENGTH", raw(9, 0, 0, bytes(9)))
    yield bad("CANCEL with a byte", opened, "CANCEL_NOT_EMPTY", raw(6, 1, 0, b"\x00"))
    yield bad("HELLO, compressed", start, "COMPRESSION_NOT_OFFERED", raw(1, 0, 1, squeeze(hello)))
    yield bad("PING, compressed", opened, "COMPRESSION_NOT_OFFERED", raw(8, 0, 1, bytes(8)))
    yield bad("CALL before HELLO", start, "HELLO_EXPECTED", raw(3, 1, 0, call))
    yield bad("CANCEL before HELLO", start, "HELLO_EXPECTED", raw(6, 1, 0))
    yield bad("PING before HELLO", start, "HELLO_EXPECTED", raw(8, 0, 0, bytes(8)))
    yield bad("HELLO again", opened, "HELLO_REPEATED", raw(1, 0, 0, hello))
    yield bad("HELLO that is no message", start, "HELLO_INVALID", raw(1, 0, 0, b"\xff\xff\xff\xff"))
    yield bad("HELLO with a name that is not UTF-8", start, "HELLO_INVALID",
              raw(1, 0, 0, hello + text(3, b"\xff\xfe")))
    yield bad("HELLO with a name that has NUL", start, "HELLO_INVALID", raw(1, 0, 0, hello + text(3, b"a\x00b")))
    yield bad("HELLO with a client_id of 33 bytes", start, "HELLO_INVALID", raw(1, 0, 0, hello + text(6, bytes(33))))
    yield bad("HELLO of version 0", start, "PROTOCOL_VERSION", raw(1, 0, 0))
    yield bad("HELLO of version 2", start, "PROTOCOL_VERSION", raw(1, 0, 0, number(1, 2)))
    yield bad("CALL on a live stream", live, "STREAM_LIVE", raw(3, 1, 0, call))
    squeezed = squeeze(call)
    corrupt = "INFLATE_CORRUPT"
    yield bad("not zlib", opened, corrupt, raw(3, 1, 1, call))
    yield bad("no bytes at all, compressed", opened, corrupt, raw(3, 1, 1))
    yield bad("zlib that ends too early", opened, corrupt, raw(3, 1, 1, squeezed[:-1]))
    yield bad("a wrong checksum", opened, corrupt, raw(3, 1, 1, squeezed[:-1] + bytes([squeezed[-1] ^ 1])))
    yield bad("bytes after the end", opened, corrupt, raw(3, 1, 1, squeezed + b"\x00"))
    yield bad("gzip instead of zlib", opened, corrupt,
              raw(3, 1, 1, bytes.fromhex("1f8b0800000000000003030000000000") + bytes(4)))
    yield bad("a preset dictionary", opened, corrupt, raw(3, 1, 1, bytes.fromhex("78bb00000001030000000001")))
    yield bad("1 MiB of zeros in 6 KiB", opened, "INFLATE_RATIO", short_bomb())
    yield bad("more than 4 MiB, at sixty to one", opened, "INFLATE_LIMIT", parts=long_bomb())


def squeeze(data):
    """zlib's form of a few bytes, in one stored block."""
    return b"\x78\x01\x01" + stored(data)[1:] + struct.pack(">I", zlib.adler32(data))


def long_bomb():
    """A frame whose payload inflates past 4 MiB at a ratio that is allowed: equal parts of noise and zeros."""
    noise, zeros = random.Random(20_260_101).randbytes(512), 32_768 - 512
    part = stored(noise) + DeflatedZeros(zeros, last=False).bytes
    count = FRAME_LIMIT // 32_768 + 2
    plain = (noise + bytes(zeros)) * count
    tail = b"\x01\x00\x00\xff\xff" + struct.pack(">I", zlib.adler32(plain))
    body = b"\x78\x01" + part * count + tail
    assert zlib.decompress(body) == plain
    return [[(raw(3, 1, 1, length=len(body)) + b"\x78\x01").hex(), 1], [part.hex(), count], [tail.hex(), 1]]


def short_bomb():
    """A whole MiB of zeros in a few bytes."""
    count = 1 << 20
    body = b"\x78\x01" + DeflatedZeros(count, last=True).bytes + struct.pack(">I", zlib.adler32(bytes(count)))
    assert zlib.decompress(body) == bytes(count)
    return raw(3, 1, 1, body)
