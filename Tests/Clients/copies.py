"""The cases of copies: what a client has in its own memory, against what the server says."""
import contextlib
import json
import random
import shutil
import time
import zlib

from cases import Refused, equal, grant, http
from database import Database
from driver import Agent, Client, Proxy
from server import Server
from waiting import PATIENCE_SECONDS, until

WEEKLY, YEARLY, LIFETIME = "com.example.weekly", "com.example.yearly", "com.example.lifetime"
NAMED = [
    {"name": "plus", "from": [{"product": YEARLY, "tier": "gold"}, {"group": "premium", "tier": "silver"}]},
    {"name": "forever", "from": [{"product": LIFETIME}]},
]
# How far from its end a copy may say that an entitlement ends.
EXACT_MS = 100
TWO_SECONDS_A_PERIOD = 1005


class Shop(Server):
    """A server with a catalogue of its own."""

    def __init__(self, trial, name, *more, **options):
        self.folder = trial.work / name
        self.folder.mkdir()
        self.catalog = self.folder / "shop.storekit"
        shutil.copy(trial.catalog, self.catalog)
        self.name(NAMED)
        super().__init__(trial.perch, self.catalog, self.folder / "store", self.folder / "server.log", *more, loops=1, **options)
        self.url = f"http://127.0.0.1:{self.port}"

    def name(self, entitlements):
        (self.folder / "shop.entitlements.json").write_text(json.dumps({"entitlements": entitlements}))


@contextlib.contextmanager
def shop(trial, name, *more, **options):
    server = Shop(trial, name, *more, **options)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def buy(client, account, product):
    return client.call("Purchase", account=account, order={"productId": product})


def operate(client, account, **operation):
    return client.call("Operate", account=account, operation=operation)


def active(value):
    """What a read of the server says: tier and reason by name."""
    return {each["name"]: each.get("tier", "") for each in value["entitlements"] if each.get("active")}


def tiers(held):
    return {name: found["tier"] for name, found in held.items()}


def same_as_server(client, copy, accounts):
    """Every account is asked in both places."""
    whole = copy.do("whole")["accounts"]
    for account in accounts:
        wanted = active(client.call("GetEntitlements", account=account)["success"])
        equal(tiers(whole.get(account, {})), wanted, f"what {account} has in the copy")
    equal(set(whole) - set(accounts), set(), "the accounts that only the copy has")


def punctual(client, proxied):
    """A copy that has read its first word of the server's clock in time, as the end of a grant shows. The next word comes after 10 s."""
    for _ in range(10):
        copy, end = proxied.copy(), now_ms() + 500
        copy.reach(client.call("GrantEntitlement", account="clock", name="plus", untilMs=str(end)))
        if 0 < copy.do("ending", account="clock", name="plus")["lastYes"] <= end + EXACT_MS / 2:
            break
        copy.do("close")
    else:
        copy = proxied.copy()
    return copy


def ends_at(copy, account, name, wanted):
    """The copy says yes until that instant of the machine's clock, and no from it on."""
    found = copy.do("ending", account=account, name=name)
    assert found["lastYes"] <= wanted + EXACT_MS and found["firstNo"] >= wanted - EXACT_MS, f"{name} ended within {found}, not at {wanted}"


def now(client):
    """The app's clock."""
    return int(client.call("GetClock")["clock"]["nowMs"])


def now_ms():
    return int(time.time() * 1_000)


