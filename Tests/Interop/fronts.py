"""Every kind of call through proxies that nobody has tuned: nginx with `proxy_pass` alone, HAProxy and Envoy with their defaults.

    fronts.py PERCH CATALOG        without a proxy that this machine has not

nginx speaks HTTP/1.0 to its upstream then, and collects answers before it passes them on unless they say otherwise. HAProxy and
Envoy speak HTTP/1.1, so gRPC itself passes through neither; `proxies.py` has it with HTTP/2 upstreams.
"""
import base64
import gzip
import http.client
import importlib.util
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from checks import check, equal, summary
from server import Server

PATH = "/perch.v1.EntitlementService/"
QUERY = "account={}&groupId=premium"
BUY = "/perch.v1.TransactionService/Purchase"
PRODUCT = "com.example.monthly"


def nginx(work, port, server, listens="", passes="proxy_pass http"):
    (work / "nginx.conf").write_text(f"""daemon off; master_process off; pid {work}/nginx.pid; error_log {work}/nginx.log;
events {{}}
http {{
    access_log off; client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;
    uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
    server {{ listen 127.0.0.1:{port} {listens}; location / {{ {passes}://127.0.0.1:{server}; }} }}
}}
""")
    return [program("nginx"), "-c", work / "nginx.conf"]


def haproxy(work, port, server):
    (work / "haproxy.cfg").write_text(f"""defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend calls
    bind 127.0.0.1:{port}
    default_backend perch
backend perch
    server perch 127.0.0.1:{server}
""")
    return [program("haproxy"), "-db", "-f", work / "haproxy.cfg"]


def envoy(work, port, server):
    kinds = "type.googleapis.com/envoy.extensions"

    def address(number):
        return {"socket_address": {"address": "127.0.0.1", "port_value": number}}

    manager = {
        "@type": f"{kinds}.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "calls",
        "http_filters": [{"name": "envoy.filters.http.router",
                          "typed_config": {"@type": f"{kinds}.filters.http.router.v3.Router"}}],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
            {"match": {"prefix": "/"}, "route": {"cluster": "perch"}}]}]}}
    (work / "envoy.json").write_text(json.dumps({"static_resources": {
        "listeners": [{"name": "calls", "address": address(port), "filter_chains": [
            {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}]}],
        "clusters": [{"name": "perch", "connect_timeout": "5s", "load_assignment": {"cluster_name": "perch", "endpoints": [
            {"lb_endpoints": [{"endpoint": {"address": address(server)}}]}]}}]}}))
    import envoy as package
    binary = next(pathlib.Path(package.__file__).parent.rglob("_bin/envoy"))
    return [binary, "-c", work / "envoy.json", "--base-id", str(port), "--concurrency", "1", "--log-level", "warning"]


def program(name):
    return shutil.which(name) or next(
        (path for path in (f"/usr/sbin/{name}", f"/usr/local/sbin/{name}") if pathlib.Path(path).exists()), None)


FRONTS = {"nginx": nginx, "HAProxy": haproxy, "Envoy": envoy}


def is_here(name):
    return importlib.util.find_spec("envoy") is not None if name == "Envoy" else program(name.lower()) is not None


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def envelope(message):
    return b"\0" + struct.pack(">I", len(message)) + message


