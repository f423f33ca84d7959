"""Malformed sessions, made by hand: each ends with the one status that the contract has for it, and nobody else notices.

Beside those of proto/vectors/frames-refused.json and refusals.py, which are about framing and about what a call may not
ask for. Each session is a connection of its own: what is sent, after a WELCOME or before it, and the DRAIN that ends the
connection or the STATUS that ends call 1 while the connection goes on.
"""
import pathlib
import struct
import sys
import zlib

import refusals
import vectors
from checks import Peer, check, equal
from client import CALL, CANCEL, HELLO, PING, PONG
import wire

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"
sys.path.insert(0, str(PROTO / "vectors"))
from handmade import number, tag, text  # noqa: E402

READ, TRANSACTIONS, TEST, ADMIN = ("/perch.v1." + name + "Service/" for name in (
    "Entitlement", "Transaction", "TestStore", "Admin"))
APP = text(1, text(1, "com.example.app") + number(2, 3))
FRAME_LIMIT, HELLO_LIMIT = 4 << 20, 16 << 10
CLIENT_KINDS = {"CALL": CALL, "CANCEL": CANCEL, "PING": PING, "PONG": PONG}
SERVER_KINDS = {"WELCOME": 2, "MESSAGE": 4, "STATUS": 5, "BEAT": 7, "DRAIN": 10}
# Every way in which bytes are no UTF-8.
NOT_UTF8 = {
    "a lone continuation byte": b"\x80", "an overlong NUL": b"\xc0\x80", "an overlong slash": b"\xc1\xaf",
    "an overlong three bytes": b"\xe0\x80\xaf", "an overlong four bytes": b"\xf0\x80\x80\xaf",
    "a high surrogate": b"\xed\xa0\x80", "a low surrogate": b"\xed\xbf\xbf", "past the end of Unicode": b"\xf4\x90\x80\x80",
    "a byte that is never there": b"\xff", "a five-byte form": b"\xf8\x88\x80\x80\x80", "two bytes cut short": b"a\xc3",
    "three bytes cut short": b"a\xe2\x82", "four bytes cut short": b"a\xf0\x9f\x90",
}
# Every way in which bytes are no fields.
NO_FIELDS = {
    "a key that does not end": b"\x80", "a key of eleven bytes": b"\xff" * 10 + b"\x01", "a varint that does not end": b"\x78\x80",
    "a varint of eleven bytes": b"\x78" + b"\xff" * 10 + b"\x01", "a length beyond the end": b"\x7a\x05abc",
    "a length of 4 GiB": b"\x7a\xff\xff\xff\xff\x0f", "a length of 2^63": b"\x7a" + b"\x80" * 9 + b"\x01",
    "four bytes cut short": b"\x7d\x00\x00\x00", "eight bytes cut short": b"\x79" + bytes(7), "a group": b"\x7b\x7c",
    "the end of a group": b"\x7c", "wire type 6": b"\x7e", "wire type 7": b"\x7f", "field 0": b"\x00\x00",
}


def frame(kind, stream=0, body=b"", flag=0, length=None):
    return struct.pack(">IBI", kind << 24 | stream, flag, len(body) if length is None else length) + body


def call(method, request=b""):
    return frame(CALL, 1, text(1, method) + text(4, request))


HELLO_1 = number(1, 1)


def framing():
    """What breaks the framing: (name, given, bytes, reason of the DRAIN)."""
    for kind in (11, 12, 15, 16, 21, 32, 64, 71, 80, 127, 128, 200, 254, 255):
        yield f"kind {kind} on a stream", True, frame(kind, 7, b"abc"), "UNKNOWN_KIND"
    for name, kind in SERVER_KINDS.items():
        for stream in (0, 2, 0xFFFFFF):
            yield f"{name} from a client, stream {stream}, with a body", True, frame(kind, stream, b"\x08\x01"), \
                "KIND_NOT_FOR_CLIENTS"
    for name, kind in (("PING", PING), ("PONG", PONG), ("CANCEL", CANCEL)):
        body = b"" if kind == CANCEL else bytes(8)
        for bit in range(1, 8):
            yield f"flag bit {bit} on {name}", True, frame(kind, kind == CANCEL, body, flag=1 << bit), "RESERVED_FLAG"
    for stream in (2, 255, 256, 65_536):
        yield f"PING on stream {stream}", True, frame(PING, stream, bytes(8)), "STREAM_NOT_ZERO"
        yield f"PONG on stream {stream}", True, frame(PONG, stream, bytes(8)), "STREAM_NOT_ZERO"
        yield f"HELLO on stream {stream}", False, frame(HELLO, stream, HELLO_1), "STREAM_NOT_ZERO"
    for length in (1, 2, 3, 4, 5, 6, 10, 16, 64, 1_000):
        yield f"PING of {length} bytes", True, frame(PING, 0, bytes(length)), "PING_LENGTH"
    for length in (0, 1, 4, 7, 16, 100):
        yield f"PONG of {length} bytes", True, frame(PONG, 0, bytes(length)), "PING_LENGTH"
    for length in (2, 9, 1_000):
        yield f"CANCEL with {length} bytes", True, frame(CANCEL, 5, bytes(length)), "CANCEL_NOT_EMPTY"
    for name, kind in CLIENT_KINDS.items():
        for length in (FRAME_LIMIT + 2, 1 << 31):
            yield f"{name} of {length} bytes, header alone", True, frame(kind, kind in (CALL, CANCEL), length=length), \
                "FRAME_TOO_LONG"
    for length in (HELLO_LIMIT + 2, FRAME_LIMIT, 1 << 31):
        yield f"HELLO of {length} bytes, header alone", False, frame(HELLO, 0, length=length), "FRAME_TOO_LONG"
    for name, kind in (("CALL", CALL), ("CANCEL", CANCEL)):
        yield f"{name} on stream 0, without a body", True, frame(kind, 0), "STREAM_ZERO"
        yield f"{name} before HELLO, on the highest stream", False, frame(kind, 0xFFFFFF), "HELLO_EXPECTED"
    yield "PONG before HELLO", False, frame(PONG, 0, bytes(8)), "HELLO_EXPECTED"
    yield "HELLO again, with nothing in it", True, frame(HELLO), "HELLO_REPEATED"
    yield "HELLO again, of another version", True, frame(HELLO, 0, number(1, 2)), "HELLO_REPEATED"