def copies(trial):
    with shop(trial, "copies") as server:
        client = trial.client(server.url)
        accounts = [f"customer-{number}" for number in range(60)] + ["zoë"]
        for number, account in enumerate(accounts):
            buy(client, account, (WEEKLY, YEARLY, LIFETIME, "com.example.coins")[number % 4])
        grant(client, accounts[3], "beta")
        copy = client.copy()
        with trial.row("copy: every account has what the server says"):
            same_as_server(client, copy, [each for number, each in enumerate(accounts) if number % 4 != 3] + [accounts[3]])
        with trial.row("copy: read your own purchase: `wait_for`"):
            copy.reach(buy(client, "own", YEARLY))
            equal(copy.held("own")["plus"]["tier"], "gold")
        with trial.row("copy: a change is reported with the state before and after"):
            equal(copy.changes(1), [("own", [], ["plus"])])
            copy.reach(buy(client, "own", LIFETIME))
            equal(copy.changes(1), [("own", ["plus"], ["forever", "plus"])])
        with trial.row("copy: a purchase for life, and a grant, have no end"):
            equal((copy.held("own")["forever"]["until"], copy.held(accounts[3])["beta"]["until"]), (None, None))
        with trial.row("copy: the end of a subscription is that of the server"):
            (plus,) = [each for each in client.call("GetEntitlements", account="own")["success"]["entitlements"] if each["name"] == "plus"]
            equal(copy.held("own")["plus"]["until"], int(plus["untilMs"]))
        with trial.row("copy: a refund takes effect at once"):
            bought = buy(client, "refund", LIFETIME)["transaction"]["transaction"]["id"]
            copy.reach(client.call("RequestRefund", account="refund", transactionId=bought))
            equal(copy.has("refund", "forever"), False)
        with trial.row("copy: an erased account is gone"):
            copy.reach(grant(client, "erased"))
            assert copy.has("erased")
            copy.reach(client.call("EraseAccount", account="erased"))
            equal((copy.has("erased"), "erased" in copy.do("whole")["accounts"]), (False, False))
        with trial.row("copy: an unknown name is an error with the names that there are"):
            error = copy.refused("has", account="own", name="plsu")
            equal((error["reason"], error["final"]), ("ENTITLEMENT_UNKNOWN", True))
            for name in ("plus", "forever", "beta"):
                assert name in error["message"], error
        with trial.row("copy: a key that no account can have is an error"):
            equal(copy.refused("has", account="a" * 256, name="plus")["reason"], "ACCOUNT_KEY")
            equal(copy.has("nobody"), False)
        with trial.row("copy: only some names"):
            some = client.copy(names=["forever"])
            equal((some.has("own", "forever"), list(some.held("own"))), (True, ["forever"]))
            equal(some.refused("has", account="own", name="plus")["reason"], "ENTITLEMENT_UNKNOWN")
        with trial.row("copy: two shards have each account once"):
            shards = [client.copy(shard=[number, 2]) for number in range(2)]
            parts = [set(shard.do("whole")["accounts"]) for shard in shards]
            equal(parts[0] | parts[1], set(copy.do("whole")["accounts"]))
            for number, part in enumerate(parts):
                equal({zlib.crc32(account.encode()) % 2 for account in part}, {number})
            there = zlib.crc32(b"own") % 2
            assert shards[there].has("own")
            equal(shards[1 - there].refused("has", account="own", name="plus")["reason"], "OTHER_SHARD")
        with trial.row("copy: deadlines: of a copy that does not come, and of a position"):
            proxy = Proxy(server.port, "mute")
            late = trial.client(proxy.url).copy(is_ready=False)
            equal(late.refused("ready", timeout=0.2)["reason"], "DEADLINE")
            equal(late.refused("has", account="own", name="plus")["reason"], "COPY_NOT_READY")
            equal(copy.refused("reach", position={"revision": "1000000"}, timeout=0.2)["reason"], "DEADLINE")
            late.do("close")
            proxy.close()
        with trial.row("copy: a server without the method: an error with the server's version"):
            proxy = Proxy(server.port, renamed=(b"/AppEntitlements", b"/OfALaterVersion"))
            error = trial.client(proxy.url).copy(is_ready=False).refused("ready", timeout=PATIENCE_SECONDS)
            equal((error["reason"], error["final"]), ("UNKNOWN_METHOD", True))
            assert "older than this client" in error["message"] and error["details"]["server_version"], error
            proxy.close()
        with trial.row("copy: another server is a final error"):
            proxy = Proxy(0, http("200 OK", "hello"))
            equal(trial.client(proxy.url).copy(is_ready=False).refused("ready", timeout=PATIENCE_SECONDS)["reason"], "PROTOCOL_BREACH")
            proxy.close()
        with trial.row("copy: a closed copy reports nothing more, and a wait for it ends"):
            other = client.copy()
            number = trial.agent.begin("reach", copy=other.name, position={"revision": "1000000"})
            other.do("close")
            try:
                trial.agent.end(number)
                raise AssertionError("it was reached")
            except Refused as refused:
                equal(refused.error["reason"], "CLOSED")
            before = len(trial.agent.reports[other.name])
            copy.reach(grant(client, "after"))
            equal(len(trial.agent.reports[other.name]), before)
            with contextlib.suppress(Refused):  # A client may answer from its memory, or not at all.
                equal(other.has("after"), False)
        with trial.row("copy: a slow reader gets everything, and its server serves others"):
            slow = trial.client(server.url).copy()
            slow.gate("hold")
            for number in range(80):
                last = grant(client, f"slow-{number}")
            copy.reach(last)
            assert len(trial.agent.reports[slow.name]) <= 1, "the callback that was held was passed"
            slow.gate("go")
            slow.reach(last)
            equal([account for account, _, _ in slow.changes(80)], [f"slow-{number}" for number in range(80)])
        with trial.row("copy: a closed client ends its copies, and leaves no thread, task or connection"):
            agent = Agent(trial.command)
            before = agent.ask("left")
            last = Client(agent, server.url)
            copies = [last.copy(), last.copy(names=["plus"])]
            last.close()
            equal([each.refused("reach", position={"revision": "1000000"})["reason"] for each in copies], ["CLOSED"] * 2)
            equal(agent.ask("left"), before, "what is left")
            agent.stop()


