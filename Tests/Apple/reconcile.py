"""Asking the App Store back: what notifications did not bring is fetched, and the key stays secret.

A server of the App Store Server API runs on loopback, with Apple's paths, tokens, pages, limits and errors. Notifications are
lost, and the state must be that of a store that lost none. `--nodes`: two nodes of one PostgreSQL, of which one asks. Ends only the
servers that it started.
"""

import base64
import datetime
import email.utils
import http.server
import json
import pathlib
import re
import resource
import signal
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from appstore import DAY, AppStore, now
from chains import Chain
from database import Database
from expectations import conclude, expect
from shop import APP, BUNDLE, Shop, trust
from waiting import PATIENCE_SECONDS, until

KEY_ID, ISSUER = "ABC123DEFG", "57246542-96fe-1a63-e053-0824d011072a"
PAGE = 20
# Half of what Apple allows in the sandbox, and what a bucket of one token lets pass beyond it in a second.
ALLOWED_A_SECOND = 2.5
# Requests that Perch has under way at most: they may reach a server after it was told to ask another one.
UNDER_WAY = 8


class ServerAPI:
    """What Perch asks of the App Store, with what went wrong for each test."""

    def __init__(self, public):
        self.public, self.lock = public, threading.Lock()
        self.failed, self.lines, self.asked = [], {}, []
        self.refuses, self.clock_off, self.throttled, self.deliver, self.broken = False, 0, [], None, 0
        self.tests, self.finished = {}, []
        # While it is not set, the notifications are not answered.
        self.answers = threading.Event()
        self.answers.set()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            do_GET = do_POST = do_PUT = lambda self: api.serve(self)

            def log_message(self, *_):
                pass

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(time.time() + api.clock_off, usegmt=True)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def stop(self):
        self.answers.set()
        self.server.shutdown()
        self.server.server_close()

    def admits(self, header):
        """The token is of the key, for this app, and of this hour."""
        try:
            kind, token = header.split(" ")
            head, claims, signature = token.split(".")
            raw = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (head, claims, signature)]
            self.public.verify(
                encode_dss_signature(int.from_bytes(raw[2][:32], "big"), int.from_bytes(raw[2][32:], "big")),
                f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
            head, claims = json.loads(raw[0]), json.loads(raw[1])
        except (ValueError, InvalidSignature):
            return False
        at = time.time() + self.clock_off
        return (kind == "Bearer" and head == {"alg": "ES256", "kid": KEY_ID, "typ": "JWT"} and claims["iss"] == ISSUER
                and claims["aud"] == "appstoreconnect-v1" and claims["bid"] == BUNDLE and claims["iat"] <= at + 60
                and at < claims["exp"] <= claims["iat"] + 3_600)

    def serve(self, request):
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        url = urllib.parse.urlsplit(request.path)
        if url.path.endswith("notifications/history"):
            self.answers.wait()
        with self.lock:
            self.asked.append((time.time(), request.command, url.path))
            more = {}
            if self.refuses or not self.admits(request.headers.get("authorization", "")):
                status, answer = 401, None
            elif self.broken > 0:
                self.broken -= 1
                status, answer = 500, {"errorCode": 5000001, "errorMessage": "try again"}
            elif self.throttled:
                pause = self.throttled.pop()
                status, answer = 429, {"errorCode": 4290000, "errorMessage": "slow down"}
                more = {"retry-after": str(int(time.time() * 1000 + pause))}
            else:
                status, answer = self.answer(request.command, url, json.loads(body) if body else {})
        data = b"Unauthenticated\n" if answer is None else json.dumps(answer).encode()
        request.send_response(status)
        if answer is not None:
            request.send_header("content-type", "application/json")
        for name, value in more.items():
            request.send_header(name, value)
        request.send_header("content-length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def answer(self, method, url, body):
        parts, query = url.path.split("/"), urllib.parse.parse_qs(url.query)
        if (method, url.path) == ("POST", "/inApps/v1/notifications/test"):
            token = f"{uuid.uuid4()}_1"
            self.tests[token] = self.deliver() if self.deliver else None
            return 200, {"testNotificationToken": token}
        if method == "GET" and url.path.startswith("/inApps/v1/notifications/test/"):
            result = self.tests.get(parts[-1])
            if result is None:
                return 404, {"errorCode": 4040008, "errorMessage": "none"}
            return 200, {"signedPayload": "…", "sendAttempts": [{"attemptDate": now(), "sendAttemptResult": result}]}
        if (method, url.path) == ("POST", "/inApps/v1/notifications/history"):
            expect(body.get("onlyFailures") is True and body["startDate"] < body["endDate"], f"failures of a time: {body}")
            expect(now() - body["startDate"] <= 30 * DAY, f"of what the sandbox keeps: {body}")
            first = int(query.get("paginationToken", ["0"])[0])
            page, rest = self.failed[first:first + PAGE], len(self.failed) > first + PAGE
            return 200, {"notificationHistory": [{"signedPayload": one, "sendAttempts": []} for one in page],
                         "hasMore": rest, **({"paginationToken": str(first + PAGE)} if rest else {})}
        if method == "GET" and url.path.startswith("/inApps/v1/subscriptions/"):
            line = self.lines.get(parts[-1])
            if line is None:
                return 404, {"errorCode": 4040010, "errorMessage": "Transaction id not found."}
            return 200, {"environment": "Sandbox", "bundleId": BUNDLE, "data": [
                {"subscriptionGroupIdentifier": "21482145", "lastTransactions": [line]}]}
        if method == "GET" and url.path.startswith("/inApps/v2/history/"):
            line = self.lines.get(parts[-1])
            return 200, {"revision": "1", "hasMore": False, "bundleId": BUNDLE, "environment": "Sandbox",
                         "signedTransactions": [line["signedTransactionInfo"]] if line else []}
        if method == "POST" and url.path.endswith("/finish"):
            self.finished.append(parts[-2])
            return 200, {}
        expect(False, f"Perch asks {method} {url.path}")
        return 404, {}


def walked(node, since=0):
    """Whether it has fetched what failed to its end, after an instant. Another process may have done it before."""
    said = node.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout
    found = re.search(r"notifications that failed were fetched at ([0-9T:.-]+)Z", said)
    return bool(found) and datetime.datetime.fromisoformat(found[1] + "+00:00").timestamp() >= since


def state(node, account):
    """The states of an account's subscriptions."""
    _, answer = node.call("GetSubscriptionStatus", account=account, groupId="plus")
    return [one["state"].removeprefix("RENEWAL_STATE_") for one in answer.get("success", {}).get("statuses", [])]


def line(apple, transaction, status, **renewal):
    """A subscription as the App Store states it."""
    return {"status": status, "originalTransactionId": str(transaction["originalTransactionId"]),
            "signedTransactionInfo": apple.sign(transaction), "signedRenewalInfo": apple.sign(apple.renewal(transaction, **renewal))}


class World:
    def __init__(self, directory, **more):
        self.directory, self.chain = directory, Chain()
        self.apple = AppStore(BUNDLE, chain=self.chain)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.p8 = directory / "AuthKey.p8"
        self.p8.write_bytes(self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self.p8.chmod(0o600)
        self.api = ServerAPI(self.key.public_key())
        trust(directory, self.chain, leeway_minutes=2, server_api={
            "key": "AuthKey.p8", "key_id": KEY_ID, "issuer_id": ISSUER, "base_url": self.api.url})
        self.shop = Shop(directory, http=True, **more)
        self.shop.app = APP
        self.api.deliver = self.deliver_test

    def deliver_test(self):
        """A notification of type TEST, as the App Store posts it."""
        payload = {"notificationType": "TEST", "notificationUUID": str(uuid.uuid4()), "version": "2.0", "signedDate": now(),
                   "data": {"bundleId": BUNDLE, "environment": "Sandbox"}}
        status, _ = self.shop.notify({"signedPayload": self.chain.sign(payload)})
        return "SUCCESS" if status == 200 else "UNSUCCESSFUL_HTTP_RESPONSE_CODE"

    def notification(self, kind, transaction, **more):
        return json.loads(self.apple.notification(kind, transaction, **more))

    def state(self, account):
        return state(self.shop, account)

    def found(self, way):
        return self.shop.metrics().get(f'perch_app_store_found_total{{source="{way}"}}', 0)

    def fetched(self, since=0):
        return walked(self.shop, since)


def main():
    with tempfile.TemporaryDirectory() as name:
        world = World(pathlib.Path(name))
        try:
            lost(world)
            runs(world)
            learned(world)
            secrets(world)
        finally:
            world.shop.kill()
            world.api.stop()


def lost(world):
    """Customers bought and renewed, and no notification came."""
    api, apple, shop = world.api, world.apple, world.shop
    shop.start()
    customers = [f"customer{number}" for number in range(45)]
    tokens = {customer: str(uuid.uuid4()) for customer in customers}
    for customer, token in tokens.items():
        shop.call("AttachAlias", account=customer, appAccountToken=token)
    # All were bought; the App Store could not deliver any of it. One came, and is told again.
    bought = {customer: apple.transaction(1_000 * number, token=tokens[customer]) for number, customer in enumerate(customers, 1)}
    told = [world.notification("SUBSCRIBED", transaction, subtype="INITIAL_BUY") for transaction in bought.values()]
    expect(shop.notify(told[0])[0] == 200, "the first one came")
    # Two subscriptions were submitted after their periods were over. One was renewed, the other one has ended.
    for original, customer in ((900_000, "rita"), (910_000, "egon")):
        old = apple.transaction(original, begin=now() - 40 * DAY, signed=now() - 40 * DAY)
        renewal = apple.renewal(old)
        status, answer = shop.call("SubmitTransaction", account=customer, signedValues=[apple.sign(old), apple.sign(renewal)])
        expect(status == 200, f"a submission is taken: {answer}")
        expect(world.state(customer) == ["EXPIRED"], f"nothing is known of its renewal: {world.state(customer)}")
    again = apple.transaction(900_000, period=1, begin=now() - 10 * DAY)
    ended = apple.transaction(910_000, begin=now() - 40 * DAY)
    expect(world.state(customers[7]) == [], "nothing is known of the others")
    with api.lock:
        api.failed = [one["signedPayload"] for one in told]
        api.lines = {
            "900000": {"status": 1, "originalTransactionId": "900000", "signedTransactionInfo": apple.sign(again),
                       "signedRenewalInfo": apple.sign(apple.renewal(again))},
            "910000": {"status": 2, "originalTransactionId": "910000", "signedTransactionInfo": apple.sign(ended),
                       "signedRenewalInfo": apple.sign(apple.renewal(ended, status=0, expirationIntent=1))}}
        api.throttled, api.broken = [1_500, 700], 2
        api.asked = []
    # A crash in the middle of it changes nothing.
    shop.kill()
    shop.start()
    expect(until(lambda: any(path.endswith("history") for _, _, path in list(api.asked)), None), "it asks for what failed")
    shop.kill()
    since = time.time()
    shop.start()
    expect(until(lambda: world.fetched(since), None), "all pages are fetched")
    expect(until(lambda: world.state("rita") == ["SUBSCRIBED"], None), f"the renewal was found: {world.state('rita')}")
    states = {customer: world.state(customer) for customer in customers}
    expect(all(state == ["SUBSCRIBED"] for state in states.values()), f"every purchase is there: {states}")
    expect(world.state("egon") == ["EXPIRED"], "what has ended stays so")
    # The rate, as the App Store counts it. Every answer counts, refusals too.
    for path in {path if "/subscriptions/" not in path else "/subscriptions/" for _, _, path in api.asked}:
        times = sorted(at for at, _, asked in api.asked if path in asked)
        for first in times:
            count = sum(1 for at in times if first <= at < first + 1)
            # Three starts of the server have a bucket each.
            expect(count <= ALLOWED_A_SECOND + 1 + 2, f"{count} requests in a second to {path}")
    expect(until(lambda: "its test notification arrived" in shop.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout, None),
           "the doctor says that the App Store reaches this server")
    said = shop.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout
    expect("notifications that failed were fetched" in said, f"and what was fetched: {said}")
    # Another one whose renewal no notification told.
    old, next_ = apple.transaction(920_000, begin=now() - 40 * DAY, signed=now() - 40 * DAY), apple.transaction(920_000, period=1, begin=now() - 10 * DAY)
    shop.call("SubmitTransaction", account="sven", signedValues=[apple.sign(old), apple.sign(apple.renewal(old))])
    with api.lock:
        api.lines["920000"] = {"status": 1, "originalTransactionId": "920000", "signedTransactionInfo": apple.sign(next_),
                               "signedRenewalInfo": apple.sign(apple.renewal(next_))}
    expect(shop.stop() == 0, "the server stops")
    # A second start begins where the first one was: an hour before.
    before, since = len(api.asked), time.time()
    shop.start()
    expect(until(lambda: any(path.endswith("history") for _, _, path in api.asked[before:]), None), "it asks again at the start")
    expect(until(lambda: world.fetched(since), None), "and gets the rest")
    expect(world.found("notification") == 0, "what is known is no find")
    expect(until(lambda: world.found("subscription") == 1, None), "what is not known is one")
    expect(world.state("sven") == ["SUBSCRIBED"], f"and it counts: {world.state('sven')}")


def runs(world):
    """Who asks for a run while another one is under way is told the truth, and the audit trail has who began it."""
    api, shop = world.api, world.shop
    api.answers.clear()
    status, begun = shop.call("Reconcile", dryRun=True)
    expect(status == 200 and not begun.get("done"), f"a rehearsal begins: {begun}")
    status, other = shop.call("Reconcile")
    expect(status != 200 and "RECONCILE_RUNNING" in json.dumps(other) and f"run {begun['run']} " in other["message"]
           and ", a rehearsal of what is due;" in other["message"], f"another run is refused, with what is under way: {other}")
    status, same = shop.call("Reconcile", dryRun=True)
    expect(status == 200 and same["run"] == begun["run"], f"one with the same flags follows it: {same}")
    api.answers.set()
    until(lambda: shop.call("Reconcile", run=begun["run"])[1].get("done"), "it ends")
    status, real = shop.call("Reconcile")
    expect(status == 200 and real["run"] != begun["run"], f"then another one begins: {real}")
    audited = lambda: [one for one in shop.call("ListAudit", app=None, pageSize=500)[1]["entries"] if one["method"].endswith("/Reconcile")]
    entries = until(lambda: len(audited()) > 1 and audited(), lambda: f"both are audited: {audited()}")
    expect([one["what"] for one in entries] == ["rehearses what is due", "what is due"], f"once each: {entries}")
    # A scanner on the port of notifications raises no alarm.
    expect(shop.notify({}, path="/")[0] == 404 and shop.notify({}, method="GET")[0] == 405, "what is no notification is refused")
    figures = shop.metrics()
    stray = {name: value for name, value in figures.items() if name.startswith("perch_apple_stray_requests_total")}
    expect(sum(stray.values()) == 2, f"and counted: {stray}")
    expect(not sum(value for name, value in figures.items() if name.startswith("perch_apple_notifications_refused_total")), "as no notification")


def learned(world):
    """What SIGHUP reads of the file takes effect at once, and leaves nothing behind."""
    api, shop, apple = world.api, world.shop, world.apple
    written = json.loads((world.directory / "apple.json").read_text())
    server_api = written["apps"][0].pop("server_api")
    other_key = ec.generate_private_key(ec.SECP256R1())
    (world.directory / "Other.p8").write_bytes(other_key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (world.directory / "Other.p8").chmod(0o600)
    other = ServerAPI(other_key.public_key())
    other.deliver = world.deliver_test
    requests = lambda: sum(value for name, value in shop.metrics().items() if name.startswith("perch_app_store_requests_total"))

    logged = lambda what: sum(f"the apps of the App Store {what}" in line for line in shop.lines)

    def reads(members, says="are those of their file"):
        """The file is written and read. Each line of the log is waited for, so none is taken for that of the next file."""
        app = dict(written["apps"][0], **({"server_api": dict(server_api, **members)} if members is not None else {}))
        (world.directory / "apple.json").write_text(json.dumps({"apps": [app]}))
        lines = logged(says)
        shop.signal(signal.SIGHUP)
        until(lambda: logged(says) > lines, f"the apps of the App Store {says}")

    shop.stop()
    (world.directory / "apple.json").write_text(json.dumps(written))
    before = len(api.asked)
    shop.start()
    status, answer = shop.call("Reconcile")
    expect(status != 200 and "server_api is missing" in answer["message"], f"nothing asks without a key: {answer}")
    limits = pathlib.Path(f"/proc/{shop.process.pid}/limits").read_text()
    expect(re.search(r"Max core file size +0 +0 ", limits), f"a key that comes later is in no core: {limits}")
    # A key that comes.
    since = time.time()
    reads({})
    until(lambda: world.fetched(since), "an app that had no key is asked about")
    expect(len(api.asked) > before, "at its server")
    # A file that says the same begins nothing anew.
    count = requests()
    reads({})
    expect(requests() >= count, "and nothing begins anew")
    # One that cannot be used changes nothing.
    reads({"key": "Nowhere.p8"}, says="stay as they were")
    expect(shop.call("Reconcile", dryRun=True)[0] == 200, "and the one before is still asked with")
    # Another key, at another server. A run for the first one has not asked for all histories yet.
    since = time.time()
    reads({"key": "Other.p8", "base_url": other.url})
    until(lambda: world.fetched(since), "the other server is asked with the other key")
    first = len(api.asked)
    # What is asked for is told, and what waits is not told while it is switched off.
    with other.lock:
        other.broken = 1_000_000
    reads({"key": "Other.p8", "base_url": other.url, "finish_transactions": True})
    bought = apple.transaction(930_000)
    until(lambda: shop.call("SubmitTransaction", account="tina", signedValues=[apple.sign(bought)])[0] == 200, "tina has bought")
    finishes = lambda: [path for _, _, path in list(other.asked) if path.endswith("/finish")]
    until(lambda: shop.call("Finish", account="tina", transactionId=bought["transactionId"])[0] == 200, "it is delivered")
    # Other rules need another sender, and whoever begins to ask looks at once.
    reads({"key": "Other.p8", "base_url": other.url, "finish_transactions": True, "allow_private_addresses": True})
    until(lambda: finishes(), "the App Store is told")
    updates = lambda state: shop.metrics().get(f'perch_app_store_updates{{state="{state}"}}')
    reads({"key": "Other.p8", "base_url": other.url})
    until(lambda: updates("held") == 1, "it is held back")
    told = len(finishes())
    expect(updates("waiting") == 1 and shop.metric("perch_app_store_update_oldest_seconds") == 0, "it waits, and nobody is late")
    said = shop.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout
    expect("held back" in said and "on again: 1 update of purchases" in said, f"the doctor says so: {said}")
    with other.lock:
        other.broken = 0
    expect(len(finishes()) <= told + 1, f"what was under way may have come, and nothing else: {finishes()[told:]}")
    reads({"key": "Other.p8", "base_url": other.url, "finish_transactions": True})
    until(lambda: other.finished == [bought["transactionId"]], "then it is told")
    # A key that is taken away.
    other.refuses = True
    reads({"key": "Other.p8", "base_url": other.url + "/"})
    reads({"key": "Other.p8", "key_id": "WRONG12345", "base_url": other.url})
    until(lambda: shop.metrics().get("perch_app_store_keys_refused") == 1, "a wrong key is counted")
    reads(None)
    until(lambda: requests() == 0 and shop.metric("perch_app_store_keys_refused") == 0, "and not when it is gone")
    said = shop.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout
    expect("server_api is missing" in said and "refused" not in said.split("App Store API")[1].splitlines()[0], f"the doctor has forgotten it: {said}")
    expect(len(api.asked) <= first + UNDER_WAY, f"the first server was not asked any more: {api.asked[first:]}")
    before = len(other.asked)
    since = time.time()
    reads({})
    until(lambda: world.fetched(since), "the first one is asked again")
    expect(len(other.asked) <= before + UNDER_WAY, f"and the other one is not: {other.asked[before:]}")
    other.stop()


def secrets(world):
    """Neither the log nor a page nor an export has the key, and each fault of it has its message."""
    api, shop = world.api, world.shop
    private = world.key.private_numbers().private_value.to_bytes(32, "big")
    pem = b"".join(world.p8.read_bytes().splitlines()[1:-1])
    texts = [shop.page("/status"), shop.page("/metrics"), "\n".join(shop.lines)]
    texts.append(json.dumps(shop.call("ExportAccount", account="rita")[1]))
    needles = [pem[20:60].decode(), base64.b64encode(private).decode()[:20], private.hex()[:20], "Bearer "]
    for text in map(str, texts):
        expect(not any(needle in text for needle in needles), "no text has the key or a token")
    shop.stop()
    for path in world.directory.glob("store.db*"):
        data = path.read_bytes()
        expect(private not in data and pem[20:60] not in data, f"{path.name} does not have the key")

    def refused(says, what):
        shop.start()
        expect(until(lambda: says in shop.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout, None),
               f"{what}: {shop.run('doctor', '--bundle-id', BUNDLE, '--environment', 'sandbox').stdout}")
        expect(until(lambda: any(says in line for line in shop.lines), None), f"the log says it too: {what}")
        shop.stop()

    api.refuses = True
    refused("it was probably revoked", "a key that was accepted before")
    api.clock_off = 3_600
    refused("60 minutes behind", "a clock that is off by an hour")
    api.refuses, api.clock_off = False, 0
    config = json.loads((world.directory / "apple.json").read_text())
    config["apps"][0]["server_api"]["key_id"] = "WRONG12345"
    (world.directory / "apple.json").write_text(json.dumps(config))
    refused("never accepted it", "a wrong key")
    # It may write a core here, and writes none: that would have the key.
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    shop.options["cwd"] = world.directory
    shop.start()
    shop.signal(signal.SIGSYS)  # Swift catches others, to print where it was.
    expect(shop.process.wait(PATIENCE_SECONDS) == -signal.SIGSYS, "it is killed as by a crash")
    expect(not list(world.directory.glob("core*")), f"no core is written: {list(world.directory.iterdir())}")
    for mode, bytes_, says in ((0o644, None, "chmod 600"), (0o600, b"nothing", "holds no private key")):
        if bytes_ is not None:
            world.p8.write_bytes(bytes_)
        world.p8.chmod(mode)
        shop.spawn()
        shop.process.wait(timeout=60)
        expect(shop.process.returncode != 0, f"a start with {says} is refused")
        expect(until(lambda: any(says in line for line in shop.lines), None), f"and says {says}: {shop.lines[-3:]}")


def nodes():
    """Of two nodes one asks the App Store; the other one goes on when that one is gone, also with what was asked and not answered."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        database = Database(directory / "database")
        database.start()
        world = World(directory, store=database.url)
        api, apple = world.api, world.apple
        other = Shop(directory, http=True, store=database.url)
        other.log, other.app = directory / "other.log", APP
        api.deliver = lambda: "SUCCESS"
        asked = lambda node: node.metric("perch_app_store_requests_total")
        lines = [1_000 * number for number in range(1, 13)]
        try:
            world.shop.start()
            # Subscriptions whose end was ahead when it was reported: the index has them, and no other look finds them.
            for original in lines:
                old = apple.transaction(original, begin=now() - 30 * DAY + 2_000, signed=now())
                status, answer = world.shop.call(
                    "SubmitTransaction", account=f"customer{original}", signedValues=[apple.sign(old), apple.sign(apple.renewal(old))])
                expect(status == 200, f"a submission is taken: {answer}")
                next_ = apple.transaction(original, period=1, begin=now() - DAY)
                api.lines[str(original)] = line(apple, next_, 1)
            other.start()
            until(lambda: asked(world.shop) + asked(other) > 0, "one of them asks")
            until(lambda: world.fetched() or walked(other), "and is done")
            expect(asked(world.shop) == 0 or asked(other) == 0, f"the other one does not: {asked(world.shop)}, {asked(other)}")
            first, second = (world.shop, other) if asked(world.shop) else (other, world.shop)
            said = second.run("doctor", "--bundle-id", BUNDLE, "--environment", "sandbox").stdout
            expect("another node of this store asks" in said, f"the doctor of the other one says so: {said}")
            # The App Store is asked, and answers nothing, when the node goes.
            with api.lock:
                api.broken = 1_000_000
            since = time.time()
            first.kill()
            until(lambda: asked(second) > 0, "the other one goes on")
            with api.lock:
                api.broken = 0
            until(lambda: walked(second, since), "and does the same")
            states = lambda: [state(second, f"customer{original}") for original in lines]
            until(lambda: states() == [["SUBSCRIBED"]] * len(lines), lambda: f"each renewal is found: {states()}")
            until(lambda: second.metric("perch_app_store_found_total") == len(lines), "and each was a find of the second one")
        finally:
            world.shop.kill()
            other.kill()
            api.stop()
            database.stop()


nodes() if "--nodes" in sys.argv else main()
conclude("asking the App Store back")
