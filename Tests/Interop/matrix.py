"""The matrix: each stock client that can be installed, and what it must be able to do with a server.

    matrix.py [CLIENT…]        without a name all

Each cell is one action of a client (Matrix/probe.*), with a check of what it saw. A relay between client and server shows what
compression was on the wire. A cell that a client cannot do has the client's own limitation in LIMITS. The table is printed at the
end; the exit status is 1 if a cell fails, and also if a limitation is gone.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import hpack
import hyperframe.frame

import stubs
from certificates import Authority
from relay import Relay
from server import Server
from tokens import Keys
from trial import CATALOG, PERCH
from waiting import until

HERE = pathlib.Path(__file__).resolve().parent
PRODUCT = "com.example.monthly"
SERVICES = {"perch.v1.EntitlementService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
LARGE = 4_000  # products of a catalogue whose answer has 4.1 MB, just below the 4 MiB that most clients take

GO_GZIP = "grpc-go has gzip only"
CONNECT_GZIP = "connectrpc has gzip only"
NO_REQUEST = "sends no compressed request"
HALF_DUPLEX = "no bidirectional streams over HTTP/1.1"
LIMITS = {
    ("grpclib", "gzip"): "grpclib has no compression", ("grpclib", "deflate"): "grpclib has no compression",
    ("connectrpc gRPC", "deflate"): CONNECT_GZIP, ("connectrpc gRPC-Web", "deflate"): CONNECT_GZIP,
    ("connectrpc Connect", "deflate"): CONNECT_GZIP,
    ("connectrpc Connect", "reflection"): "JSON; reflection has descriptors, and so proto only",
    ("grpcurl", "gzip"): NO_REQUEST, ("grpcurl", "deflate"): GO_GZIP,
    ("grpc-go", "deflate"): GO_GZIP, ("grpc-java", "deflate"): "grpc-java has gzip only",
    ("grpc-java", "TLS"): "Debian's Netty 4.1.48 finds no ALPN in Java 17",
    ("Node fetch", "reflection"): HALF_DUPLEX, ("curl", "reflection"): HALF_DUPLEX,
}


def of_messages(relay):
    """The encodings of request messages and of answers."""
    return [set().union(*(encodings(bytes(both[direction])) for both in relay.kept)) for direction in (0, 1)]


def encodings(data):
    """The encodings of the messages that one side of a connection sent."""
    if not data.startswith(PREFACE) and (data.startswith(b"HTTP/1.1") or b" HTTP/1.1\r\n" in data[:2_000]):
        return {value.decode() for value in re.findall(rb"(?i)^(?:grpc|connect-content|content)-encoding: (\w+)\r$", data, re.M)}
    data, decoder, streams, found = data.removeprefix(PREFACE), hpack.Decoder(), {}, set()
    decoder.max_header_list_size = 1 << 20
    while len(data) >= 9:
        frame, length = hyperframe.frame.Frame.parse_frame_header(memoryview(data)[:9])
        if len(data) < 9 + length:
            break
        frame.parse_body(memoryview(data)[9:9 + length])
        data = data[9 + length:]
        if isinstance(frame, hyperframe.frame.HeadersFrame):
            streams.setdefault(frame.stream_id, {}).update(decoder.decode(frame.data))
        elif isinstance(frame, hyperframe.frame.DataFrame) and frame.data:
            head = streams.get(frame.stream_id, {})
            if "content-encoding" in head:
                found.add(head["content-encoding"])
            elif frame.data[0] & 1 and not head.get("seen"):
                found.add(head.get("grpc-encoding", head.get("connect-content-encoding", "?")))
            head["seen"] = True
    return found


def python_probe(library):
    return [sys.executable, HERE / "Matrix/probe.py", library]


def built(name, make):
    """A probe that is compiled from Matrix/ and the services of gRPC."""
    def services(directory):
        stubs.run(sys.executable, "-c", """