def copies_by_time(trial):
    with shop(trial, "time") as server:
        client = trial.client(server.url)
        proxy = Proxy(server.port)
        copy = punctual(client, trial.client(proxy.url))
        buy(client, "two", WEEKLY)
        end = now_ms() + 2_000
        client.call("GrantEntitlement", account="two", name="plus", tier="gold", untilMs=str(end))
        copy.reach(client.call("GrantEntitlement", account="one", name="plus", untilMs=str(end)))
        assert copy.held("two")["plus"]["tier"] == "gold" or now_ms() >= end, "gold is not there before its end"
        # The network is cut. What follows, the copy knows by itself.
        proxy.cut()
        with trial.row("copy: a segment ends by itself while the network is cut, within 100 ms"):
            ends_at(copy, "one", "plus", end)
        with trial.row("copy: two segments: the tier that follows is there when the first ends"):
            equal(copy.held("two")["plus"]["tier"], "silver")
        proxy.mode = "pass"
        with trial.row("copy: after a cut it continues, with the changes made meanwhile"):
            copy.reach(grant(client, "meanwhile"))
            equal(copy.has("meanwhile"), True)
        with trial.row("copy: the app's clock was moved forward and stands still"):
            copy.reach(client.call("GrantEntitlement", account="hour", name="plus", untilMs=str(now_ms() + 3_600_000)))
            copy.reach(client.call("SetClock", freeze={}))
            assert copy.has("hour")
            copy.reach(client.call("SetClock", advanceByMs="3500000"))
            assert copy.has("hour")
            copy.reach(client.call("SetClock", advanceByMs="200000"))
            equal(copy.has("hour"), False)
        with trial.row("copy: while the app's clock stands still, nothing ends"):
            copy.reach(client.call("GrantEntitlement", account="still", name="plus", untilMs=str(now(client) + 1)))
            time.sleep(0.05)
            assert copy.has("still")
            copy.reach(client.call("SetClock", resume={}))
            copy.do("ending", account="still", name="plus")
        copy.do("close")
        proxy.close()


