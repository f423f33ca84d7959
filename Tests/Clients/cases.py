"""The cases of the conformance trial. Each function plays one story with one client, and fills its rows of the table."""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess

from certificates import Authority
from driver import Agent, Client, Proxy, Refused
from server import Server
from waiting import PATIENCE_SECONDS, free_port, given_time, until

GROUP, PRODUCT = "premium", "com.example.monthly"
NAMED = {"entitlements": [{"name": "plus", "from": [{"group": GROUP}]}]}
OWNED = {"account": "alice"}


class Trial:
    """One client's run: its servers, its agent, and the rows that held."""

    def __init__(self, perch, catalog, work, agent):
        self.perch, self.work, self.rows, self.command = perch, pathlib.Path(work), {}, agent
        self.catalog = self.work / "catalog.storekit"
        shutil.copy(catalog, self.catalog)
        (self.work / "catalog.entitlements.json").write_text(json.dumps(NAMED))
        self.server = Server(perch, self.catalog, self.work / "store", self.work / "server.log", loops=1)
        self.agent = Agent(agent)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.port}"

    @contextlib.contextmanager
    def row(self, name):
        try:
            yield
        except Exception as error:  # One row must not hide the others.
            self.rows[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"
        else:
            self.rows[name] = "holds"

    def client(self, url=None, **options):
        return Client(self.agent, url or self.url, **options)

    def run(self, *arguments):
        ended = subprocess.run([self.perch, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ended.returncode == 0, f"perch {arguments}: {ended.stderr or ended.stdout}"
        return ended.stdout


def equal(found, wanted, what="it"):
    assert found == wanted, f"{what} is {found!r}, not {wanted!r}"


def buy(client, account, product=PRODUCT):
    return client.call("Purchase", account=account, order={"productId": product})


def grant(client, account, name="plus"):
    return client.call("GrantEntitlement", account=account, name=name)


def plus(value):
    return [each.get("active", False) for each in value["entitlements"] if each["name"] == "plus"] == [True]


def http(status, body=""):
    return f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()


# MARK: Calls


def calls(trial):
    client = trial.client()
    with trial.row("a call is answered"):
        assert not plus(client.call("GetEntitlements", account="calls")["success"])
    with trial.row("every method is called, and answered by the server"):
        for method in trial.methods:
            try:
                client.call(method, account="calls") if "account" in trial.fields[method] else client.call(method)
            except Refused as refused:
                assert refused.error["reason"] in trial.reasons, f"{method}: {refused.error}"
    with trial.row("read your own purchase: `at_least`"):
        position = buy(client, "own")["position"]
        assert plus(client.call("GetEntitlements", account="own", atLeast=position)["success"])
    with trial.row("a final error has its reason and its details, and is not repeated"):
        proxy = Proxy(trial.server.port)
        error = trial.client(proxy.url).refused("GetEntitlements", account="a" * 300)
        equal((error["reason"], error["final"], error["details"]["limit"]), ("ACCOUNT_KEY", True, "255"))
        equal(proxy.requests, 1, "the number of requests")
        proxy.close()
    with trial.row("the deadline of a call"):
        error = client.refused("GetEntitlements", 0.5, account="calls", atLeast={"revision": "1000000"})
        assert error["reason"] in ("BEHIND", "DEADLINE") and not error["final"], error
        proxy = Proxy(trial.server.port, "mute")
        late = trial.client(proxy.url)

        def ended(seconds):
            error = late.refused("Purchase", seconds, account="late", order={"productId": PRODUCT})
            equal((error["reason"], error["final"]), ("DEADLINE", False))
            return proxy.requests and error["mayHaveHappened"]
        given_time(ended, 0.5)
        proxy.close()
    with trial.row("a method that the server does not know: an error with the server's version"):
        try:
            trial.agent.ask("unknown", client=client.name, path="/perch.v1.EntitlementService/OfTheNextVersion")
            raise AssertionError("it was answered")
        except Refused as refused:
            equal((refused.error["reason"], refused.error["final"]), ("UNKNOWN_METHOD", True))
            assert "older than this client" in refused.error["message"] and refused.error["details"]["server_version"], refused.error
    with trial.row("cancel: a closed client ends its calls"):
        proxy = Proxy(trial.server.port, "mute")
        other = trial.client(proxy.url)
        number = other.begin("GetEntitlements", account="calls")
        until(lambda: proxy.requests, "the request")
        other.close()
        try:
            trial.agent.end(number)
            raise AssertionError("it was answered")
        except Refused as refused:
            equal(refused.error["reason"], "CLOSED")
        proxy.close()


def lost_answers(trial):
    client = trial.client()
    with trial.row("a purchase whose answer is lost is repeated with its key, and happens once"):
        proxy = Proxy(trial.server.port, "lose")
        number = trial.client(proxy.url, attempts=1_000).begin("Purchase", account="once", order={"productId": "com.example.coins"})
        until(lambda: proxy.requests >= 2, "the second attempt")
        proxy.mode = "pass"
        equal(trial.agent.end(number)["result"], "PURCHASE_RESULT_SUCCESS")
        equal(len(client.call("ListTransactions", account="once")["transactions"]), 1, "the number of transactions")
        proxy.close()
    with trial.row("a change without a key is sent once: `may_have_happened`"):
        proxy = Proxy(trial.server.port, "lose")
        error = trial.client(proxy.url).refused("SetClock", advanceByMs="1")
        equal((error["mayHaveHappened"], error["final"], proxy.requests), (True, False, 1))
        proxy.close()
    with trial.row("a read whose answer is lost is repeated"):
        proxy = Proxy(trial.server.port, "lose")
        number = trial.client(proxy.url, attempts=1_000).begin("GetClock")
        until(lambda: proxy.requests >= 2, "the second attempt")
        proxy.mode = "pass"
        trial.agent.end(number)
        proxy.close()
    with trial.row("the 502 of a proxy is repeated"):
        proxy = Proxy(trial.server.port, http("502 Bad Gateway"))
        number = trial.client(proxy.url, attempts=1_000).begin("GetClock")
        until(lambda: proxy.requests >= 1, "the first attempt")
        proxy.mode = "pass"
        trial.agent.end(number)
        proxy.close()


def wrong_ports(trial):
    with trial.row("wrong port, nobody listens: a call ends with the reason, and nothing has happened"):
        error = trial.client(f"http://127.0.0.1:{free_port()}").refused("Purchase", account="a", order={"productId": PRODUCT})
        equal((error["reason"], error["final"], error["mayHaveHappened"]), ("CONNECT_FAILED", False, False))
    with trial.row("wrong port, nobody listens: a watch ends after the time that was asked for"):
        # The first pause is a second at most, so there is a second attempt.
        lines = len(trial.agent.log)
        stream = trial.client(f"http://127.0.0.1:{free_port()}").watch("EntitlementsTask", OWNED, failAfter=5)
        equal(stream.value("error")["reason"], "CONNECT_FAILED")
        trial.agent.logged("tries again", lines, 2)
    with trial.row("wrong port, another server: a final error names what it says"):
        for said, reason in ((b"SSH-2.0-OpenSSH_9.2\r\n", "PROTOCOL_BREACH"), (http("404 Not Found", "no"), "HTTP_STATUS"),
                             (http("200 OK", "hello"), "PROTOCOL_BREACH")):
            proxy = Proxy(0, said)
            error = trial.client(proxy.url).refused("GetClock")
            equal((error["reason"], error["final"]), (reason, True))
            error = trial.client(proxy.url).watch("EntitlementsTask", OWNED).value("error")
            equal((error["reason"], error["final"]), (reason, True))
            proxy.close()


# MARK: Streams


def values(trial):
    client = trial.client()
    with trial.row("the first value of every watch"):
        for method, request in {
            "ProductsTask": {"productIds": [PRODUCT]}, "SubscriptionStatusTask": {**OWNED, "groupId": GROUP},
            "CurrentEntitlementTask": {**OWNED, "productId": PRODUCT}, "EntitlementsTask": OWNED, "PurchaseIntents": OWNED,
            "Messages": OWNED,
        }.items():
            client.watch(method, request).value()
    with trial.row("each change is one value"):
        stream = client.watch("EntitlementsTask", {"account": "changes"})
        for active in (False, True, False):
            equal(plus(stream.value()), active)
            if not active:
                grant(client, "changes")
            else:
                client.call("RevokeGrant", account="changes", name="plus")
    with trial.row("a final error ends a watch"):
        error = client.watch("EntitlementsTask", {"account": "a" * 300}).value("error")
        equal((error["reason"], error["final"]), ("ACCOUNT_KEY", True))
    with trial.row("a slow reader gets the newest value, and its server serves others"):
        stream = client.watch("EntitlementsTask", {"account": "slow"})
        stream.value()
        stream.do("hold")
        for number in range(40):
            grant(client, "slow", f"name-{number}")
        grant(client, "slow")
        # Others get it meanwhile: on its own client, and on another one.
        for each in (client, trial.client()):
            equal(len(each.watch("EntitlementsTask", {"account": "slow"}).until(plus)[0]["entitlements"]), 41, "the number of names")
        assert len(trial.agent.reports[stream.name]) <= 2, "the reader that was held went on"
        stream.do("go")
        seen = []
        while not seen or not seen[-1][1]:
            value = stream.value()
            seen.append((len(value["entitlements"]), plus(value)))
        equal(seen, sorted(set(seen)), "the order of the values, none of them twice,")
        equal(seen[-1][0], 41, "the number of names")
    with trial.row("a closed watch ends, and says nothing more"):
        stream = client.watch("EntitlementsTask", {"account": "closed"})
        stream.value()
        stream.do("close")
        equal(stream.next().get("ended"), True)
        grant(client, "closed")
        client.watch("EntitlementsTask", {"account": "closed"}).until(plus)
        equal(len(trial.agent.reports[stream.name]), stream.taken, "the number of reports")
    with trial.row("events of transactions: the unfinished first, then each once, and on from a cursor"):
        first = buy(client, "events")["transaction"]["transaction"]["id"]
        updates = client.events("TransactionUpdates", {"account": "events"}, progress=True)
        equal(updates.value("event")["transaction"]["transaction"]["id"], first)
        cursor = updates.next()["cursor"]
        client.call("RequestRefund", account="events", transactionId=first)
        equal(updates.value("event")["kind"], "TRANSACTION_EVENT_KIND_REVOKED")
        again = client.events("TransactionUpdates", {"account": "events", "cursor": cursor})
        equal(again.value("event")["kind"], "TRANSACTION_EVENT_KIND_REVOKED")


def unchanged(server):
    """Watches that came back with a token whose value was still right."""
    return sum(metric.get("value", 0) for metric in server.call("GetServerStatus")[1]["metrics"]
               if metric["name"] == "perch_watches_resumed_total" and "unchanged" in metric.get("labels", ""))


def restarts(trial):
    """The server dies, and is away; the streams go on. Each step has streams of its own, because pauses grow with each loss."""
    client, port = trial.client(attempts=1_000), trial.server.port
    changed = client.watch("EntitlementsTask", {"account": "away"})
    both = client.together(status=("SubscriptionStatusTask", {"account": "away", "groupId": GROUP}),
                           product=("CurrentEntitlementTask", {"account": "away", "productId": PRODUCT}))
    changes = client.events("AppChanges", {}, progress=True)
    changed.value(), both.value("together"), changes.value("event")
    grant(client, "before")
    while changes.value("event").get("account") != "before":
        pass
    trial.server.kill()
    with trial.row("a call waits for a server that comes back"):
        number = client.begin("GetEntitlements", account="kept")
        trial.server.start()
        trial.agent.end(number)
    equal(trial.server.port, port)
    buy(client, "away")
    with trial.row("kill -9: a change comes once"):
        equal(plus(changed.value()), True)
    with trial.row("kill -9: values that agree come together"):
        found, count = both.until(lambda states: "transaction" in states["product"]["value"], "together")
        equal((found["status"]["value"]["statuses"][0]["state"], count), ("RENEWAL_STATE_SUBSCRIBED", 1))
    with trial.row("kill -9: no event is left out or repeated"):
        while "account" not in (event := changes.value("event")):
            pass  # Only a cursor: where the stream goes on.
        equal(event["account"], "away")

    client.close()
    client = trial.client()
    kept = client.watch("EntitlementsTask", {"account": "kept"})
    kept.value()
    reports = trial.agent.reports[kept.name]
    trial.server.kill()
    trial.server.start()
    with trial.row("kill -9: a value that has not changed is not repeated"):
        until(lambda: unchanged(trial.server) or len(reports) > 1, "the answer to the watch's token")
        grant(client, "kept")
        equal((plus(kept.value()), len(reports)), (True, 2))

    client.close()
    client = trial.client()
    kept = client.watch("EntitlementsTask", {"account": "kept"})
    with trial.row("a server that stops is followed to the next one"):
        equal(plus(kept.value()), True)
        trial.server.stop()
        trial.server.start()
        client.call("RevokeGrant", account="kept", name="plus")
        equal((plus(kept.value()), len(trial.agent.reports[kept.name])), (False, 2))
    with trial.row("a watch begins before its server"):
        later = Server(trial.perch, trial.catalog, "memory", trial.work / "later.log", loops=1)
        stream = trial.client(f"http://127.0.0.1:{later.port}").watch("EntitlementsTask", OWNED)
        later.start()
        stream.value()
        later.kill()

    client.close()
    client = trial.client()
    trial.run("backup", trial.work / "backup.db", "--server", f"127.0.0.1:{port}")
    kept = client.watch("EntitlementsTask", {"account": "kept"})
    changes = client.events("AppChanges", {})
    epoch = kept.next()["info"]["position"].get("epoch")
    grant(client, "kept")
    equal(plus(kept.value()), True)
    # The stream may have begun behind that.
    until(lambda: grant(client, "seen") and trial.agent.reports[changes.name], "a change")
    cursor = changes.next()["cursor"]
    trial.server.kill()
    trial.run("restore", trial.work / "backup.db", trial.work / "store", "--force")
    trial.server.start()
    with trial.row("restore: a watch shows the restored value, and its new epoch"):
        found = kept.next()
        equal((plus(found["value"]), found["info"]["position"].get("epoch") != epoch), (False, True))
    with trial.row("restore: a cursor of before is a final error"):
        while "error" not in (found := changes.next()):
            pass
        equal((found["error"]["reason"], found["error"]["final"]), ("TOKEN_OTHER_STORE", True))
        error = client.events("AppChanges", {"cursor": cursor}).value("error")
        equal((error["reason"], error["final"]), ("TOKEN_OTHER_STORE", True))


def credentials(trial):
    work = trial.work
    trial.run("token", "key", "create", "--to", work / "main.jwk")

    def token(name, scope="read", **options):
        more = [word for key, value in options.items() for word in (f"--{key}", value)]
        trial.run("token", "create", "--key", work / "main.jwk", "--scope", scope, "--to", work / name,
                  *(more or ["--app", "com.example.app"]))
        return (work / name).read_text().strip()

    server = Server(trial.perch, trial.catalog, "memory", work / "tokens.log", "--token-keys", work / "main.pub.jwk", loops=1)
    server.start()
    url = f"http://127.0.0.1:{server.port}"
    try:
        admin = Client(trial.agent, url, token=token("admin.token", "admin", app="*"))

        def revoke(text):
            body = text.split(".")[1]
            admin.call("RevokeToken", tokenId=json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["jti"])

        with trial.row("no credentials, and credentials without the right: final errors"):
            equal(trial.client(url).refused("GetClock", app={"bundleId": "com.example.app"})["reason"], "UNAUTHENTICATED")
            reader = trial.client(url, token=token("reader.token"))
            error = reader.refused("GrantEntitlement", account="alice", name="plus")
            equal((error["reason"], error["final"], error["mayHaveHappened"]), ("PERMISSION_DENIED", True, False))
            error = trial.client(url, token=token("own.token", account="bob", app="com.example.app")).watch(
                "EntitlementsTask", OWNED).value("error")
            equal((error["reason"], error["final"]), ("PERMISSION_DENIED", True))
        fixed, renewed = token("fixed.token"), token("file.token")
        lone = trial.client(url, token=fixed).watch("EntitlementsTask", OWNED)
        filed = trial.client(url, tokenFile=str(work / "file.token"))
        watch = filed.watch("EntitlementsTask", OWNED)
        admin.call("GrantEntitlement", account="kept", name="plus", app={"bundleId": "com.example.app"})
        copies = [trial.client(url, token=fixed).copy(), filed.copy()]
        lone.value(), watch.value()
        revoke(fixed), revoke(renewed)
        with trial.row("a revoked token ends a watch"):
            error = lone.value("error")
            equal((error["reason"], error["final"]), ("CREDENTIALS_REVOKED", True))
        with trial.row("copy: a revoked token ends its updates with the reason, and it answers from memory"):
            equal(copies[0].refused("reach", position={"revision": "1000000"})["reason"], "CREDENTIALS_REVOKED")
            equal(copies[0].has("kept"), True)
        with trial.row("renewed credentials: the file is read again, and a watch goes on without a repeated value"):
            equal(filed.refused("GetEntitlements", account="alice")["reason"], "CREDENTIALS_REVOKED")
            token("next.token")
            os.replace(work / "next.token", work / "file.token")
            filed.call("GetEntitlements", account="alice")
            admin.call("GrantEntitlement", account="alice", name="plus", app={"bundleId": "com.example.app"})
            equal((plus(watch.value()), len(trial.agent.reports[watch.name])), (True, 2))
        with trial.row("copy: renewed credentials: it continues, and no change is repeated"):
            equal(copies[1].changes(1), [("alice", [], ["plus"])])
        with trial.row("a token that expires in mid-stream ends a watch and a copy; with the file's next token they continue"):
            expiring(trial, url, token, admin)
        with trial.row("a token that was left out of the file for a moment does not end a watch"):
            os.rename(work / "file.token", work / "aside.token")
            lines = len(trial.agent.log)
            server.kill()
            server.start()
            trial.agent.logged("waits for credentials", lines)
            os.rename(work / "aside.token", work / "file.token")
            watch.value()
    finally:
        server.kill()


def expiring(trial, url, token, admin):
    """A token is good for two seconds. Where that is too short to open all on this machine, for four times as long."""
    app = {"bundleId": "com.example.app"}
    for seconds in (2, 8, 32):
        short = token("short.token", app="com.example.app", expires=f"{seconds}s")
        lone, filed = trial.client(url, token=short), trial.client(url, tokenFile=str(trial.work / "short.token"))
        watches = [client.watch("EntitlementsTask", OWNED) for client in (lone, filed)]
        copies = [client.copy(is_ready=False) for client in (lone, filed)]
        alone, waiting = (trial.agent.reports[watch.name] for watch in watches)
        # Opened too late, the watch with the file says nothing. The other one, whose token ends too, says so.
        trial.agent.wait(lambda: alone and (waiting or "error" in alone[-1]), "the first values, or the token's end")
        if waiting and "value" in alone[0]:
            watches[0].value(), watches[1].value()
            break
        lone.close(), filed.close()
    error = watches[0].value("error")
    equal((error["reason"], error["final"]), ("CREDENTIALS_EXPIRED", True))
    equal(copies[0].refused("reach", position={"revision": "1000000"})["reason"], "CREDENTIALS_EXPIRED")
    token("next.token", app="com.example.app")
    os.replace(trial.work / "next.token", trial.work / "short.token")
    position = admin.call("GrantEntitlement", account="alice", name="late", app=app)
    copies[1].reach(position)
    equal(copies[1].has("alice", "late"), True)
    names = [each["name"] for each in watches[1].value()["entitlements"]]
    assert "late" in names, names
    equal(lone.refused("GetEntitlements", account="alice")["reason"], "CREDENTIALS_EXPIRED")
    lone.close(), filed.close()


def encrypted(trial):
    """A private authority, as inside a company."""
    authority = Authority(trial.work)
    certificate, key = authority.sign("server", names="DNS:localhost")
    server = Server(trial.perch, trial.catalog, "memory", trial.work / "tls.log", "--tls-certificate", certificate, "--tls-key", key, loops=1)
    server.start()
    try:
        url, trusted = f"https://localhost:{server.port}", authority.pem(authority.name)
        with trial.row("TLS: a private authority: calls, watches and copies"):
            client = trial.client(url, authority=trusted)
            grant(client, "alice")
            equal(plus(client.watch("EntitlementsTask", OWNED).value()), True)
            copy = client.copy()
            copy.reach(grant(client, "bob"))
            equal((copy.has("alice"), copy.has("bob")), (True, True))
        with trial.row("TLS: another authority, and another name than the certificate's: final errors"):
            for each in (trial.client(url), trial.client(f"https://127.0.0.1:{server.port}", authority=trusted)):
                error = each.refused("GetClock")
                equal((error["reason"], error["final"], error["mayHaveHappened"]), ("TLS_FAILED", True, False))
                equal(each.copy(is_ready=False).refused("ready", timeout=PATIENCE_SECONDS)["reason"], "TLS_FAILED")
        with trial.row("TLS: only one side has it: the error names it"):
            error = trial.client(f"https://localhost:{trial.server.port}").refused("GetClock")
            equal((error["reason"], error["final"]), ("TLS_FAILED", True))
            error = trial.client(f"http://localhost:{server.port}", attempts=1).refused("GetClock")
            equal(error["reason"], "TLS_REQUIRED")
    finally:
        server.kill()


def ends(trial):
    with trial.row("a closed client ends its streams with that reason, and leaves no thread, task or connection"):
        agent = Agent(trial.command)
        before = agent.ask("left")
        client = Client(agent, trial.url)
        streams = [client.watch("EntitlementsTask", OWNED), client.events("AppChanges", {}, progress=True),
                   client.together(one=("EntitlementsTask", OWNED))]
        streams[0].value(), streams[1].value("event"), streams[2].value("together")
        client.call("GetEntitlements", account="alice")
        client.close()
        for stream in streams:
            equal(stream.value("error")["reason"], "CLOSED")
        equal(agent.ask("left"), before, "what is left")
        agent.stop()


def silence(trial):
    """Takes 25 s: two and a half heartbeats."""
    with trial.row(LONG_ROWS[0]):
        proxy = Proxy(trial.server.port)
        stream = trial.client(proxy.url).watch("EntitlementsTask", {"account": "silent"})
        stream.value()
        proxy.silence()
        grant(trial.client(), "silent")
        assert plus(stream.value())
        proxy.close()


# Stories of one line are played one after the other, with one server and one agent.
STORIES = [[calls, lost_answers, values, ends], [restarts], [wrong_ports, credentials, encrypted]]
LONG_STORIES = [[silence]]
LONG_ROWS = ["a dead connection is noticed within 25 s"]