def hellos():
    """HELLO that is none, before a WELCOME."""
    for name, bad in NO_FIELDS.items():
        yield f"HELLO with {name}", False, frame(HELLO, 0, HELLO_1 + bad), "HELLO_INVALID"
    for field, what in ((2, "authorization"), (3, "client_name")):
        for name, bad in NOT_UTF8.items():
            yield f"HELLO whose {what} is {name}", False, frame(HELLO, 0, HELLO_1 + text(field, bad)), "HELLO_INVALID"
    yield "HELLO whose authorization has NUL", False, frame(HELLO, 0, HELLO_1 + text(2, b"Bearer\x00x")), "HELLO_INVALID"
    for field, what in ((1, "protocol_version"), (5, "heartbeat_seconds")):
        yield f"HELLO whose {what} is text", False, frame(HELLO, 0, text(field, "1")), "HELLO_INVALID"
    for field, what in ((2, "authorization"), (3, "client_name"), (6, "client_id")):
        yield f"HELLO whose {what} is a number", False, frame(HELLO, 0, HELLO_1 + number(field, 1)), "HELLO_INVALID"
    for length in (34, 64, 1_000):
        yield f"HELLO with a client_id of {length} bytes", False, frame(HELLO, 0, HELLO_1 + text(6, bytes(length))), \
            "HELLO_INVALID"
    for version in (3, 10, 1 << 16, (1 << 32) - 1):
        yield f"HELLO of version {version}", False, frame(HELLO, 0, number(1, version)), "PROTOCOL_VERSION"


def deflated():
    """A CALL whose compressed bytes are none."""
    good = zlib.compress(text(1, READ + "GetProducts"))

    def bad(name, body, reason="INFLATE_CORRUPT"):
        return f"compressed: {name}", True, frame(CALL, 1, body, flag=1), reason

    yield bad("one byte", b"\x78")
    yield bad("a header and nothing", b"\x78\x9c")
    yield bad("another method than deflate", b"\x77\x85" + good[2:])
    yield bad("a window that is too large", b"\x88\x1c" + good[2:])
    yield bad("a header whose check does not fit", b"\x78\x9d" + good[2:])
    yield bad("a block of type 3", b"\x78\x9c\x07" + bytes(8))
    yield bad("a stored block whose lengths disagree", b"\x78\x9c\x01\x05\x00\x05\x00hello" + bytes(4))
    yield bad("a distance before the beginning", b"\x78\x9c\x63\x00\x02\x00" + bytes(4))
    yield bad("dynamic codes that are none", b"\x78\x9c\x05\xff\xff\xff\xff" + bytes(8))
    yield bad("no checksum", good[:-4])
    yield bad("half a checksum", good[:-2])
    yield bad("a checksum of zeros", good[:-4] + bytes(4))
    yield bad("raw deflate", good[2:-4])
    yield bad("two streams", good + good)
    yield bad("a kilobyte after the end", good + bytes(1_024))
    for name, kind, body in (("PONG", PONG, bytes(8)), ("CANCEL", CANCEL, b"")):
        yield f"{name}, compressed", True, frame(kind, kind == CANCEL, zlib.compress(body), flag=1), "COMPRESSION_NOT_OFFERED"


# Methods whose request begins with an app and an account.
ACCOUNT_METHODS = [READ + name for name in (
    "SubscriptionStatusTask", "CurrentEntitlementTask", "GetSubscriptionStatus", "GetCurrentEntitlement",
    "ListCurrentEntitlements")] + [TRANSACTIONS + name for name in ("ListTransactions", "ListUnfinished")]