def copies_by_rate(trial):
    """Each period has two seconds. A subscription renews until the network is cut."""
    with shop(trial, "rate", time_rate=TWO_SECONDS_A_PERIOD) as server:
        client = trial.client(server.url)
        proxy = Proxy(server.port)
        copy = punctual(client, trial.client(proxy.url))
        copy.reach(buy(client, "renewing", YEARLY))
        copy.reach(buy(client, "ending", YEARLY))
        copy.reach(client.call("ManageSubscriptions", account="ending", productId=YEARLY, autoRenew=False))
        with trial.row("copy: at another rate, a subscription that does not renew ends within 100 ms"):
            ends_at(copy, "ending", "plus", copy.held("ending").get("plus", {}).get("until", 0))
        with trial.row("copy: a subscription of a test app goes on over its renewals"):
            first = copy.held("renewing")["plus"]["until"]
            until(lambda: copy.held("renewing").get("plus", {"until": 0})["until"] > first, "the renewal")
            assert not [each for each in trial.agent.reports[copy.name] if each["change"] == "renewing" and "plus" not in each["after"]]
        with trial.row("copy: cut off, it ends an awaited renewal two seconds after the boundary"):
            proxy.cut()
            # On a machine that is slower than that, it has ended before it is asked.
            boundary = copy.held("renewing").get("plus", {}).get("until", 0)
            ends_at(copy, "renewing", "plus", boundary + 2_000)
        with trial.row("copy: a late renewal arrives with the network"):
            proxy.mode = "pass"
            until(lambda: copy.has("renewing"), "the renewal")
        copy.do("close")
        proxy.close()


def copies_over_restarts(trial):
    with shop(trial, "restarts") as server:
        client = trial.client(server.url, attempts=1_000)
        copy = client.copy()
        copy.reach(grant(client, "kept"))
        copy.changes(1)
        server.kill()
        with trial.row("copy: it answers while its server is away"):
            equal((copy.has("kept"), copy.has("nobody")), (True, False))
        server.start()
        with trial.row("copy: kill -9: each change comes once, and nothing is repeated"):
            copy.reach(grant(client, "next"))
            equal(copy.changes(1), [("next", [], ["plus"])])
            equal(len(trial.agent.reports[copy.name]), copy.taken, "the number of changes")
        with trial.row("copy: a server that stops is followed to the next one"):
            server.stop()
            server.start()
            copy.reach(grant(client, "stopped"))
            equal(copy.changes(1), [("stopped", [], ["plus"])])
        client.close()
        client = trial.client(server.url, attempts=1_000)
        copy = client.copy()
        with trial.row("copy: a new file of entitlements begins a new copy, and the old one answers until then"):
            copy.reach(buy(client, "renamed", LIFETIME))
            copy.changes(1)
            server.name([{"name": "always", "from": [{"product": LIFETIME}]}, *NAMED])
            server.signal(1)
            until(lambda: "always" in copy.do("whole")["names"], "the new name")
            equal((copy.has("renamed", "always"), copy.has("renamed", "forever")), (True, True))
            equal(copy.changes(1), [("renamed", ["forever"], ["always", "forever"])])
        with trial.row("copy: a loaded catalogue: the copy is that of the server again"):
            client.call("LoadCatalog", file=__import__("base64").b64encode(server.catalog.read_bytes()).decode(), source="again")
            copy.reach(grant(client, "loaded"))
            same_as_server(client, copy, ["kept", "next", "stopped", "renamed", "loaded"])
        trial.run("backup", server.folder / "backup.db", "--server", f"127.0.0.1:{server.port}")
        copy.reach(grant(client, "lost"))
        epoch = copy.do("whole")["position"].get("epoch")
        server.kill()
        trial.run("restore", server.folder / "backup.db", server.folder / "store", "--force")
        server.start()
        with trial.row("copy: restore: a new copy of the restored store, with its epoch"):
            until(lambda: not copy.has("lost"), "the restored copy")
            assert copy.do("whole")["position"]["epoch"] != epoch
            same_as_server(client, copy, ["kept", "next", "stopped", "renamed", "loaded"])


