"""Measures the memory of idle connections with TLS. Run by Tests/Scale/tls."""
import resource
import socket
import ssl
import struct
import sys
import time

from certificates import Authority
from client import HELLO
from server import Server, cpu_seconds
from trial import CATALOG, PERCH, WORK

count = next((int(word) for word in sys.argv[1:] if word.isdigit()), 2_000)
reconnects = "--reconnect" in sys.argv
# Six hundred seconds between heartbeats, so none is sent during the measurement.
GREETING = struct.pack(">IBI", HELLO << 24, 0, 5) + bytes([0x08, 1, 0x28, 0xD8, 0x04])

authority = Authority(WORK)
authority.sign("server", "perch", "DNS:localhost,IP:127.0.0.1")
authority.sign("alice", names="URI:spiffe://example.com/alice")
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
assert hard > count + 64, f"this shell gives {hard} descriptors; {count} connections need {count + 64}"


def context(version, showing=None):
    made = ssl.create_default_context(cafile=authority.pem(authority.name))
    made.set_alpn_protocols(["perch/1"])
    made.minimum_version = made.maximum_version = version
    if showing:
        made.load_cert_chain(authority.pem(showing), authority.key(showing))
    return made


def connect(server, made, session=None):
    one = socket.create_connection(server.address, timeout=30)
    if made:
        one = made.wrap_socket(one, server_hostname="localhost", session=session)
    one.sendall(GREETING)
    assert one.recv(1) == b"\x02", "no WELCOME"
    return one


def measure(name, made, *settings):
    server = Server(PERCH, CATALOG, "memory", WORK / "log", "--tls", "allowed", "--tls-certificate", authority.pem("server"), "--tls-key",
                    authority.key("server"), *settings)
    server.start()
    try:
        # The first connections load library data, which does not count.
        warm = [connect(server, made) for _ in range(50)]
        time.sleep(0.2)
        before = server.memory()
        open_ones = [connect(server, made) for _ in range(count)]
        each = (server.memory() - before) / count
        print(f"{name:34} {each / 1024:7.1f} KiB each, {count} idle connections", flush=True)
        if reconnects and made:
            for kind in ("full", "resumed"):
                sessions = [one.session if kind == "resumed" else None for one in open_ones]
                for one in open_ones:
                    one.close()
                began = cpu_seconds(server.pid)
                open_ones = [connect(server, made, session) for session in sessions]
                assert sum(one.session_reused for one in open_ones) == (count if kind == "resumed" else 0), kind
                print(f"{'  all come back, ' + kind:34} {(cpu_seconds(server.pid) - began) / count * 1e6:7.0f} us of processor each")
        del warm, open_ones
    finally:
        server.kill()


measure("plaintext", None)
measure("TLS 1.3", context(ssl.TLSVersion.TLSv1_3))
measure("TLS 1.2", context(ssl.TLSVersion.TLSv1_2))
measure("TLS 1.3, with a certificate", context(ssl.TLSVersion.TLSv1_3, "alice"), "--tls-client-ca",
        authority.pem("authority"), "--tls-client-certificates", "required")
