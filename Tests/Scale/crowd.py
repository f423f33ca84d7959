"""Many plain connections in one process, each with one stream. Decodes only the frames that a test examines."""
import errno
import select
import socket
import struct
import time

from client import CALL, DRAIN, HELLO, MESSAGE, STATUS, WELCOME

APP = {"bundle_id": "com.example.app", "environment": 3}
WATCH = "/perch.v1.EntitlementService/CurrentEntitlementTask"
SEASON = "com.example.season"


def frame(kind, stream, body):
    return struct.pack(">IBI", kind << 24 | stream, 0, len(body)) + body


class Peer:
    """A connection with one stream."""

    __slots__ = ("socket", "number", "buffer", "welcomed", "value_at", "values", "status", "drain", "told_at", "ended_at",
                 "first", "message")

    def __init__(self, number):
        self.number, self.buffer, self.socket = number, b"", None
        self.reset()

    def reset(self):
        self.buffer, self.welcomed, self.value_at, self.values = b"", None, None, 0
        self.status = self.drain = self.told_at = self.ended_at = self.first = self.message = None

    def take(self, data, now):
        """The received frames, as (kind, body)."""
        buffer, at = self.buffer + data, 0
        while len(buffer) - at >= 9:
            address, _, length = struct.unpack_from(">IBI", buffer, at)
            if len(buffer) - at - 9 < length:
                break
            body = buffer[at + 9:at + 9 + length]
            at += 9 + length
            kind = address >> 24
            if kind == WELCOME:
                self.welcomed = now
            elif kind == MESSAGE:
                self.values += 1
                self.value_at, self.message = now, body
                if self.first is None:
                    self.first = now
            elif kind == STATUS:
                self.status, self.told_at = body, self.told_at or now
            elif kind == DRAIN:
                self.drain, self.told_at = body, self.told_at or now
        self.buffer = buffer[at:]


class Crowd:
    """Peers that share one epoll."""

    def __init__(self, contract):
        self.contract, self.poll, self.by_fd = contract, select.epoll(), {}
        self.hello = frame(HELLO, 0, contract.message("perch.wire.v1.Hello")(
            protocol_version=1, client_name="crowd", heartbeat_seconds=600).SerializeToString())

    def request(self, account, **fields):
        body = self.contract.method(WATCH)[0](app=APP, account=account, product_id=SEASON, **fields).SerializeToString()
        return frame(CALL, 1, self.contract.message("perch.wire.v1.Call")(method=WATCH, request=body).SerializeToString())

    def decode(self, body):
        return self.contract.method(WATCH)[1].FromString(body)

    def status(self, peer):
        """The reason code that a peer received: of its stream, otherwise of its connection."""
        if peer.status is not None:
            return self.contract.message("perch.wire.v1.Status").FromString(peer.status).reason
        if peer.drain is not None:
            return self.contract.message("perch.wire.v1.Drain").FromString(peer.drain).reason
        return None

    def connect(self, peer, address, request, receive_bytes=None):
        peer.reset()
        peer.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_bytes:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        # One address has 28,000 ports, so each thousand peers uses its own address.
        peer.socket.bind((f"127.0.0.{2 + peer.number // 1000 % 200}", 0))
        peer.socket.connect(address)
        peer.socket.setblocking(False)
        peer.socket.send(self.hello + request)
        self.by_fd[peer.socket.fileno()] = peer
        self.poll.register(peer.socket, select.EPOLLIN)

    def let_go(self, peer):
        if peer.socket is None:
            return
        self.by_fd.pop(peer.socket.fileno(), None)
        peer.socket.close()  # This also removes it from the epoll.
        peer.socket = None

    def pause(self, peer):
        self.poll.modify(peer.socket, 0)

    def step(self, seconds=0.05):
        """Reads the available data once."""
        for fd, _ in self.poll.poll(seconds, 2048):
            peer = self.by_fd.get(fd)
            if peer is None:
                continue
            now = time.perf_counter()
            try:
                data = peer.socket.recv(1 << 18)
            except BlockingIOError:
                continue
            except OSError as error:
                if error.errno != errno.ECONNRESET:
                    raise
                data = b""
            if data:
                peer.take(data, now)
            else:
                peer.ended_at = now
                self.let_go(peer)

    def until(self, holds, seconds):
        """Reads until a condition holds; False after a timeout."""
        ends = time.perf_counter() + seconds
        while not holds():
            if time.perf_counter() > ends:
                return False
            self.step()
        return True


def change(writer, account):
    """Buys a season for an account."""
    writer.get("/perch.v1.TestStoreService/Operate", app=APP, account=account, operation={"buy": {"product_id": SEASON}})
