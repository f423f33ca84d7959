"""Every kind of call through proxies that nobody has tuned: nginx with `proxy_pass` alone, HAProxy and Envoy with their defaults.

nginx speaks HTTP/1.0 to its upstream then, and collects answers before it passes them on unless they say otherwise. HAProxy and
Envoy speak HTTP/1.1, so gRPC itself passes through neither; `proxies.py` has it with HTTP/2 upstreams.
"""
import base64
import gzip
import http.client
import json
import struct
import sys
import time

from checks import check, equal, summary
from proxy import PROXIES, Proxy, is_here
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until

PATH = "/perch.v1.EntitlementService/"
QUERY = "account={}&groupId=premium"
BUY = "/perch.v1.TransactionService/Purchase"
PRODUCT = "com.example.monthly"


def envelope(message):
    return b"\0" + struct.pack(">I", len(message)) + message


class Front:
    """One proxy, asked as a browser, a program and a script would ask the server."""

    def __init__(self, name, port):
        self.name, self.port = name, port

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def ask(self, method, path, body=None, connection=None, **fields):
        connection = connection or self.connect()
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def until_ready(self):
        def answers():
            try:
                return self.ask("GET", PATH + "GetSubscriptionStatus?" + QUERY.format("ready"))[0] == 200
            except OSError:
                return False
        until(answers, f"{self.name} answers")

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
        seen, deadline = b"", time.monotonic() + PATIENCE_SECONDS
        while wanted not in seen:
            assert time.monotonic() < deadline, f"only {seen!r} came"
            part = answer.read1(65_536)
            assert part, f"the stream ended after {seen!r}"
            seen += part
        return seen


def main():
    with Server(PERCH, CATALOG, "memory", WORK / "fronts.log") as server:
        server.start()
        for name in PROXIES:
            if not is_here(name):
                print(f"fronts: {name} is not installed", flush=True)
                continue
            with Proxy(name, server.port) as proxy:
                front = Front(name, proxy.port)
                front.until_ready()
                front.checks()
    return summary("fronts")


if __name__ == "__main__":
    sys.exit(main())
