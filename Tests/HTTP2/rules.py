"""The cases of h2spec, by RFC 9113 as it is now, and the documented cases of Connect, over sockets against a real server.

    rules.py PERCH CATALOG

Those of RFC 7540's priorities are gone: a stream that depends on itself is none of a server's business any more.
"""
import collections
import pathlib
import socket
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Hostile"))

from checks import check, equal, summary  # noqa: E402
from floods import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RESET, SETTINGS, WINDOW, frame,  # noqa: E402
                    integer, literal)
from peer import Peer  # noqa: E402
from server import Server  # noqa: E402
from waiting import PATIENCE_SECONDS  # noqa: E402

PRIORITY, PUSH_PROMISE, GOAWAY, UNKNOWN = 2, 5, 7, 0x16
PADDED, ACK = 8, 1
PROTOCOL, FLOW, CLOSED, SIZE, REFUSED, COMPRESSION, CALM = 1, 3, 5, 6, 7, 9, 11
PATH = "/perch.v1.EntitlementService/GetSubscriptionStatus"


def head(*fields, without=()):
    """A header block. A field replaces the usual one of its name."""
    usual = [(":method", "POST"), (":scheme", "http"), (":path", "/perch.v1.AdminService/ListApps"), (":authority", "localhost"),
             ("content-type", "application/grpc"), ("te", "trailers")]
    return b"".join(literal(name.encode(), value.encode()) for name, value in usual if name not in without) + b"".join(
        literal(name.encode(), value.encode()) for name, value in fields)


HEAD, MESSAGE, OPAQUE = head(), bytes(5), b"12345678"
WHOLE = END_HEADERS | END_STREAM


def call(stream, block=HEAD):
    return frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, MESSAGE)


def setting(name, value):
    return struct.pack(">HI", name, value)


def long(value):
    return struct.pack(">I", value)


def swapped(*fields):
    """A head whose usual fields come behind these."""
    return b"".join(literal(name.encode(), value.encode()) for name, value in fields) + HEAD


# What comes of a case: GOAWAY and the end, RST_STREAM of stream 1, the answer of a stream, or a PING's.
connection = collections.namedtuple("connection", "code")
reset = collections.namedtuple("reset", "code")
answered = collections.namedtuple("answered", "stream")
acknowledged = collections.namedtuple("acknowledged", "")()
# Within a case: wait for the end of this stream before the rest is sent.
ended = collections.namedtuple("ended", "stream")
PINGED = frame(PING, 0, 0, OPAQUE)

