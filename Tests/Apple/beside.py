"""How late a push is beside 500 requests a second to the App Store. A measurement, and no test: `run --beside [--apps N] [--pushes N]`.

A server knows a test app and production apps with keys, each of which fetches notification history without end, 25 pages a second, half of what the
App Store allows. An App Store on loopback, a process of its own, answers with empty pages. Pushes of the test app are measured in turns:
while that App Store holds its answers back (quiet), while it gives them (beside), and at a server that asks nobody while the first one goes
on asking (elsewhere): what the machine alone makes of it, where all share two cores. Ends only what it started.
"""
import contextlib
import http.server
import json
import multiprocessing
import pathlib
import socketserver
import tempfile
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from server import SERVICE_OF, Server
from trial import PERCH, SAMPLE, options
from waiting import PATIENCE_SECONDS

APP = {"bundleId": "com.example.test", "environment": "ENVIRONMENT_XCODE"}
PLAN, GROUP = "app.perch.plus.monthly", "plus"


def app_store(port, counted, answers):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        page = json.dumps({"notificationHistory": [], "hasMore": True, "paginationToken": "next"}).encode()

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            with counted.get_lock():
                counted.value += 1
            answers.wait(20)
            self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(self.page)}\r\n\r\n".encode() + self.page)

        do_POST = do_PUT = do_GET

    class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True

    with Threads(("127.0.0.1", 0), Handler) as server:
        port.put(server.server_port)
        server.serve_forever()


def measured(server, account, count):
    """Milliseconds from a change to its push, ascending."""
    connection, stream = server.connect(), server.connect()
    call = lambda method, **request: server.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", {"app": APP, **request}, connection=connection)[1]
    id = call("Purchase", account=account, order={"productId": PLAN})["transaction"]["transaction"]["id"]
    stream.request("GET", f"/perch.v1.EntitlementService/SubscriptionStatusTask?account={account}&groupId={GROUP}&app.bundleId={APP['bundleId']}&app.environment={APP['environment']}", headers={"accept": "text/event-stream"})
    events = stream.getresponse()

    def value():
        while True:
            line = events.fp.readline().decode()
            if line.startswith("data: ") and "success" in line:
                return json.loads(line[6:])["success"]["statuses"][0]["renewalInfo"]["renewalInfo"].get("willAutoRenew", False)

    value()
    times = []
    for turn in range(count):
        began = time.perf_counter()
        call("Operate", account=account, operation={"setAutoRenew": {"target": {"transactionId": id}, "enabled": bool(turn % 2)}})
        while value() != bool(turn % 2):
            pass
        times.append((time.perf_counter() - began) * 1_000)
    connection.close()
    stream.close()
    return sorted(times)


def p99(times):
    return times[len(times) * 99 // 100]


def main():
    parser = options(__doc__)
    parser.add_argument("--apps", type=int, default=20)
    parser.add_argument("--pushes", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    port, counted, answers = multiprocessing.Queue(), multiprocessing.Value("Q", 0), multiprocessing.Event()
    apple = multiprocessing.Process(target=app_store, args=(port, counted, answers), daemon=True)
    apple.start()
    url = f"http://127.0.0.1:{port.get(timeout=PATIENCE_SECONDS)}"
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        key = directory / "AuthKey.p8"
        key.write_bytes(ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        key.chmod(0o600)
        bundles = [f"com.example.app{number}" for number in range(given.apps)]
        store = directory / "store.db"
        for number, bundle in enumerate(bundles):
            more = ["--add-app", "--allow-mixed-environments"] if number else []
            with Server(PERCH, SAMPLE, store, directory / "server.log", "--environment", "production", *more, bundle=bundle, time_rate=None) as made:
                made.start()
                made.stop()
        (directory / "apple.json").write_text(json.dumps({"apps": [
            {"bundle_id": bundle, "environment": "production", "app_apple_id": number + 1,
             "server_api": {"key": "AuthKey.p8", "key_id": "KEY", "issuer_id": "issuer", "base_url": url}}
            for number, bundle in enumerate(bundles)]}))
        with Server(PERCH, SAMPLE, store, directory / "server.log", "--environment", "xcode", "--add-app", "--allow-mixed-environments", "--apple-apps",
                    directory / "apple.json", bundle=APP["bundleId"], http=True) as server:
            other = stack.enter_context(Server(PERCH, SAMPLE, directory / "other.db", directory / "other.log", bundle=APP["bundleId"], http=True))
            server.start()
            other.start()
            found = {"quiet": [], "beside": [], "elsewhere": []}
            for turn in range(3 * given.turns):
                kind = list(found)[turn % 3]
                (answers.clear if kind == "quiet" else answers.set)()
                time.sleep(2)  # What was held back is answered, or what was answered is asked again.
                before, began = counted.value, time.perf_counter()
                times = measured(other if kind == "elsewhere" else server, f"{kind}{turn}", given.pushes)
                rate = (counted.value - before) / (time.perf_counter() - began)
                found[kind].append((p99(times), rate))
                print(f"apple: {kind}: p50 {times[len(times) // 2]:.2f} ms, p99 {p99(times):.2f} ms of {given.pushes} pushes beside {rate:.0f} requests a second")
            quiet, beside, elsewhere = (sorted(times)[len(times) // 2][0] for times in found.values())
            print(f"apple: the median p99 is {beside:.2f} ms beside the requests and {quiet:.2f} ms without: {beside / quiet:.2f} times; the aim is "
                  f"at most 1.5. At a server that asks nobody it is {elsewhere:.2f} ms meanwhile, of which {beside / elsewhere:.2f} times")
    apple.terminate()


if __name__ == "__main__":
    main()
