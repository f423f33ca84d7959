"""A client of perch/1: Python's standard library and the protobuf package, nothing of Perch's. See proto/README.md."""
import collections, itertools, pathlib, socket, struct, zlib
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HELLO, WELCOME, CALL, MESSAGE, STATUS, CANCEL, BEAT, PING, PONG, DRAIN = range(1, 11)
WIRE = {WELCOME: "Welcome", STATUS: "Status", BEAT: "Beat", DRAIN: "Drain"}  # what the kinds of a server carry
Frame = collections.namedtuple("Frame", "kind stream compressed message")

class Contract:
    """The messages and methods of proto/, from a descriptor set: no generated code."""
    def __init__(self, path):
        self.pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(path).read_bytes()).file:
            self.pool.AddSerializedFile(file.SerializeToString())

    def message(self, name):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(name))

    def method(self, path):
        method = self.pool.FindMethodByName(path.strip("/").replace("/", "."))
        return self.message(method.input_type.full_name), self.message(method.output_type.full_name)

class Client:
    def __init__(self, address, contract):
        self.contract, self.answers, self.tokens, self.numbers = contract, {}, {}, itertools.count(1)
        self.socket = socket.create_connection(address, timeout=30)
        self.input = self.socket.makefile("rb")

    def send(self, kind, stream=0, message=b"", compressed=False):
        body = message if isinstance(message, bytes) else message.SerializeToString()
        body = zlib.compress(body) if compressed else body
        self.socket.sendall(struct.pack(">IBI", kind << 24 | stream, compressed, len(body)) + body)

    def hello(self, **fields):
        self.send(HELLO, 0, self.contract.message("perch.wire.v1.Hello")(protocol_version=1, **fields))
        if welcome := self.read():
            return welcome.message
        raise ConnectionError("closed before WELCOME")

    def call(self, path, timeout_ms=0, compressed=False, **request):
        stream = next(self.numbers)
        ask, self.answers[stream] = self.contract.method(path)
        request = ask(**request).SerializeToString()
        call = self.contract.message("perch.wire.v1.Call")(method=path, timeout_ms=timeout_ms, request=request)
        self.send(CALL, stream, call, compressed)
        return stream  # and to end it: send(CANCEL, stream)

    def read(self):
        """The next whole frame, or None when the server has closed. A stream's last token is in `tokens`."""
        address, flag, length = struct.unpack(">IBI", (header := self.input.read(9)).ljust(9))
        if len(header) < 9 or len(body := self.input.read(length)) < length:
            return None  # A part of a message may well parse, and as another one.
        kind, stream, body = address >> 24, address & 0xFFFFFF, zlib.decompress(body) if flag else body
        if kind in WIRE:
            body = self.contract.message("perch.wire.v1." + WIRE[kind]).FromString(body)
        if kind == MESSAGE:
            body = self.answers[stream].FromString(body)
            if "info" in body.DESCRIPTOR.fields_by_name and body.info.resume_token:
                self.tokens[stream] = body.info.resume_token
        return Frame(kind, stream, flag == 1, body)