def copies_in_files(trial):
    with shop(trial, "files") as server:
        work = server.folder
        agent = Agent(trial.command)
        client = Client(agent, server.url)
        copy = client.copy(file=str(work / "copy"))
        for number in range(20):
            grant(client, f"customer-{number}")
        end = now_ms() + 3_600_000
        client.call("GrantEntitlement", account="hour", name="plus", untilMs=str(end))
        copy.reach(client.call("RevokeGrant", account="customer-3", name="plus"))
        until(lambda: (work / "copy").stat().st_size > 0, "the file")
        with trial.row("copy: a second process with the same file reads it, and leaves it alone"):
            second = trial.client(server.url).copy(file=str(work / "copy"))
            second.reach(grant(client, "second"))
            copy.reach(grant(client, "third"))
            assert second.has("customer-5") and second.has("second") and copy.has("second")
            second.do("close")
        # As a crash.
        agent.process.kill()
        agent.process.wait()
        shutil.copy(work / "copy", work / "kept")
        server.kill()

        def offline(name="kept", **more):
            return trial.client(server.url).copy(is_ready=False, file=str(work / name), **more)

        with trial.row("copy: the file of a killed client is enough without a server"):
            found = offline()
            found.do("ready", timeout=PATIENCE_SECONDS)
            equal([found.has(f"customer-{number}") for number in (2, 3, 19)] + [found.has("hour")], [True, False, True, True])
            equal(found.held("hour")["plus"]["until"], end)
        with trial.row("copy: the age of a file's copy counts from the server's last message"):
            shutil.copy(work / "kept", work / "aged")
            assert 0 <= found.do("whole")["age"] < PATIENCE_SECONDS
            found.do("close")
        with trial.row("copy: `deny_after`: without a word for too long, every answer is no"):
            old = offline("aged", denyAfter=0.001)
            old.do("ready", timeout=PATIENCE_SECONDS)
            equal((old.has("customer-2"), old.held("customer-2")), (False, {}))
            old.do("close")
        with trial.row("copy: a damaged file is ignored with a warning"):
            data = bytearray((work / "kept").read_bytes())
            data[data.index(b"customer-")] ^= 1
            (work / "damaged").write_bytes(data)
            lines = len(trial.agent.log)
            damaged = offline("damaged")
            trial.agent.logged("is ignored, and written anew", lines)
            equal(damaged.refused("ready", timeout=0.2)["reason"], "DEADLINE")
        with trial.row("copy: a file of other names is ignored with a warning"):
            lines = len(trial.agent.log)
            other = offline("aged", names=["forever"])
            trial.agent.logged("it is of another copy", lines)
            other.do("close")
        with trial.row("copy: a file that was cut short is read up to there, or ignored with a warning"):
            (work / "short").write_bytes((work / "kept").read_bytes()[:-3])
            lines = len(trial.agent.log)
            short = offline("short")

            def is_read_or_ignored():
                try:
                    return short.has("customer-2")
                except Refused:
                    return any("is ignored, and written anew" in line for line in trial.agent.log[lines:])

            until(is_read_or_ignored, "what is in the file, or a warning")
            short.do("close")
        server.start()
        with trial.row("copy: a file's copy is ready when it has every change that it missed"):
            shutil.copy(work / "kept", work / "behind")
            other = trial.client(server.url)
            for number in range(200):
                grant(other, f"missed-{number}")
            other.call("RevokeGrant", account="hour", name="plus")
            behind = offline("behind")
            behind.do("ready", timeout=PATIENCE_SECONDS)
            equal([behind.has(name) for name in ("hour", "missed-199")], [False, True])
            behind.do("close")
        with trial.row("copy: a damaged file is written again, and a good one continues from its token"):
            damaged.do("ready", timeout=PATIENCE_SECONDS)
            assert damaged.has("customer-2")
            again = trial.client(server.url).copy(file=str(work / "kept"))
            again.reach(grant(trial.client(server.url), "again"))
            equal((again.has("again"), again.has("customer-3")), (True, False))
            until(lambda: (work / "damaged").read_bytes().count(b"customer-") >= 19, "the new file")