CASES = [
    ("3.4: the first frame is no SETTINGS", connection(PROTOCOL), [None, PREFACE + PINGED]),
    ("4.1: a frame of an unknown type is ignored", acknowledged, [frame(UNKNOWN, 255, 0, OPAQUE) + PINGED]),
    ("4.1: undefined flags are ignored", acknowledged, [frame(PING, 0x16, 0, OPAQUE)]),
    ("4.1: the reserved bit is ignored", acknowledged, [frame(PING, 0, 0x80000000, OPAQUE)]),
    ("4.2: a frame of 2^14 bytes is taken", answered(1), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(DATA, 0, 1, b"\0" + long(16_379 - 5) + b"\x0a" + b"\xf3\x7f"
                                                     + bytes(16_379 - 8)) + frame(DATA, END_STREAM, 1)]),
    ("4.2: DATA over the limit", connection(SIZE), [frame(HEADERS, END_HEADERS, 1, HEAD) + frame(DATA, END_STREAM, 1, bytes(16_385))]),
    ("4.2: HEADERS over the limit", connection(SIZE), [frame(HEADERS, WHOLE, 1, b"\x88" * 16_385)]),
    ("4.3: a header block that cannot be decoded", connection(COMPRESSION), [frame(HEADERS, WHOLE, 1, HEAD + b"\xc6")]),
    ("4.3: PRIORITY within a header block", connection(PROTOCOL), [
        frame(HEADERS, END_STREAM, 1, HEAD) + frame(PRIORITY, 0, 1, b"\0\0\0\0\xff")]),
    ("4.3, 6.2: HEADERS of another stream within a header block", connection(PROTOCOL), [
        frame(HEADERS, END_STREAM, 1, HEAD) + frame(HEADERS, WHOLE, 3, HEAD)]),
    ("5.1: DATA on an idle stream", connection(PROTOCOL), [frame(DATA, END_STREAM, 1, MESSAGE)]),
    ("5.1: RST_STREAM on an idle stream", connection(PROTOCOL), [frame(RESET, 0, 1, long(8))]),
    ("5.1: WINDOW_UPDATE on an idle stream", connection(PROTOCOL), [frame(WINDOW, 0, 1, long(100))]),
    ("5.1: CONTINUATION on an idle stream", connection(PROTOCOL), [frame(CONTINUATION, END_HEADERS, 1, HEAD)]),
    ("5.1: DATA on a half-closed stream", reset(CLOSED), [
        call(1, literal(b":path", b"/grpc.health.v1.Health/Watch") + head(without=(":path",))) + frame(DATA, END_STREAM, 1, MESSAGE)]),
    ("5.1: CONTINUATION on a half-closed stream", connection(PROTOCOL), [
        frame(HEADERS, WHOLE, 1, HEAD) + frame(CONTINUATION, END_HEADERS, 1, HEAD)]),
    ("5.1: CONTINUATION behind RST_STREAM", connection(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(RESET, 0, 1, long(8)) + frame(CONTINUATION, END_HEADERS, 1, HEAD)]),
    ("5.1: WINDOW_UPDATE and RST_STREAM on a closed stream", answered(3), [
        call(1), ended(1), frame(WINDOW, 0, 1, long(100)) + frame(RESET, 0, 1, long(8)) + call(3)]),
    ("5.1: DATA on a closed stream", connection(CLOSED), [call(1), ended(1), frame(DATA, END_STREAM, 1, MESSAGE)]),
    ("5.1.1: a stream of an even number", connection(PROTOCOL), [frame(HEADERS, WHOLE, 2, HEAD)]),
    ("5.1.1: a number that goes back", connection(PROTOCOL), [frame(HEADERS, WHOLE, 5, HEAD) + frame(HEADERS, WHOLE, 3, HEAD)]),
    ("5.5: an unknown frame within a header block", connection(PROTOCOL), [
        frame(HEADERS, END_STREAM, 1, HEAD) + frame(UNKNOWN, 0, 0, OPAQUE)]),
    ("6.1: DATA of stream 0", connection(PROTOCOL), [frame(DATA, END_STREAM, 0, MESSAGE)]),
    ("6.1: padding longer than DATA", connection(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(DATA, END_STREAM | PADDED, 1, b"\x06" + MESSAGE)]),
    ("6.2: HEADERS of stream 0", connection(PROTOCOL), [frame(HEADERS, WHOLE, 0, HEAD)]),
    ("6.2: padding longer than HEADERS", connection(PROTOCOL), [frame(HEADERS, WHOLE | PADDED, 1, b"\xff" + HEAD)]),
    ("6.3: PRIORITY of stream 0", connection(PROTOCOL), [frame(PRIORITY, 0, 0, bytes(5))]),
    ("6.4: RST_STREAM of stream 0", connection(PROTOCOL), [frame(RESET, 0, 0, long(8))]),
    ("6.4: RST_STREAM of another length", connection(SIZE), [frame(HEADERS, END_HEADERS, 1, HEAD) + frame(RESET, 0, 1, b"\0")]),
    ("6.5: SETTINGS that answers with a body", connection(SIZE), [frame(SETTINGS, ACK, 0, setting(1, 0))]),
    ("6.5: SETTINGS of a stream", connection(PROTOCOL), [frame(SETTINGS, 0, 1, setting(3, 100))]),
    ("6.5: SETTINGS of another length", connection(SIZE), [frame(SETTINGS, 0, 0, b"\0\0\0")]),
    ("6.5.2: ENABLE_PUSH of 2", connection(PROTOCOL), [frame(SETTINGS, 0, 0, setting(2, 2))]),
    ("6.5.2: INITIAL_WINDOW_SIZE over its maximum", connection(FLOW), [frame(SETTINGS, 0, 0, setting(4, 1 << 31))]),
    ("6.5.2: MAX_FRAME_SIZE below its minimum", connection(PROTOCOL), [frame(SETTINGS, 0, 0, setting(5, 16_383))]),
    ("6.5.2: MAX_FRAME_SIZE over its maximum", connection(PROTOCOL), [frame(SETTINGS, 0, 0, setting(5, 1 << 24))]),
    ("6.5.2: an unknown setting is ignored", acknowledged, [frame(SETTINGS, 0, 0, setting(0xFF, 1)) + PINGED]),
    ("6.5.3: the last of several values counts", answered(1), [frame(SETTINGS, 0, 0, setting(4, 0) + setting(4, 1 << 16)) + call(1)]),
    ("6.7: PING is answered", acknowledged, [PINGED]),
    ("6.7: a PING that answers is not answered", answered(1), [frame(PING, ACK, 0, OPAQUE) + call(1)]),
    ("6.7: PING of a stream", connection(PROTOCOL), [frame(PING, 0, 1, OPAQUE)]),
    ("6.7: PING of another length", connection(SIZE), [frame(PING, 0, 0, b"123456")]),
    ("6.8: GOAWAY of a stream", connection(PROTOCOL), [frame(GOAWAY, 0, 1, bytes(8))]),
    ("6.9: WINDOW_UPDATE by nothing", connection(PROTOCOL), [frame(WINDOW, 0, 0, long(0))]),
    ("6.9: WINDOW_UPDATE of a stream by nothing", reset(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(WINDOW, 0, 1, long(0))]),
    ("6.9: WINDOW_UPDATE of another length", connection(SIZE), [frame(WINDOW, 0, 0, b"\0\0\1")]),
    ("6.9.1: a window over 2^31-1", connection(FLOW), [frame(WINDOW, 0, 0, long(0x7FFFFFFF))]),
    ("6.9.1: a stream's window over 2^31-1", reset(FLOW), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(WINDOW, 0, 1, long(0x7FFFFFFF))]),
    ("6.9.2: windows that a setting makes negative open again", answered(1), [
        frame(SETTINGS, 0, 0, setting(4, 3)) + call(1) + frame(SETTINGS, 0, 0, setting(4, 2)) + frame(SETTINGS, 0, 0, setting(4, 1 << 16))]),
    ("6.10: several CONTINUATION frames", answered(1), [
        frame(HEADERS, 0, 1, HEAD[:9]) + frame(CONTINUATION, 0, 1, HEAD[9:17]) + frame(CONTINUATION, 0, 1)
        + frame(CONTINUATION, END_HEADERS, 1, HEAD[17:]) + frame(DATA, END_STREAM, 1, MESSAGE)]),
    ("6.10: CONTINUATION of stream 0", connection(PROTOCOL), [
        frame(HEADERS, END_STREAM, 1, HEAD) + frame(CONTINUATION, END_HEADERS, 0, HEAD)]),
    ("6.10: CONTINUATION behind DATA", connection(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(DATA, 0, 1, MESSAGE) + frame(CONTINUATION, END_HEADERS, 1, HEAD)]),
    ("6.10: CONTINUATION behind END_HEADERS", connection(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(CONTINUATION, END_HEADERS, 1, HEAD)]),
    ("8.1: a second head without END_STREAM", reset(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(HEADERS, END_HEADERS, 1, literal(b"x", b"y"))]),
    ("8.1.1: a content-length unlike DATA", reset(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, head(("content-length", "1"))) + frame(DATA, END_STREAM, 1, MESSAGE)]),
    ("8.1.1: a content-length unlike DATA in two frames", reset(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, head(("content-length", "4"))) + frame(DATA, 0, 1, MESSAGE[:3]) + frame(DATA, END_STREAM, 1, MESSAGE[3:])]),
    ("8.2.1: a field in capitals", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head(("X-Test", "x")))]),
    ("8.2.1: a line end in a value", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head(("x-test", "a\r\nb: c")))]),
    ("8.2.2: connection", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head(("connection", "keep-alive")))]),
    ("8.2.2: te other than trailers", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head(("te", "trailers, deflate"), without=("te",)))]),
    ("8.3: an unknown pseudo-field", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, swapped((":test", "x")))]),
    ("8.3: a pseudo-field of answers", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, swapped((":status", "200")))]),
    ("8.3: a pseudo-field behind others", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head((":method", "POST"), without=(":method",)))]),
    ("8.3, 8.1: a pseudo-field in trailers", reset(PROTOCOL), [
        frame(HEADERS, END_HEADERS, 1, HEAD) + frame(DATA, 0, 1, MESSAGE) + frame(HEADERS, WHOLE, 1, literal(b":method", b"POST"))]),
    ("8.3.1: an empty path", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, literal(b":path", b"") + head(without=(":path",)))]),
    *[(f"8.3.1: no {name}", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, head(without=(name,)))]) for name in (":method", ":scheme", ":path")],
    *[(f"8.3.1: {name} twice", reset(PROTOCOL), [frame(HEADERS, WHOLE, 1, swapped((name, "x")))]) for name in (":method", ":scheme", ":path")],
    ("8.4: PUSH_PROMISE of a client", connection(PROTOCOL), [frame(PUSH_PROMISE, END_HEADERS, 1, long(2) + HEAD)]),
    ("HPACK 4.2: a table size at the end of a block", connection(COMPRESSION), [frame(HEADERS, WHOLE, 1, HEAD + b"\x20")]),
    *[(f"HPACK 5.2: {what}", connection(COMPRESSION), [
        frame(HEADERS, WHOLE, 1, HEAD + b"\x00\x85\xf2\xb2\x4a\x84\xff" + text)]) for what, text in (
            ("Huffman padding over seven bits", b"\x84\x49\x50\x9f\xff"), ("Huffman padding with zeros", b"\x83\x49\x50\x90"),
            ("the end of Huffman's code within a text", b"\x87\x49\x51\xff\xff\xff\xfa\x7f"))],
    ("HPACK 6.1: index 0", connection(COMPRESSION), [frame(HEADERS, WHOLE, 1, HEAD + b"\x80")]),
    ("HPACK 6.3: a table larger than the setting", connection(COMPRESSION), [frame(HEADERS, WHOLE, 1, b"\x3f\xe1\x1f\x01" + HEAD)]),
    ("HPACK: a table that shrinks and grows within the setting", answered(1), [call(1, b"\x20\x3f\xe1\x1f" + HEAD)]),
    ("a field of 70,000 bytes is 431 on its stream", answered(3), [
        frame(HEADERS, END_STREAM, 1, HEAD + b"\0\1x\x7f" + integer(70_000 - 127) + b"y" * 10_000)
        + frame(CONTINUATION, 0, 1, b"y" * 16_000) * 3 + frame(CONTINUATION, END_HEADERS, 1, b"y" * 12_000) + call(3)]),
]


