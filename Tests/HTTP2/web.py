"""Connect, gRPC-Web, server-sent events, CORS and TLS by curl against a real server. Rules are those of the unit tests."""
import base64
import gzip
import json
import socket
import struct
import subprocess
import sys

import certificates
from checks import check, equal, summary
from curl import curl
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS

STATUS = "/perch.v1.EntitlementService/GetSubscriptionStatus"
WATCH = "/perch.v1.EntitlementService/SubscriptionStatusTask"
PRODUCTS = "/perch.v1.EntitlementService/GetProducts"
BUY = "/perch.v1.TransactionService/Purchase"
OPERATE = "/perch.v1.TestStoreService/Operate"
CHANGES = "/perch.v1.EntitlementService/AppChanges"
COPY = "/perch.v1.EntitlementService/AppEntitlements"
GRANT = "/perch.v1.AdminService/GrantEntitlement"


def raw(port, request, until=b""):
    """What a server answers to bytes, until it closes or says something."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
            if until and until in answer:
                break
    return answer


def connect(port):
    for name, version in (("HTTP/1.1", "--http1.1"), ("HTTP/2", "--http2-prior-knowledge")):
        with check(f"connect: a unary call in JSON over {name}"):
            status, head, body = curl(port, STATUS, version, data='{"account":"alice","groupId":"premium"}')
            equal((status, head["content-type"]), (200, "application/json"), "status and type")
            assert "success" in json.loads(body), body
        with check(f"connect: an error has code, text and details over {name}"):
            status, head, body = curl(port, STATUS, version, data='{"account":"alice"}')
            error = json.loads(body)
            equal((status, error["code"]), (400, "invalid_argument"), "status and code")
            equal([each["type"] for each in error["details"]], ["google.rpc.ErrorInfo", "google.rpc.BadRequest"], "details")
            assert b"FIELD_MISSING" in base64.b64decode(error["details"][0]["value"] + "==")
        with check(f"connect: a wrong field and wrong JSON are named over {name}"):
            status, _, body = curl(port, STATUS, version, data='{"acount":"alice"}')
            equal(status, 400, "the status")
            assert "account" in json.loads(body)["message"], body
            equal(curl(port, STATUS, version, data='{"account":')[0], 400, "the status")
        with check(f"connect: a read as GET over {name}"):
            query = "?connect=v1&encoding=json&message=%7B%22account%22%3A%22alice%22%2C%22groupId%22%3A%22premium%22%7D"
            status, _, body = curl(port, STATUS + query, version)
            equal(status, 200, "the status")
            assert "success" in json.loads(body), body
            status, _, body = curl(port, STATUS + "?account=alice&groupId=premium", version)
            equal(status, 200, "the status by names")
            status, _, body = curl(port, PRODUCTS + "?productIds=com.example.monthly&productIds=x", version)
            equal(json.loads(body)["success"]["unavailableIds"], ["x"], "a list by names")
            equal(curl(port, BUY + "?account=alice", version)[0], 405, "a purchase by GET")
        with check(f"connect: answers are compressed where that is accepted over {name}"):
            ids = json.dumps({"productIds": [f"none-{n:05}" for n in range(400)]})
            _, plain, body = curl(port, PRODUCTS, version, data=ids)
            assert "content-encoding" not in plain, plain
            _, head, packed = curl(port, PRODUCTS, version, "-H", "accept-encoding: br, gzip;q=0.5", data=ids)
            equal(head["content-encoding"], "gzip", "the encoding")
            assert len(packed) < len(body) // 2, len(packed)
            # The positions differ, because the clock runs.
            equal(json.loads(gzip.decompress(packed))["success"], json.loads(body)["success"], "the answer")
            _, head, _ = curl(port, PRODUCTS, version, "-H", "accept-encoding: gzip;q=0", data=ids)
            assert "content-encoding" not in head, head
            _, head, _ = curl(port, PRODUCTS, version, "-H", "accept-encoding: gzip", data='{"productIds":["x"]}')
            assert "content-encoding" not in head, "a short answer is not compressed"
            message = ids.encode()
            _, head, body = curl(port, PRODUCTS.replace("GetProducts", "ProductsTask"), version, "-H",
                                 "connect-accept-encoding: gzip", until=two, kind="application/connect+json",
                                 data=b"\0" + struct.pack(">I", len(message)) + message)
            equal(head["connect-content-encoding"], "gzip", "the encoding of the stream")
            messages = list(envelopes(body))
            equal([flag for flag, _ in messages[:2]], [0, 1], "the flags")
            assert "success" in json.loads(gzip.decompress(messages[1][1]))
        with check(f"connect: a purchase in JSON over {name}"):
            status, _, body = curl(port, BUY, version,
                                   data='{"account":"c-1","order":{"productId":"com.example.coins"}}')
            equal(status, 200, "the status")
            assert json.loads(body)["position"]["revision"], body
        with check(f"connect: a stream in JSON over {name}"):
            message = b'{"account":"c-2","groupId":"premium"}'
            _, head, body = curl(port, WATCH, version, data=b"\0" + struct.pack(">I", len(message)) + message,
                                 kind="application/connect+json", until=two)
            equal(head["content-type"], "application/connect+json", "the type")
            messages = list(envelopes(body))
            # A bookmark may follow.
            equal([flag for flag, _ in messages[:2]], [0, 0], "the flags")
            equal(json.loads(messages[0][1]), {"loading": {}}, "the first message")
            assert "success" in json.loads(messages[1][1])
        with check(f"connect: a stream that is refused ends with an envelope over {name}"):
            _, _, body = curl(port, WATCH, version, data=b"\0\0\0\0\2{}", kind="application/connect+json")
            (flag, end), = envelopes(body)
            equal((flag, json.loads(end)["error"]["code"]), (2, "invalid_argument"), "the end")
        with check(f"gRPC-Web: message and trailers over {name}"):
            request = b"\x12\x05alice\x1a\x07premium"
            status, head, body = curl(port, STATUS, version, data=b"\0" + struct.pack(">I", len(request)) + request,
                                      kind="application/grpc-web+proto")
            equal((status, head["content-type"]), (200, "application/grpc-web+proto"), "status and type")
            messages = list(envelopes(body))
            equal([flag for flag, _ in messages], [0, 0x80], "the flags")
            assert messages[1][1].startswith(b"grpc-status: 0\r\n"), messages
        with check(f"form encoding gets 415 with the right types over {name}"):
            status, head, text = curl(port, STATUS, version, data="account=alice", kind="application/x-www-form-urlencoded")
            equal(status, 415, "the status")
            assert f"-d '{{…}}' 127.0.0.1:{port}{STATUS}".encode() in text, text
            assert "application/json" in head["accept-post"]
    with check("connect: curl sends a long body with Expect: 100-continue, and a long first request"):
        body = json.dumps({"productIds": [f"product-{n}" for n in range(4_000)]})
        # By itself curl sends the body after a second, and then a server that stood still has nothing to ask for.
        patient = "--expect100-timeout", str(PATIENCE_SECONDS)
        status, _, answer = curl(port, PRODUCTS, "--http1.1", "-H", "expect: 100-continue", *patient, data=body)
        answer = answer.partition(b"\r\n\r\n")[2] if status == 100 else b""
        equal(len(json.loads(answer)["success"]["unavailableIds"]), 4_000, "the unavailable")
    for name in ("gzip", "deflate"):
        for version in ("--http1.1", "--http2-prior-knowledge"):
            with check(f"connect: an answer compressed with {name}, {version}"):
                _, head, answer = curl(port, PRODUCTS, version, "--compressed", "-H", f"accept-encoding: {name}", data=body)
                equal(head["content-encoding"], name, "the encoding")
                equal(len(json.loads(answer)["success"]["unavailableIds"]), 4_000, "the unavailable")
    with check("connect: health in JSON"):
        equal(json.loads(curl(port, "/grpc.health.v1.Health/Check", data="{}")[2]), {"status": "SERVING"}, "the answer")
    with check("connect: one HTTP/1.1 connection takes call after call"):
        request = post(STATUS, b'{"account":"alice","groupId":"premium"}')
        answer = raw(port, request * 3 + post(STATUS, b"{}", "connection: close\r\n"))
        equal(answer.count(b"HTTP/1.1 200"), 3, "the answers")
        equal(answer.count(b"HTTP/1.1 400"), 1, "the refusal")


def two(body):
    """Whether two whole messages have come."""
    return len(list(envelopes(body))) >= 2


def events_in(body):
    """Identifiers and values of the whole events. A bookmark may come behind each, and is left out."""
    for block in body.split(b"\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
        if "data" in fields and "bookmark" not in (value := json.loads(fields["data"])):
            yield fields.get("id"), value


def events_of(count):
    """Whether so many of them have come."""
    return lambda body: len(list(events_in(body))) >= count


def envelopes(body):
    while len(body) >= 5 and len(body) >= 5 + struct.unpack(">I", body[1:5])[0]:
        flag, length = body[0], struct.unpack(">I", body[1:5])[0]
        yield flag, body[5:5 + length]
        body = body[5 + length:]


def post(path, body, more="", host="127.0.0.1"):
    return (f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"{more}\r\n").encode() + body


def events(port):
    with check("events: a watch as text/event-stream, resumed by Last-Event-ID"):
        path = WATCH + "?account=e-1&groupId=premium"
        _, head, body = curl(port, path, "--http1.1", "--no-buffer", "-H", "accept: text/event-stream", until=events_of(2))
        equal(head["content-type"], "text/event-stream", "the type")
        first, (identifier, second), *_ = events_in(body)
        equal(first, (None, {"loading": {}}), "the first event")
        assert "success" in second, second
        _, _, body = curl(port, path, "--http1.1", "-H", "accept: text/event-stream", "-H",
                          f"last-event-id: {identifier}", until=events_of(1))
        assert '"unchanged"' in body.decode(), body
    with check("events: a change is pushed"):
        request = (f"GET {WATCH}?account=e-2&groupId=premium HTTP/1.1\r\nhost: localhost\r\n"
                   "accept: text/event-stream\r\n\r\n").encode()
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
            connection.sendall(request)
            seen = b""

            def more():
                part = connection.recv(65_536)
                assert part, f"the stream ended after {seen}"
                return part

            while seen.count(b"data: ") < 2:
                seen += more()
            equal(curl(port, BUY, data='{"account":"e-2","order":{"productId":"com.example.monthly"}}')[0], 200, "the buy")
            while b"com.example.monthly" not in seen:
                seen += more()
    with check("events: the changes of an app go on from the identifier of the last event"):
        accept = ("--http1.1", "--no-buffer", "-H", "accept: text/event-stream")

        def changes(count, query, *more):
            _, _, body = curl(port, CHANGES + query, *accept, *more, until=events_of(count))
            return list(events_in(body))

        (start, first), = changes(1, "")
        assert set(first) == {"position", "cursor"}, first
        for account in ("f-1", "f-2", "f-3"):
            order = {"account": account, "order": {"productId": "com.example.monthly"}}
            equal(curl(port, BUY, data=json.dumps(order))[0], 200, "the buy")
        again, *heard = changes(4, "", "-H", f"last-event-id: {start}")
        equal(again[0], start, "where it goes on")
        equal([change["account"] for _, change in heard], ["f-1", "f-2", "f-3"], "the accounts")
        equal(heard[0][1]["entitlements"][0]["productId"], "com.example.monthly", "the entitlement")
        equal(changes(2, "", "-H", f"last-event-id: {heard[1][0]}")[1:], heard[2:], "what follows the second")
        refund = {"account": "f-2", "operation": {"refund": {"target": {"productId": "com.example.monthly"}}}}
        equal(curl(port, OPERATE, data=json.dumps(refund))[0], 200, "the refund")
        _, (_, refunded) = changes(2, "?causes=CAUSE_REFUND", "-H", f"last-event-id: {start}")
        equal(refunded["account"], "f-2", "the account of the first change of another cause")
    with check("events: a copy of all entitlements goes on from the identifier of the last event"):
        def parts(count, *more):
            _, _, body = curl(port, COPY, *accept, *more, until=events_of(count))
            return list(events_in(body))

        equal(curl(port, GRANT, data='{"account":"copied","name":"plus"}')[0], 200, "the grant")
        begun, filled, ended = parts(3)
        assert "begin" in begun[1] and begun[0] is None and filled[0] is None, (begun, filled)
        equal(base64.b64decode(filled[1]["accounts"]["keys"]), b"copied", "the account")
        assert "end" in ended[1] and ended[0], ended
        equal(curl(port, GRANT, data='{"account":"copied-too","name":"plus"}')[0], 200, "the grant")
        again, change = parts(2, "-H", f"last-event-id: {ended[0]}")
        equal(again[1]["begin"]["resumed"], True, "whether it goes on")
        equal(base64.b64decode(change[1]["accounts"]["keys"]), b"copied-too", "the account")
    with check("events: a token in an address is refused"):
        equal(curl(port, WATCH + "?account=a&groupId=g&access_token=x", "-H", "accept: text/event-stream")[0], 400, "it")
    with check("events: a stream without Accept is refused with the right call"):
        status, _, body = curl(port, WATCH + "?account=a&groupId=g")
        equal(status, 406, "the status")
        assert b"text/event-stream" in body, body


def across():
    server = Server(PERCH, CATALOG, "memory", WORK / "across.log", "--allow-origin", "https://app.example.com")
    server.start()
    origin = ["-H", "origin: https://app.example.com"]
    with check("CORS: the origins of the setting are answered, preflight included"):
        status, head, _ = curl(server.port, STATUS, "-X", "OPTIONS", *origin, "-H", "access-control-request-method: POST")
        equal((status, head["access-control-allow-origin"]), (204, "https://app.example.com"), "the preflight")
        assert "content-type" in head["access-control-allow-headers"]
        status, head, _ = curl(server.port, STATUS, *origin, data='{"account":"alice","groupId":"premium"}')
        equal((status, head["access-control-allow-origin"]), (200, "https://app.example.com"), "the call")
        status, head, _ = curl(server.port, STATUS, *origin, data='{"account":""}')
        equal((status, head["access-control-allow-origin"]), (400, "https://app.example.com"), "the refusal")
        equal(curl(server.port, STATUS, "-H", "origin: https://other.example.com", data="{}")[0], 403, "another origin")
    equal(server.stop(), 0, "the exit status")


def agreed():
    """Stock libraries for HTTP/2 and TLS agree with the server."""
    authority = certificates.Authority(WORK)
    pem, key = authority.sign("server", names="DNS:localhost,IP:127.0.0.1")
    server = Server(PERCH, CATALOG, "memory", WORK / "secure.log", "--tls-certificate", pem, "--tls-key", key)
    server.start()
    with check("TLS chooses h2 by ALPN, and http/1.1 for those that have nothing else"):
        for offered, chosen in (("--http2", "2"), ("--http1.1", "1.1")):
            out = subprocess.run(["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_version} %{http_code}", offered, "--cacert",
                                  authority.pem("authority"), f"https://localhost:{server.port}{STATUS}?account=a&groupId=premium"],
                                 capture_output=True, text=True)
            equal(out.stdout, f"{chosen} 200", "version and status")
    equal(server.stop(), 0, "the exit status")


if __name__ == "__main__":
    with Server(PERCH, CATALOG, "memory", WORK / "web.log") as server:
        server.start()
        connect(server.port)
        events(server.port)
        equal(server.stop(), 0, "the exit status")
    across()
    agreed()
    sys.exit(summary("web"))
