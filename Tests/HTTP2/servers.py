"""One check for each item of the list of what servers of gRPC get wrong, by `h2` against a real server."""
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import certificates  # noqa: E402
import hyperframe.frame  # noqa: E402
from h2.exceptions import ProtocolError, StreamClosedError  # noqa: E402
from checks import check, equal, passed, summary  # noqa: E402
from freezing import frozen  # noqa: E402
from peer import Peer  # noqa: E402
from server import Server  # noqa: E402
from waiting import PATIENCE_SECONDS  # noqa: E402

READ = "/perch.v1.EntitlementService/GetSubscriptionStatus"
WATCH = "/perch.v1.EntitlementService/SubscriptionStatusTask"
PRODUCTS = "/perch.v1.EntitlementService/GetProducts"
CHECK = "/perch.v1.AdminService/CheckCatalog"
APPS = "/perch.v1.AdminService/ListApps"


def text(number, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def status_of(account, group="premium"):
    return text(2, account) + text(3, group)


def items(port, work, perch, catalog):
    peer = Peer(port)

    with check("1: content-type stands in trailers alone, in one HEADERS frame"):
        stream = peer.call(READ, status_of(""))
        trailers = peer.end(stream)
        equal((trailers["grpc-status"], trailers["content-type"], trailers[":status"]), ("3", "application/grpc", "200"),
              "the trailers")
        equal(peer.data.get(stream), None, "the data")
    with check("1: a content type that is not gRPC's gets 415, an unknown codec UNIMPLEMENTED"):
        stream = peer.call(READ, b"a=b", kind="application/x-www-form-urlencoded", framed=False)
        peer.end(stream)
        equal(peer.head[stream][":status"], "415", "the status")
        equal(peer.end(peer.call(READ, b"", kind="application/grpc+thrift"))["grpc-status"], "12", "the code")

    with check("2: grpc-message is percent-encoded UTF-8"):
        trailers = peer.end(peer.call("/nothing/50%-für-alle", b""))
        equal(trailers["grpc-status"], "12", "the code")
        message = trailers["grpc-message"]
        assert all(0x20 <= ord(letter) <= 0x7E for letter in message), message
        assert "50%25-" in message and "%C3%BC" in message, message

    with check("3: an unknown encoding is UNIMPLEMENTED and names those that are taken"):
        trailers = peer.end(peer.call(APPS, b"", more=[("grpc-encoding", "br")]))
        equal((trailers["grpc-status"], trailers["grpc-accept-encoding"]), ("12", "identity,deflate,gzip"), "it")
    with check("3: flag 1 without an encoding is INTERNAL"):
        trailers = peer.end(peer.call(APPS, b"\1\0\0\0\0", framed=False))
        equal(trailers["grpc-status"], "13", "the code")

    with check("4: grpc-timeout has up to eight digits and a unit; 0m has passed; none is none"):
        for value, code in (("0m", "4"), ("1", "13"), ("123456789m", "13"), ("5x", "13"), ("-1S", "13"), ("10S", "0"),
                            ("99999999H", "0"), ("1u", "0")):
            trailers = peer.end(peer.call(APPS, b"", more=[("grpc-timeout", value)]))
            equal(trailers["grpc-status"], code, f"the code for {value}")
        equal(peer.end(peer.call(APPS, b""))["grpc-status"], "0", "the code without one")

    with check("5: binary metadata comes padded and unpadded, and several values between commas"):
        for value in ("AQIDBA==", "AQIDBA", "AQID,AQIDBA"):
            trailers = peer.end(peer.call(APPS, b"", more=[("perch-client-id-bin", value)]))
            equal(trailers["grpc-status"], "0", f"the code for {value}")

    with check("6: trailers before the client's end are followed by RST_STREAM without blame"):
        stream = peer.call(READ, status_of(""), ends=False)
        peer.until(lambda: stream in peer.reset)
        equal((peer.trailers[stream]["grpc-status"], int(peer.reset[stream])), ("3", 0), "code and reset")

    with check("7: headers and trailers stay under 8 KiB"):
        trailers = peer.end(peer.call("/" + "x" * 7_000, b""))
        size = sum(len(name) + len(value) + 32 for name, value in trailers.items())
        assert size < 8_192, size

    with check("8: keepalive strikes begin anew with each DATA or HEADERS frame"):
        for _ in range(4):
            for _ in range(80):
                peer.h2.ping(b"keepaliv")
            peer.flush()
            equal(peer.end(peer.call(APPS, b""))["grpc-status"], "0", "the code")
        equal(peer.goaways, [], "GOAWAY")
        other = Peer(port)
        for _ in range(130):
            other.h2.ping(b"keepaliv")
        other.flush()
        other.until(lambda: other.goaways)
        equal(other.goaways[0][1], 11, "the code of GOAWAY")
        other.close()

    with check("10: a message larger than every window arrives at a client that gives back half a window at a time"):
        small = Peer(port, window=1_000)
        ids = b"".join(text(2, f"p-{n:05}") for n in range(5_000))
        pending = {}

        def half(self, event):
            pending[0] = pending.get(0, 0) + event.flow_controlled_length
            if pending[0] >= 500:
                self.h2.increment_flow_control_window(pending[0], event.stream_id)
                self.h2.increment_flow_control_window(pending[0])
                pending[0] = 0

        stream = small.call(PRODUCTS, ids)
        equal(small.end(stream, gives=half)["grpc-status"], "0", "the code")
        assert len(small.messages(stream)[0]) > 40_000
        small.close()

    with check("11: window is given back as bytes come, for refused calls too"):
        other = Peer(port)
        stream = other.call("/nothing/AtAll", None)
        for count in range(1, 11):
            other.raw(0, 0, stream, b"\0" * 16_384)
            other.until(lambda: other.returned == count * 16_384)
        other.close()
        stream = peer.call(CHECK, text(1, b"x" * 1_000_000))
        equal(peer.end(stream)["grpc-status"] in ("0", "3"), True, "the code")

    with check("a stream without window keeps its siblings waiting for nothing"):
        stuck = Peer(port, window=0)
        held = stuck.call(WATCH, status_of("h2-1"))
        free = stuck.call(WATCH, status_of("h2-1"))
        stuck.h2.increment_flow_control_window(100_000, free)
        stuck.flush()
        stuck.until(lambda: len(stuck.messages(free)) >= 2)
        equal(stuck.data.get(held), None, "what came on the other")
        stuck.close()

    with check("a header block of 20 kB is 431 on its stream, and its siblings go on"):
        other = Peer(port)
        watch = other.call(WATCH, status_of("h2-2"))
        stream = other.call(APPS, b"", more=[(f"x-note-{n}", "~" * 1_000) for n in range(20)])
        other.end(stream)
        equal(other.head[stream][":status"], "431", "the status")
        equal(other.end(other.call(APPS, b""))["grpc-status"], "0", "the code of the next call")
        equal((other.goaways, watch in other.ended), ([], False), "GOAWAY, and the end of the watch")
        other.close()

    if shutil.which("nghttp"):
        with check("a client of nghttp2 agrees"):
            body = work / "body"
            body.write_bytes(b"\0\0\0\0\0")
            out = subprocess.run(["nghttp", "-v", "-d", str(body), "-H", "content-type: application/grpc", "-H",
                                  "te: trailers", "-H", ":method: POST", f"http://127.0.0.1:{port}{APPS}"],
                                 capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            assert "grpc-status: 0" in out.stdout, out.stdout[-2_000:]
    peer.close()


def deadlines(perch, catalog, work):
    """Stock clients reset a stream at its deadline: ten thousand at once, where a server stalls."""
    server = Server(perch, catalog, "memory", work / "deadlines.log")
    server.start()
    with check("ten thousand deadlines beside a hundred watches, while the server stalls for a second, end no watch"):
        peer = Peer(server.port)
        peer.h2.increment_flow_control_window(1 << 24)
        watches = [peer.call(WATCH, status_of("h2-3")) for _ in range(100)]
        peer.until(lambda: all(len(peer.messages(stream)) >= 2 for stream in watches))
        with frozen(server.pid):
            stalled = time.monotonic()
            calls = []
            for _ in range(10_000):
                # Without window for its message a client has only sent its head.
                has_window = peer.h2.outbound_flow_control_window > 1_000
                calls.append(peer.call(READ, status_of("h2-4") if has_window else None, more=[("grpc-timeout", "500m")]))
            time.sleep(max(0, 1 - (time.monotonic() - stalled)))
            for stream in calls:
                peer.h2.reset_stream(stream, 8)
        peer.flush()
        bought = peer.call("/perch.v1.TransactionService/Purchase", text(2, "h2-3") + text(3, text(1, "com.example.monthly")))
        equal(peer.end(bought, 30)["grpc-status"], "0", "the code of a purchase")
        peer.until(lambda: all(b"com.example.monthly" in peer.data[stream] for stream in watches), 30)
        equal((peer.goaways, [stream for stream in watches if stream in peer.ended or stream in peer.reset]), ([], []),
              "GOAWAY, and the watches that ended")
        peer.close()
    equal(server.stop(), 0, "the exit status")


def ages(perch, catalog, work):
    server = Server(perch, catalog, "memory", work / "ages.log")
    server.arguments[2:2] = ["--max-connection-age", "300ms"]
    server.start()
    with check("--max-connection-age fails no call of a client that opens a connection when it is told to"):
        peer, count, connections = Peer(server.port), 0, 1
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            try:
                stream = peer.call(APPS, b"")
                equal(peer.end(stream)["grpc-status"], "0", "the code")
                count += 1
            except (StreamClosedError, ProtocolError):
                # The library opens nothing after GOAWAY.
                peer, connections = Peer(server.port), connections + 1
        assert connections >= 3 and count > 20, (connections, count)
    equal(server.stop(), 0, "the exit status")


def frames(peer):
    """Frames as they come, until the server closes."""
    data = b""
    peer.socket.settimeout(PATIENCE_SECONDS)
    while part := peer.socket.recv(65_536):
        data += part
        while len(data) >= 9:
            frame, length = hyperframe.frame.Frame.parse_frame_header(memoryview(data[:9]))
            if len(data) < 9 + length:
                break
            frame.parse_body(memoryview(data[9:9 + length]))
            data = data[9 + length:]
            yield frame


def endings(perch, catalog, work):
    server = Server(perch, catalog, "memory", work / "drained.log")
    server.start()
    with check("9: a graceful end says the highest number first, then the last stream, and every call its end"):
        peer = Peer(server.port)
        streams = [peer.call(WATCH, status_of(f"h2-{n}")) for n in range(100)]
        peer.until(lambda: all(len(peer.messages(stream)) >= 2 for stream in streams))
        server.process.send_signal(signal.SIGTERM)
        # The library takes the first GOAWAY for the end: frames are read by hand from here on.
        codes, lasts, pings = {}, [], 0
        for frame in frames(peer):
            if isinstance(frame, hyperframe.frame.GoAwayFrame):
                lasts.append(frame.last_stream_id)
            elif isinstance(frame, hyperframe.frame.PingFrame) and "ACK" not in frame.flags:
                answer = hyperframe.frame.PingFrame(0, frame.opaque_data, flags=["ACK"])
                peer.socket.sendall(answer.serialize())
                pings += 1
            elif isinstance(frame, hyperframe.frame.HeadersFrame):
                codes[frame.stream_id] = dict(peer.h2.decoder.decode(frame.data))["grpc-status"]
        equal((lasts, pings), ([0x7FFF_FFFF, streams[-1]], 1), "the last streams")
        equal((len(codes), set(codes.values())), (100, {"14"}), "the codes")
        peer.close()
    equal(server.process.wait(PATIENCE_SECONDS), 0, "the exit status")


def secure(perch, catalog, work):
    authority = certificates.Authority(work)
    pem, key = authority.sign("server", names="DNS:localhost,IP:127.0.0.1")
    server = Server(perch, catalog, "memory", work / "secure.log")
    server.arguments[2:2] = ["--tls-certificate", pem, "--tls-key", key]
    server.start()
    with check("12: TLS chooses h2 by ALPN, and http/1.1 for those that have nothing else"):
        for offered, chosen in ((["h2"], "h2"), (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "h2")):
            context = ssl.create_default_context(cafile=authority.pem("authority"))
            context.set_alpn_protocols(offered)
            peer = Peer(server.port, tls=context, greets=chosen == "h2")
            equal(peer.socket.selected_alpn_protocol(), chosen, "the protocol")
            if chosen == "h2":
                equal(peer.end(peer.call(APPS, b""))["grpc-status"], "0", "the code")
            peer.close()
    with check("12: what ALPN chose is spoken, and nothing else"):
        for offered, said in (("h2", b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"), ("http/1.1", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")):
            context = ssl.create_default_context(cafile=authority.pem("authority"))
            context.set_alpn_protocols([offered])
            peer = Peer(server.port, tls=context, greets=False)
            peer.socket.sendall(said)
            answer = b""
            while part := peer.socket.recv(65_536):
                answer += part
            assert f"TLS chose {offered} by ALPN".encode() in answer and b"200 OK" not in answer, answer
            peer.close()
    equal(server.stop(), 0, "the exit status")


if __name__ == "__main__":
    perch, catalog = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        server = Server(perch, catalog, "memory", work / "server.log")
        server.start()
        try:
            items(server.port, work, perch, catalog)
        finally:
            equal(server.stop(), 0, "the exit status")
        endings(perch, catalog, work)
        deadlines(perch, catalog, work)
        ages(perch, catalog, work)
        secure(perch, catalog, work)
    sys.exit(summary("http2"))