class Frames:
    """What a server sends to one case."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.bytes, self.heard = b"", []

    def until(self, wanted):
        """Reads frames until one is wanted; False if the connection ends before."""
        while True:
            while len(self.bytes) >= 9 and len(self.bytes) >= 9 + int.from_bytes(self.bytes[:3], "big"):
                length = int.from_bytes(self.bytes[:3], "big")
                kind, flags, stream = struct.unpack(">BBI", self.bytes[3:9])
                self.heard.append((kind, flags, stream, self.bytes[9:9 + length]))
                self.bytes = self.bytes[9 + length:]
                if wanted(*self.heard[-1]):
                    return True
            try:
                part = self.socket.recv(65_536)
            except ConnectionError:
                return False
            if not part:
                return False
            self.bytes += part

    def has(self, wanted):
        return any(wanted(*each) for each in self.heard) or self.until(wanted)

    def goaways(self):
        return [int.from_bytes(body[4:8], "big") for kind, _, _, body in self.heard if kind == GOAWAY]

    def judge(self, outcome):
        if isinstance(outcome, connection):
            self.until(lambda *_: False)
            equal(self.goaways()[-1:], [outcome.code], "the code of GOAWAY")
            return
        if isinstance(outcome, reset):
            assert self.has(lambda kind, _, stream, body: (kind, stream) == (RESET, 1)), f"no reset, {self.goaways()}"
            code = next(int.from_bytes(body, "big") for kind, _, stream, body in self.heard if (kind, stream) == (RESET, 1))
            equal(code, outcome.code, "the code of RST_STREAM")
        elif isinstance(outcome, answered):
            assert self.has(lambda kind, flags, stream, _: kind in (HEADERS, DATA) and flags & END_STREAM and stream == outcome.stream), \
                f"no answer, {self.goaways()}"
            assert not [each for each in self.heard if each[0] == PING], "a PING came"
        else:
            assert self.has(lambda kind, flags, _, body: (kind, flags & ACK, body) == (PING, ACK, OPAQUE)), f"no answer, {self.goaways()}"
        # The connection goes on.
        self.socket.sendall(frame(PING, 0, 0, b"the-last"))
        assert self.until(lambda kind, flags, _, body: (kind, flags & ACK, body) == (PING, ACK, b"the-last")), "the connection ended"
        equal(self.goaways(), [], "GOAWAY")


def frames(port):
    for name, outcome, steps in CASES:
        with check(f"h2spec {name}"):
            one = Frames(port)
            if steps[0] is not None:
                one.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
            for step in steps:
                if isinstance(step, ended):
                    one.until(lambda kind, flags, stream, _: flags & END_STREAM and stream == step.stream)
                elif step:
                    try:
                        one.socket.sendall(step)
                    except ConnectionError:
                        pass  # It has closed already.
            one.judge(outcome)
            one.socket.close()
    for preface in (b"INVALID CONNECTION PREFACE\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"):
        with check(f"h2spec 3.4: {preface[:30]} closes"):
            one = Frames(port)
            one.socket.sendall(preface)
            assert not one.until(lambda *_: False)


# Connect's documented cases: fields, type, body, and the status.
JSON = '{"account":"anna","groupId":"premium"}'
POSTS = [
    *[({name: value}, "application/json", JSON, status) for name, value, status in (
        ("connect-protocol-version", "1", 200), ("connect-protocol-version", "2", 400), ("connect-protocol-version", "v1", 400),
        ("connect-timeout-ms", "10000", 200), ("connect-timeout-ms", "soon", 400), ("connect-timeout-ms", "-1", 400),
        ("connect-timeout-ms", "12345678901", 400), ("connect-timeout-ms", "1.5", 400), ("connect-timeout-ms", "0", 504),
        ("content-encoding", "br", 501), ("content-encoding", "Identity", 200))],
    *[({}, kind, JSON, status) for kind, status in (
        ("application/xml", 415), ("application/connect+json", 415), ("application/connect+thrift", 415),
        ("application/connect+proto", 415), ("text/plain", 415), ("application/json; charset=utf-8", 200))],
    *[({}, "application/json", body, 400) for body in ("{", "[]", '{"account":1}', '{"accounts":"anna"}')],
    ({}, "application/proto", "\x12\x04anna\x1a\x07premium", 200), ({}, "application/proto", "\x12\x7f", 400),
]
SAID = "message=%7B%22account%22%3A%22anna%22%2C%22groupId%22%3A%22premium%22%7D"
QUERIES = [
    (f"connect=v1&encoding=json&{SAID}", 200), (f"{SAID}&encoding=json&other=1", 200), (f"connect=v2&encoding=json&{SAID}", 400),
    (f"connect=v1&encoding=xml&{SAID}", 415), (f"connect=v1&encoding=json&encoding=json&{SAID}", 400),
    (f"connect=v1&connect=v1&encoding=json&{SAID}", 400), (f"encoding=json&{SAID}&{SAID}", 400),
    ("encoding=json&base64=1&base64=1&message=e30", 400), (f"encoding=json&compression=br&{SAID}", 501),
    (f"encoding=json&compression=gzip&compression=gzip&{SAID}", 400), ("connect=v1&encoding=json", 400),
    ("encoding=json&message=%zz", 400), ("encoding=json&message=%7", 400), ("encoding=json&base64=1&message=!", 400),
    ("encoding=json&base64=1&message=eyJhY2NvdW50IjoiYW5uYSIsImdyb3VwSWQiOiJwcmVtaXVtIn0", 200),
    ("account=anna&groupId=premium&groupId=x", 400), ("account=%zz&groupId=premium", 400), ("account=%ff&groupId=premium", 400),
    ("account=a%25b&groupId=premium", 200),
]


def plain(port, verb, path, fields, body):
    """Status, fields and body of an answer of HTTP/1.1."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(f"{verb} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}{length}\r\n".encode() + body)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:])