class Front:
    """One proxy, asked as a browser, a program and a script would ask the server."""

    def __init__(self, name, port):
        self.name, self.port = name, port

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)

    def ask(self, method, path, body=None, connection=None, **fields):
        connection = connection or self.connect()
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def until_ready(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                if self.ask("GET", PATH + "GetSubscriptionStatus?" + QUERY.format("ready"))[0] == 200:
                    return
            except OSError:
                pass
            assert time.monotonic() < deadline, "the proxy never answered"
            time.sleep(0.1)

    def stream(self, account):
        """An answer whose events are read as they come."""
        connection = self.connect()
        connection.request("GET", PATH + "SubscriptionStatusTask?" + QUERY.format(account), None, {"accept": "text/event-stream"})
        answer = connection.getresponse()
        equal(answer.status, 200, "the status")
        return answer

    def buy(self, account):
        body = json.dumps({"account": account, "order": {"productId": PRODUCT}})
        status, _, text = self.ask("POST", BUY, body, content_type="application/json")
        equal(status, 200, f"the purchase, {text}")

    def checks(self):
        name = self.name
        with check(f"{name}: a read as GET, and one connection for several"):
            connection = self.connect()
            for _ in range(3):
                status, fields, body = self.ask(
                    "GET", PATH + "GetSubscriptionStatus?" + QUERY.format("front"), connection=connection)
                equal(status, 200, "the status")
                assert "success" in json.loads(body) and fields["date"], body
        with check(f"{name}: a read as HEAD"):
            status, _, body = self.ask("HEAD", PATH + "GetSubscriptionStatus?" + QUERY.format("front"))
            equal((status, body), (200, b""), "status and body")
        with check(f"{name}: Connect with JSON, protobuf and gzip, both ways"):
            request = json.dumps({"account": "front", "groupId": "premium"}).encode()
            status, _, body = self.ask(
                "POST", PATH + "GetSubscriptionStatus", gzip.compress(request), content_type="application/json",
                content_encoding="gzip")
            equal(status, 200, f"the status, {body}")
            ids = json.dumps({"productIds": [f"none-{n:05}" for n in range(400)]})
            status, fields, body = self.ask(
                "POST", PATH + "GetProducts", ids, content_type="application/json", accept_encoding="gzip")
            equal((status, fields["content-encoding"]), (200, "gzip"), "status and encoding")
            equal(len(json.loads(gzip.decompress(body))["success"]["unavailableIds"]), 400, "the unavailable")
            status, _, body = self.ask(
                "POST", PATH + "GetSubscriptionStatus", b"\x12\x05front\x1a\x07premium", content_type="application/proto")
            equal((status, bool(body)), (200, True), "status and body")
        with check(f"{name}: a long answer arrives whole"):
            ids = json.dumps({"productIds": [f"p-{n:05}" for n in range(4_000)]})
            status, _, body = self.ask("POST", PATH + "GetProducts", ids, content_type="application/json")
            equal((status, len(json.loads(body)["success"]["unavailableIds"])), (200, 4_000), "status and answer")
        with check(f"{name}: errors keep status, reason and details"):
            status, fields, body = self.ask("GET", PATH + "GetSubscriptionStatus?account=front")
            equal((status, fields["perch-reason"]), (400, "FIELD_MISSING"), "status and reason")
            equal(json.loads(body)["details"][0]["debug"]["reason"], "FIELD_MISSING", "the readable reason")
            equal(self.ask("GET", "/nothing")[0], 404, "the status of nothing")
            status, fields, _ = self.ask("PUT", PATH + "GetProducts", b"{}")
            equal((status, fields["allow"]), (405, "GET, HEAD, POST"), "status and methods")
        with check(f"{name}: gRPC-Web"):
            request = envelope(b"\x12\x05front\x1a\x07premium")
            status, _, body = self.ask(
                "POST", PATH + "GetSubscriptionStatus", request, content_type="application/grpc-web+proto")
            length = struct.unpack(">I", body[1:5])[0]
            equal((status, body[0], body[5 + length]), (200, 0, 0x80), "status and flags")
            assert body[10 + length:].startswith(b"grpc-status: 0\r\n"), body
        with check(f"{name}: a stream of Connect ends with its deadline"):
            request = envelope(json.dumps({"account": "front", "groupId": "premium"}).encode())
            status, _, body = self.ask(
                "POST", PATH + "SubscriptionStatusTask", request, content_type="application/connect+json",
                connect_timeout_ms="700")
            equal(status, 200, "the status")
            messages = []
            while body:
                length = struct.unpack(">I", body[1:5])[0]
                messages.append((body[0], json.loads(body[5:5 + length])))
                body = body[5 + length:]
            equal([flag for flag, _ in messages][-1], 2, "the last flag")
            equal(messages[-1][1]["error"]["code"], "deadline_exceeded", "the end")
            equal(messages[-1][1]["metadata"]["perch-reason"], ["DEADLINE"], "the reason")
        with check(f"{name}: events come as they happen, and resume"):
            account = f"events-{name}"
            answer = self.stream(account)
            seen = self.until(answer, b'"success"')
            self.buy(account)
            seen = self.until(answer, b"RENEWAL_STATE_SUBSCRIBED")
            identifier = next(line[4:] for line in seen.split(b"\n") if line.startswith(b"id: ")).decode()
            answer.close()
            connection = self.connect()
            connection.request("GET", PATH + "SubscriptionStatusTask?" + QUERY.format(account), None,
                               {"accept": "text/event-stream", "last-event-id": identifier})
            self.until(connection.getresponse(), b'"unchanged"')
        with check(f"{name}: a call with credentials in base64 and long metadata"):
            status, fields, _ = self.ask(
                "GET", PATH + "GetSubscriptionStatus?" + QUERY.format("front"), x_note="v" * 4_000,
                perch_client_id_bin=base64.b64encode(b"\1\2\3").decode())
            equal(status, 200, "the status")

    @staticmethod
    def until(answer, wanted):
        """Reads events until one has this; what came."""
        seen, deadline = b"", time.monotonic() + 10
        while wanted not in seen:
            assert time.monotonic() < deadline, f"only {seen!r} came"
            part = answer.read1(65_536)
            assert part, f"the stream ended after {seen!r}"
            seen += part
        return seen


def main(perch, catalog):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        server = Server(perch, catalog, "memory", work / "server.log")
        server.start()
        try:
            for name, configure in FRONTS.items():
                if not is_here(name):
                    print(f"fronts: {name} is not installed", flush=True)
                    continue
                place = work / name
                place.mkdir()
                front = Front(name, free_port())
                log = (place / "out").open("wb")
                process = subprocess.Popen(
                    [str(word) for word in configure(place, front.port, server.port)], cwd=place,
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                try:
                    front.until_ready()
                    front.checks()
                finally:
                    process.kill()
                    process.wait()
        finally:
            server.kill()
    return summary("fronts")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