def calls(contract):
    """What ends call 1 and not the connection: (name, bytes, reason of the STATUS)."""
    for name, bad in NO_FIELDS.items():
        yield f"Call with {name}", frame(CALL, 1, text(1, READ + "GetProducts") + bad), "MESSAGE_MALFORMED"
    for name, bad in NOT_UTF8.items():
        yield f"a method that is {name}", frame(CALL, 1, text(1, bad)), "TEXT_NOT_UTF8"
    for name, bad in NO_FIELDS.items():
        yield f"GetProducts with {name}", call(READ + "GetProducts", APP + bad), "MESSAGE_MALFORMED"
    for name, bad in NOT_UTF8.items():
        yield f"GetProducts of a product that is {name}", call(READ + "GetProducts", APP + text(2, bad)), "TEXT_NOT_UTF8"
    for path in ACCOUNT_METHODS:
        short = path.split("/")[-1]
        account = contract.method(path)[0].DESCRIPTOR.fields_by_name["account"].number
        yield f"{short} of an account with NUL", call(path, APP + text(account, b"an\x00na")), "TEXT_HAS_NUL"
        yield f"{short} of an account that is a number", call(path, APP + number(account, 5)), "MESSAGE_MALFORMED"
        yield f"{short} of an account that is cut short", call(path, APP + tag(account, 2) + b"\x7fanna"), "MESSAGE_MALFORMED"
        yield f"{short} of an account of 256 bytes", call(path, APP + text(account, b"a" * 256)), "ACCOUNT_KEY"
        yield f"{short} of no account", call(path, APP), "ACCOUNT_KEY"
        yield f"{short} with a field 4,097 times", call(path, APP + text(account, "anna") * 4_097), "MESSAGE_TOO_MANY_FIELDS"
    for path in (TRANSACTIONS + "Purchase", TEST + "Operate", TEST + "Configure", TEST + "SetClock", ADMIN + "GetCatalog"):
        short = path.split("/")[-1]
        yield f"{short} whose app is a number", call(path, number(1, 1)), "MESSAGE_MALFORMED"
        yield f"{short} whose app ends too early", call(path, b"\x0a\x7f"), "MESSAGE_MALFORMED"
        yield f"{short} of a bundle that is not UTF-8", call(path, text(1, text(1, b"\xff"))), "TEXT_NOT_UTF8"
        yield f"{short} of a bundle with NUL", call(path, text(1, text(1, b"a\x00"))), "TEXT_HAS_NUL"
        # Errors that need no app come first: an operation is missing.
        yield f"{short} of an app that is not there", call(path, text(1, text(1, b"a.b") + number(2, 3))), \
            "FIELD_MISSING" if short == "Operate" else "APP_UNKNOWN"
    for method in ("/", "//", "/perch.v1.EntitlementService", "/perch.v1.EntitlementService/",
                   "/perch.v1.EntitlementService/getproducts", READ + "GetProducts/", READ + "GetProducts?x=1",
                   " " + READ + "GetProducts", "/grpc.health.v1.Health/Check", "x" * 60_000):
        yield f"the method {method[:50]!r}", frame(CALL, 1, text(1, method)), "UNKNOWN_METHOD"


def sessions(contract):
    """All of them: (name, whether after a WELCOME, bytes, kind of the answer, reason)."""
    for part in (framing(), hellos(), deflated()):
        for name, is_welcomed, data, reason in part:
            yield name, is_welcomed, data, "DRAIN", reason
    for name, data, reason in calls(contract):
        yield name, True, data, "STATUS", reason


def play(address, contract, table, bystander, session):
    name, is_welcomed, data, kind, reason = session
    with check(f"refused with {kind} {table[reason]} {reason}: {name}"):
        peer = Peer(address, contract)
        if is_welcomed:
            peer.hello(heartbeat_seconds=600)
        peer.answers[1] = contract.message("perch.wire.v1.Status")
        peer.socket.sendall(data)
        if kind == "DRAIN":
            peer.drained(reason)
        else:
            messages, status = peer.end(1)
            equal((status.code, status.reason), (table[reason], reason), "the end")
            equal(messages, [], "what came before it")
            assert status.message, "there is no message for people"
            peer.silent()
            peer.close()
        bystander.silent()


def main(address):
    everything = list(sessions(wire.contract()))
    names = {session[0] for session in everything}
    assert len(names) == len(everything), "two sessions have one name"
    assert len({(s[1], s[2]) for s in everything}) == len(everything), "two sessions are the same bytes"
    table, bystander = vectors.reasons(), refusals.Bystander(address, wire.contract())
    for session in everything:
        play(address, wire.contract(), table, bystander, session)
    with check(f"250 sessions and more are malformed: {len(everything)}"):
        assert len(everything) >= 250