def copies_of_the_app_store(trial):
    """An app whose customers have several names."""
    token = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
    with shop(trial, "sandbox", "--environment", "sandbox", "--cursor-revisions", "10", "--cursor-time", "1s", time_rate=None) as server:
        client = trial.client(server.url, attempts=1_000)
        proxy = Proxy(server.port)
        copy = trial.client(proxy.url).copy()
        grant(client, "anonymous-17")
        copy.reach(client.call("GrantEntitlement", account="alice", name="beta"))
        copy.changes(2)
        with trial.row("copy: a merge is one change: two accounts are one, under both keys"):
            copy.reach(client.call("MergeAccounts", account="anonymous-17", intoAccount="alice"))
            equal(sorted(copy.changes(2)), [("alice", ["beta"], ["beta", "plus"]), ("anonymous-17", ["plus"], ["beta", "plus"])])
            equal([tiers(copy.held(key)) for key in ("alice", "anonymous-17")], [{"beta": "", "plus": ""}] * 2)
            equal(set(copy.do("whole")["accounts"]), {"alice"})
        with trial.row("copy: an alias that is attached is a key of the account, a UUID in any case"):
            copy.reach(client.call("AttachAlias", account="alice", appAccountToken=token))
            equal([copy.has(key) for key in (token, token.upper(), "alice")], [True] * 3)
            equal(tiers(copy.held(token)), active(client.call("GetEntitlements", account=token.upper())["success"]), "what the server says")
            copy.reach(client.call("DetachAlias", appAccountToken=token))
            equal([copy.has(key) for key in (token, "alice")], [False, True])
            equal(active(client.call("GetEntitlements", account=token)["success"]), {}, "what the server says")
            # A name that moves to another account leaves the first.
            copy.reach(client.call("AttachAlias", account="alice", appTransactionId="704000000000000017"))
            copy.reach(client.call("GrantEntitlement", account="bob", name="beta"))
            copy.reach(client.call("AttachAlias", account="bob", appTransactionId="704000000000000017"))
            equal(tiers(copy.held("704000000000000017")), {"beta": ""})
            copy.reach(client.call("RevokeGrant", account="bob", name="beta"))
            equal((copy.held("704000000000000017"), copy.has("alice")), ({}, True))
            copy.changes(2)
        with trial.row("copy: a shard is asked by keys, not by aliases"):
            shard = client.copy(shard=[zlib.crc32(b"alice") % 2, 2])
            equal((shard.has("alice"), shard.refused("has", account="anonymous-17", name="plus")["reason"] in ("ALIAS_IN_SHARD", "OTHER_SHARD")),
                  (True, True))
        with trial.row("copy: a token that is too old begins a new copy, and nothing is missed"):
            proxy.cut()
            client.call("RevokeGrant", account="alice", name="plus")
            for number in range(40):
                last = grant(client, f"meanwhile-{number}")
            time.sleep(1.1)  # A cursor is kept for a second.
            proxy.mode = "pass"
            copy.reach(grant(client, "last"))
            same_as_server(client, copy, ["alice", "last", *(f"meanwhile-{number}" for number in range(40))])
            equal(sorted(account for account, _, _ in copy.changes(42)), sorted(copy.do("whole")["accounts"]))
            assert last
        copy.do("close")
        proxy.close()


def copies_of_two_nodes(trial):
    """Two servers with one database of PostgreSQL, behind one address."""
    database = Database(trial.work / "postgres")
    database.start()
    nodes = [Shop(trial, f"node-{number}") for number in range(2)]
    try:
        for node in nodes:
            node.store = database.url
            node.start()
        proxy = Proxy(nodes[0].port)
        client, writer = trial.client(proxy.url), trial.client(nodes[1].url)
        copy = client.copy()
        with trial.row(LONG_ROWS[0]):
            for number in range(50):
                last = grant(writer, f"customer-{number}")
            copy.reach(last)
            equal([account for account, _, _ in copy.changes(50)], [f"customer-{number}" for number in range(50)])
        with trial.row(LONG_ROWS[1]):
            proxy.port = nodes[1].port
            nodes[0].kill()
            copy.reach(grant(writer, "after"))
            equal(copy.changes(1), [("after", [], ["plus"])])
            equal(len(trial.agent.reports[copy.name]), copy.taken, "the number of changes")
        proxy.close()
    finally:
        for node in nodes:
            node.kill()
        database.stop()


