"""The protocol perch/1 as proto/README.md describes it: messages, frames, connections and a small event loop.

Nothing here knows what a call is for. A connection reports every frame to its owner, in order of arrival.
"""

import heapq
import selectors
import socket
import struct
import time
import zlib

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HELLO, WELCOME, CALL, MESSAGE, STATUS, CANCEL, BEAT, PING, PONG, DRAIN = range(1, 11)
KIND_NAMES = dict(enumerate("HELLO WELCOME CALL MESSAGE STATUS CANCEL BEAT PING PONG DRAIN".split(), start=1))
ZLIB = 2
HEADER = struct.Struct(">IBI")
READ_BYTES = 262_144


class Contract:
    """The messages and methods of a descriptor set."""

    def __init__(self, path):
        self.pool = descriptor_pool.DescriptorPool()
        self.methods = {}
        self.classes = {}
        with open(path, "rb") as file:
            files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
        for each in files:
            self.pool.AddSerializedFile(each.SerializeToString())
        for each in files:
            for service in each.service:
                for method in service.method:
                    self.methods[method.name] = (
                        f"/{each.package}.{service.name}/{method.name}",
                        self.message(method.input_type.lstrip(".")),
                        self.message(method.output_type.lstrip(".")),
                    )

    def message(self, full_name):
        if full_name not in self.classes:
            found = self.pool.FindMessageTypeByName(full_name)
            self.classes[full_name] = message_factory.GetMessageClass(found)
        return self.classes[full_name]

    def __getattr__(self, name):
        """`contract.Position` is perch.v1.Position; `contract.Hello` is perch.wire.v1.Hello."""
        for package in ("perch.v1.", "perch.wire.v1."):
            try:
                return self.message(package + name)
            except KeyError:
                continue
        raise AttributeError(name)


class Loop:
    """Sockets and timers on one thread."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.timers = []
        self.serial = 0

    def later(self, seconds, action):
        self.serial += 1
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.serial, action))

    def turn(self, longest=0.05):
        """Runs due timers, then waits for sockets for at most `longest` seconds."""
        now = time.monotonic()
        while self.timers and self.timers[0][0] <= now:
            heapq.heappop(self.timers)[2]()
        if self.timers:
            longest = max(0.0, min(longest, self.timers[0][0] - time.monotonic()))
        if not self.selector.get_map():
            time.sleep(longest)
            return
        for key, ready in self.selector.select(longest):
            key.data.ready(ready)


class Connection:
    """One TCP connection. It calls `on_frame(connection, kind, stream, body)` and `on_end(connection, why)` of its owner."""

    def __init__(self, loop, contract, address, owner, name, client_id=b"", heartbeat=10, reads_zlib=False):
        self.loop, self.contract, self.owner, self.name = loop, contract, owner, name
        self.incoming, self.outgoing = bytearray(), bytearray()
        self.is_open, self.is_connected, self.is_welcome = True, False, False
        self.frame_bytes = 4 << 20
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.connect_ex(address)
        self.wanted = selectors.EVENT_READ | selectors.EVENT_WRITE
        loop.selector.register(self.socket, self.wanted, self)
        hello = contract.Hello(
            protocol_version=1,
            client_name="recorder/1",
            client_id=client_id,
            heartbeat_seconds=heartbeat,
            accepts=[ZLIB] if reads_zlib else [],
        )
        self.send(HELLO, 0, hello.SerializeToString())

    def send(self, kind, stream, body=b""):
        if not self.is_open:
            return
        self.outgoing += HEADER.pack(kind << 24 | stream, 0, len(body)) + body
        self.want(selectors.EVENT_READ | selectors.EVENT_WRITE)

    def want(self, events):
        if events != self.wanted:
            self.wanted = events
            self.loop.selector.modify(self.socket, events, self)

    def call(self, stream, method, request, timeout_ms=0):
        path = self.contract.methods[method][0]
        body = self.contract.Call(method=path, request=request, timeout_ms=timeout_ms).SerializeToString()
        self.send(CALL, stream, body)

    def ready(self, events):
        try:
            if events & selectors.EVENT_WRITE:
                self.write()
            if self.is_open and events & selectors.EVENT_READ:
                self.read()
        except OSError as error:
            self.end(error.strerror or str(error))

    def write(self):
        if not self.is_connected:
            failure = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failure:
                raise OSError(failure, "connect failed")
            self.is_connected = True
        if self.outgoing:
            sent = self.socket.send(self.outgoing)
            del self.outgoing[:sent]
        if not self.outgoing:
            self.want(selectors.EVENT_READ)

    def read(self):
        data = self.socket.recv(READ_BYTES)
        if not data:
            self.end("end of stream")
            return
        self.incoming += data
        begin = 0
        while self.is_open and len(self.incoming) - begin >= HEADER.size:
            address, flag, length = HEADER.unpack_from(self.incoming, begin)
            if length > self.frame_bytes:
                raise OSError(0, f"a frame of {length} bytes, more than the limit of {self.frame_bytes}")
            finish = begin + HEADER.size + length
            if len(self.incoming) < finish:
                break
            body = bytes(self.incoming[begin + HEADER.size : finish])
            begin = finish
            if flag:
                body = zlib.decompress(body)
            self.owner.on_frame(self, address >> 24, address & 0xFFFFFF, body)
        del self.incoming[:begin]

    def end(self, why):
        """Closes the connection. A part of a frame that has arrived is dropped."""
        if self.is_open:
            self.is_open = False
            self.loop.selector.unregister(self.socket)
            self.socket.close()
            self.owner.on_end(self, why)