def second(peer, verb, path, fields, body):
    """The same over HTTP/2, on one connection for all."""
    stream = peer.h2.get_next_available_stream_id()
    peer.h2.send_headers(stream, [(":method", verb), (":scheme", "http"), (":path", path), (":authority", "localhost"),
                                  *fields.items()], end_stream=not body)
    if body:
        peer.send(stream, body)
    peer.flush()
    peer.end(stream)
    answer = dict(peer.head[stream])
    return int(answer[":status"]), answer


def connect(port):
    peer = Peer(port)
    for version, ask in (("HTTP/1.1", lambda *request: plain(port, *request)), ("HTTP/2", lambda *request: second(peer, *request))):
        with check(f"Connect: {len(POSTS)} heads and bodies are judged as its protocol says over {version}"):
            for fields, kind, body, status in POSTS:
                found, answer = ask("POST", PATH, {"content-type": kind, **fields}, body.encode("latin-1"))
                equal(found, status, f"the status of {kind}, {fields}, {body!r}")
                assert status != 415 or "accept-post" in answer, answer
        with check(f"Connect: {len(QUERIES)} queries are read strictly over {version}"):
            for query, status in QUERIES:
                equal(ask("GET", f"{PATH}?{query}", {}, b"")[0], status, f"the status of {query}")
        with check(f"Connect: a method that changes something has no GET over {version}"):
            found, answer = ask("GET", "/perch.v1.TransactionService/Purchase?account=anna", {}, b"")
            equal((found, answer["allow"]), (405, "post" if version == "HTTP/1.1" else "POST"), "status and methods")
    peer.close()


if __name__ == "__main__":
    perch, catalog = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        server = Server(perch, catalog, "memory", pathlib.Path(name) / "server.log")
        server.start()
        try:
            frames(server.port)
            connect(server.port)
        finally:
            equal(server.stop(), 0, "the exit status")
    sys.exit(summary("rules"))