import sys
from google.protobuf import descriptor_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
files = descriptor_pb2.FileDescriptorSet()
for module, path in ((health_pb2, "grpc/health/v1/health.proto"), (reflection_pb2, "grpc/reflection/v1alpha/reflection.proto")):
    module.DESCRIPTOR.CopyToProto(files.file.add())
    files.file[-1].name = path
open(sys.argv[1], "wb").write(files.SerializeToString())
""", directory / "services.binpb")
    descriptors = stubs.made_once("services", [], services) / "services.binpb"
    return make(descriptors, ["grpc/health/v1/health.proto", "grpc/reflection/v1alpha/reflection.proto"])


def java(descriptors, files):
    def make(directory):
        stubs.run("protoc", f"--descriptor_set_in={descriptors}", f"--java_out={directory}", f"--grpc-java_out={directory}",
                  "--plugin=protoc-gen-grpc-java=/usr/bin/grpc_java_plugin", *files)
    sources = sorted(stubs.made_once("services-java", [], make).rglob("*.java"))
    return stubs.java("Probe", [HERE / "Matrix/Probe.java", *sources])


def cpp(descriptors, files):
    plugin = "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin"

    def contract(directory):
        stubs.run("protoc", "-I.", f"--cpp_out={directory}", f"--grpc_out={directory}", plugin, *stubs.FILES, cwd=stubs.PROTO)
        stubs.run("protoc", f"--descriptor_set_in={descriptors}", f"--cpp_out={directory}", f"--grpc_out={directory}", plugin, *files)
        for source in directory.rglob("*.cc"):
            stubs.run("g++", "-std=c++17", "-c", f"-I{directory}", "-o", source.with_suffix(".o"), source)
    objects = stubs.made_once("cpp", [], contract)

    def program(directory):
        flags = stubs.run("pkg-config", "--cflags", "--libs", "grpc++", "protobuf").split()
        stubs.run("g++", "-std=c++17", f"-I{objects}", "-o", directory / "probe", HERE / "Matrix/probe.cc",
                  *objects.rglob("*.o"), *flags)
    return [stubs.made_once("programs/cpp", [HERE / "Matrix/probe.cc"], program) / "probe"]


def ruby(descriptors, files):
    def make(directory):
        plugin = "--plugin=protoc-gen-grpc=/usr/bin/grpc_ruby_plugin"
        stubs.run("protoc", "-I.", f"--ruby_out={directory}", f"--grpc_out={directory}", plugin, *stubs.FILES, cwd=stubs.PROTO)
        stubs.run("protoc", f"--descriptor_set_in={descriptors}", f"--ruby_out={directory}", f"--grpc_out={directory}", plugin, *files)
    return ["ruby", "-I", stubs.made_once("ruby", [], make), HERE / "Matrix/probe.rb"]


CLIENTS = {
    "grpcio": lambda: python_probe("grpcio"),
    "grpclib": lambda: python_probe("grpclib"),
    "connectrpc gRPC": lambda: python_probe("connectrpc+grpc"),
    "connectrpc gRPC-Web": lambda: python_probe("connectrpc+grpc-web"),
    "connectrpc Connect": lambda: python_probe("connectrpc+connect"),
    "grpcurl": lambda: [sys.executable, HERE / "Matrix/probe_grpcurl.py"],
    "grpc-go": lambda: [stubs.go("probe", [HERE / "Matrix/probe.go"])],
    "grpc-java": lambda: built("java", java),
    "gRPC C++": lambda: built("cpp", cpp),
    "ruby-grpc": lambda: built("ruby", ruby),
    "Node fetch": lambda: ["node", HERE / "Matrix/probe.mjs"],
    "curl": lambda: [sys.executable, HERE / "Matrix/probe_curl.py"],
}


class Lines:
    """A probe under way, and the lines that it prints."""

    def __init__(self, command, port, action, **words):
        environment = os.environ | {"PYTHONPATH": str(stubs.python())}
        if "ca" in words:
            environment["NODE_EXTRA_CA_CERTS"] = words["ca"]
        words = [f"{name}={value}" for name, value in words.items()]
        self.process = subprocess.Popen([*map(str, command), f"localhost:{port}", action, *words], env=environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.timer = threading.Timer(40, self.process.kill)
        self.timer.start()

    def until(self, holds):
        """Reads up to the line for which it holds."""
        for line in self.process.stdout:
            found = json.loads(line)
            if holds(found):
                return found
        raise AssertionError(f"the wanted line never came: {self.process.stderr.read()[-600:]}")

    def rest(self):
        text, errors = self.process.communicate()
        self.timer.cancel()
        lines = [json.loads(line) for line in text.splitlines()]
        assert lines or not errors, errors[-600:]
        return lines


def last(*arguments, **words):
    lines = Lines(*arguments, **words).rest()
    assert lines, "it printed nothing"
    return lines[-1]


def expect(line, /, **wanted):
    for name, value in wanted.items():
        assert line.get(name) == value, f"{name} is {line.get(name)!r}, not {value!r}: {line}"


class Cells:
    """The cells of one client, and the servers they use."""

    def __init__(self, work):
        self.work = work
        authority = Authority(work)
        authority.sign("server", "perch", "DNS:localhost,IP:127.0.0.1")
        self.ca = authority.pem("authority")
        keys = Keys(PERCH, work / "tokens")
        self.bearer = keys.text("read", ("com.example.app", "xcode"))
        self.large = work / "large.storekit"
        self.large.write_text(json.dumps(large_catalogue(CATALOG), separators=(",", ":")))
        # JSON has bytes as base64, so that less of a file fits into a request.
        for name, count in (("proto", 4_000_000), ("json", 3_000_000)):
            (work / f"{name}.storekit").write_text(CATALOG.read_text().ljust(count))
        self.servers = {
            "plain": self.server("plain"), "secure": self.server(
                "secure", "--tls-certificate", authority.pem("server"), "--tls-key", authority.key("server")),
            "guarded": self.server("guarded", "--token-keys", keys.public),
            "large": self.server("large", catalog=self.large)}

    def server(self, name, *settings, catalog=CATALOG):
        # Which also ends it if another one does not start.
        server = Server(PERCH, catalog, self.work / f"{name}.store", self.work / f"{name}.log", "--with-parent", *settings)
        server.start()
        return server

    def port(self, name="plain"):
        return self.servers[name].port

    def stop(self):
        for server in self.servers.values():
            server.kill()

    def calls(self):
        """Calls that are open at the plain server, its own excepted."""
        return {metric["name"]: metric.get("value", 0) for metric in self.servers["plain"].call("GetServerStatus")[1]["metrics"]}["perch_calls"]

    def buy(self, account):
        self.servers["plain"].run("store", "buy", account, PRODUCT)

    # One method for each cell; `account` is new for each client.

    def unary(self, client, account):
        expect(last(client, self.port(), "products", ids=f"{PRODUCT},nothing"), found=1, unavailable=1)

    def push(self, client, account):
        lines = Lines(client, self.port(), "watch", account=account, until=1)
        lines.until(lambda line: line["state"] == "success" and line["statuses"] == 0)
        self.buy(account)
        lines.until(lambda line: line["statuses"] == 1)
        lines.rest()

    def cancel(self, client, account):
        before = self.calls()
        expect(last(client, self.port(), "watch", account=account, until=0), code="CANCELLED")
        until(lambda: self.calls() <= before, "the call ends")

    def deadline(self, client, account):
        expect(last(client, self.port(), "watch", account=account, until=9, deadline=500), code="DEADLINE_EXCEEDED")

    def error(self, client, account):
        expect(last(client, self.port(), "error"), code="INVALID_ARGUMENT", reason="FIELD_MISSING", field="group_id")

    def token(self, client, account):
        expect(last(client, self.port("guarded"), "products", ids=PRODUCT), code="UNAUTHENTICATED", reason="UNAUTHENTICATED")
        expect(last(client, self.port("guarded"), "products", ids=PRODUCT, bearer=self.bearer), found=1)

    def compressed(self, client, name):
        relay = Relay(self.port(), keeps=True)
        try:
            expect(last(client, relay.port, "products", ids=PRODUCT, count=500, compress=name), found=1, unavailable=500)
            requests, answers = of_messages(relay)
            assert name in requests, f"requests have the encodings {requests or 'none'}"
            assert name in answers, f"answers have the encodings {answers or 'none'}"
        finally:
            relay.close()

    def gzip(self, client, account):
        self.compressed(client, "gzip")

    def deflate(self, client, account):
        self.compressed(client, "deflate")

    def message_of_4_mb(self, client, account):
        expect(last(client, self.port("large"), "products", ids="p0", prefix="p", count=LARGE), found=LARGE)
        is_json = any(word in str(client) for word in ("mjs", "curl.py", "+connect")) and "grpcurl" not in str(client)
        file = self.work / ("json.storekit" if is_json else "proto.storekit")
        expect(last(client, self.port(), "load", file=file), subscriptions=3)

    def tls(self, client, account):
        expect(last(client, self.port("secure"), "products", ids=PRODUCT, ca=self.ca), found=1)

    def health(self, client, account):
        expect(last(client, self.port("guarded"), "health"), status="SERVING")

    def reflection(self, client, account):
        found = set(last(client, self.port(), "reflection")["services"])
        assert SERVICES <= found, f"only {found}"

    def resume(self, client, account):
        lines = Lines(client, self.port(), "watch", account=account, until=0)
        token = lines.until(lambda line: line["state"] == "success")["token"]
        lines.rest()
        self.servers["plain"].kill()
        self.servers["plain"].start()
        lines = Lines(client, self.port(), "watch", account=account, until=0, token=token)
        expect(lines.until(lambda line: True), state="unchanged")
        lines.rest()


CELLS = {"unary": "unary", "push": "push", "cancel": "cancel", "deadline": "deadline", "rich error": "error", "token": "token",
         "gzip": "gzip", "deflate": "deflate", "4 MB": "message_of_4_mb", "TLS": "tls", "health": "health",
         "reflection": "reflection", "resume": "resume"}


def large_catalogue(path):
    """A catalogue whose products are an answer of 4 MB."""
    catalogue = json.loads(path.read_text())
    model = catalogue["products"][0]
    catalogue["products"] = [
        model | {"productID": f"p{n}", "internalID": f"P{n:07}", "referenceName": f"p{n}",
                 "localizations": [{"locale": "en_US", "displayName": f"p{n}", "description": "d" * 385}]} for n in range(LARGE)]
    return catalogue


def main(names):
    table, faults = {}, []
    with tempfile.TemporaryDirectory() as work:
        cells = Cells(pathlib.Path(work))
        try:
            for number, name in enumerate(names or CLIENTS):
                client = CLIENTS[name]()
                for title, method in CELLS.items():
                    limit = LIMITS.get((name, title))
                    try:
                        getattr(cells, method)(client, f"account-{number}-{method}")
                        table[name, title] = "ok"
                        if limit:
                            faults.append(f"{name}, {title}: it works, although LIMITS says: {limit}")
                    except Exception as error:  # One cell must not hide the others.
                        table[name, title] = "limit" if limit else "FAILED"
                        text = f"{type(error).__name__}: {' '.join(str(error).split())[:700]}"
                        if not limit:
                            faults.append(f"{name}, {title}: {text}")
                    print(f"{table[name, title]:<7} matrix: {name}, {title}", flush=True)
        finally:
            cells.stop()
    clients = list(names or CLIENTS)
    print("\n| Client | " + " | ".join(CELLS) + " |\n|---" * 1 + "|---" * len(CELLS) + "|")
    for name in clients:
        print(f"| {name} | " + " | ".join(table[name, title] for title in CELLS) + " |")
    for (name, title), limit in LIMITS.items():
        if name in clients:
            print(f"limit: {name}, {title}: {limit}")
    for fault in faults:
        print(f"FAILED  {fault}")
    held = sum(cell != "FAILED" for cell in table.values())
    print(f"matrix: {held} of {len(table)} cells hold, {len(faults)} faults", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