def copies_at_random(trial, rounds=20):
    """Random changes and blows, then the app's clock stands still, and each account is asked in the copies and at the server."""
    seed = random.randrange(1 << 32)
    source = random.Random(seed)
    accounts = [f"customer-{number}" for number in range(100)]
    files = [NAMED, NAMED[:1], [{"name": "always", "from": [{"product": LIFETIME, "tier": "one"}]}, *NAMED]]
    with shop(trial, "random", time_rate=TWO_SECONDS_A_PERIOD) as server, trial.row(LONG_ROWS[3]):
        client = trial.client(server.url, attempts=1_000)
        file = str(server.folder / "copy")
        copies = [client.copy(file=file), *(client.copy(shard=[number, 2]) for number in range(2))]

        def change():
            account, kind = source.choice(accounts), source.randrange(8)
            if kind < 4:
                buy(client, account, source.choice([WEEKLY, YEARLY, LIFETIME]))
            elif kind == 4:
                client.call("GrantEntitlement", account=account, name=source.choice(["plus", "beta"]),
                            **({"untilMs": str(now(client) + source.randrange(1, 4_000))} if source.randrange(2) else {}))
            elif kind == 5:
                operate(client, account, setAutoRenew={"target": {"productId": YEARLY}, "enabled": False})
            elif kind == 6:
                operate(client, account, refund={"target": {"productId": source.choice([WEEKLY, YEARLY, LIFETIME])}})
            else:
                client.call("EraseAccount", account=account)

        def again():
            """A program that starts again, from its file."""
            copies[0].do("close")
            copies[0] = client.copy(file=file)

        def killed():
            server.kill()
            server.start()

        def renamed():
            server.name(source.choice(files))
            server.signal(1)

        for number in range(rounds):
            for _ in range(30):
                with contextlib.suppress(Refused):  # Nothing to refund, or to erase.
                    change()
            blow = source.choice([again, killed, renamed, lambda: client.call("SetClock", advanceByMs=str(source.randrange(1, 5_000)))])
            blow()
            stopped = client.call("SetClock", freeze={})
            names = {each["name"] for each in client.call("GetEntitlements", account="nobody")["success"]["entitlements"]}
            for copy in copies:
                copy.reach(stopped)
                until(lambda: names <= set(copy.do("whole")["names"]), "the new names")
            wholes = [copy.do("whole")["accounts"] for copy in copies]
            for account in accounts:
                wanted = active(client.call("GetEntitlements", account=account)["success"])
                found = [tiers(whole.get(account, {})) for whole in wholes]
                others = {**found[1], **found[2]}
                equal((found[0], others), (wanted, wanted), f"seed {seed}, round {number}: {account}")
            client.call("SetClock", resume={})


def silent_copies(trial):
    """Takes 25 s: two and a half heartbeats."""
    with trial.row(LONG_ROWS[2]):
        proxy = Proxy(trial.server.port)
        copy = trial.client(proxy.url).copy()
        proxy.silence()
        grant(trial.client(), "silent")
        equal(copy.changes(1), [("silent", [], ["plus"])])
        proxy.close()


STORIES = [[copies, copies_of_the_app_store], [copies_by_time, copies_by_rate], [copies_over_restarts], [copies_in_files]]
LONG_STORIES = [[copies_of_two_nodes], [silent_copies], [copies_at_random]]
LONG_ROWS = ["copy: two nodes: a change at one is in a copy of the other", "copy: kill -9 of a node: it continues at another",
             "copy: a dead connection is noticed within 25 s", "copy: 20 rounds of random changes and blows: no difference to the server"]
