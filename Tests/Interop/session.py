"""A session with a real server, from the outside: what proto/README.md promises, seen by client.py.

Two servers serve catalog.storekit at real time from an empty store in memory. The other one lends a token of another store, and is
told to stop at the end. malformed.py and several.py go on with the first one.
"""
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import checks
import lasting
import malformed
import refusals
import several
import stubs
import trial
import vectors
import wire
from checks import Peer, check, equal
from client import BEAT, CALL, CANCEL, DRAIN, HELLO, MESSAGE, STATUS, Client
from server import Server
from trial import PERCH, WORK
from waiting import PATIENCE_SECONDS, given_time

HERE = pathlib.Path(__file__).resolve().parent
PRODUCTS = "/perch.v1.EntitlementService/ProductsTask"
STATUSES = "/perch.v1.EntitlementService/SubscriptionStatusTask"
ENTITLEMENT = "/perch.v1.EntitlementService/CurrentEntitlementTask"
BUY = "/perch.v1.TransactionService/Purchase"
UPDATES = "/perch.v1.TransactionService/TransactionUpdates"
APP = {"bundle_id": "com.example.app", "environment": 3}
MONTHLY, YEARLY, WEEKLY = "com.example.monthly", "com.example.yearly", "com.example.weekly"
LIFETIME, COINS, SEASON = "com.example.lifetime", "com.example.coins", "com.example.season"
GROUP, UNKNOWN = "premium", "com.example.nothing"
ORDER = [LIFETIME, MONTHLY, YEARLY, WEEKLY, COINS, SEASON]
WEEK_MS = 7 * 24 * 60 * 60 * 1000
SUBSCRIBED, EXPIRED, REVOKED = 1, 2, 5
SNAPSHOT, PURCHASE, RENEWAL, REFUND, EXPIRY, CATALOG, CLOCK, SETTING = range(1, 9)
ZLIB = 2


class Watcher(Peer):
    """A connection with the three streams of one account open, by the names of what they show."""

    def __init__(self, address, contract, account, accepts=(), product=MONTHLY, tokens=None):
        super().__init__(address, contract)
        self.welcome = self.hello(client_name="session.py", accepts=accepts, heartbeat_seconds=600)
        tokens = tokens or {}
        self.products = self.call(PRODUCTS, app=APP, product_ids=ORDER + [UNKNOWN, LIFETIME],
                                  resume_token=tokens.get("products", b""))
        self.statuses = self.call(STATUSES, app=APP, account=account, group_id=GROUP,
                                  resume_token=tokens.get("statuses", b""))
        self.entitlement = self.call(ENTITLEMENT, app=APP, account=account, product_id=product,
                                     resume_token=tokens.get("entitlement", b""))
        self.streams = [self.products, self.statuses, self.entitlement]

    def opening(self):
        """The first frames of all three streams, up to the beat that ends their group."""
        frames = {stream: [] for stream in self.streams}
        while any(not f or f[-1].message.WhichOneof("state") == "loading" for f in frames.values()):
            frame = self.until(lambda f: f.kind == MESSAGE)
            frames[frame.stream].append(frame)
        self.until(lambda f: f.kind == BEAT and f.message.revision >= self.welcome.revision)
        return frames

    def named_tokens(self):
        return {name: self.tokens[getattr(self, name)] for name in ("products", "statuses", "entitlement")}


def only(group, *streams):
    """The messages of a group in which exactly these streams said exactly one thing each."""
    equal({stream: len(frames) for stream, frames in group.items()}, {stream: 1 for stream in streams}, "what was said")
    return [group[stream][0].message for stream in streams]


def buy(peer, account, product, **more):
    answer = peer.ask(BUY, app=APP, account=account, order={"product_id": product}, **more)
    equal(answer.result, 1, "the result")
    return answer


def operate(peer, what, transaction, **more):
    """An operation of the test store on a transaction."""
    return peer.ask("/perch.v1.TestStoreService/Operate", app=APP,
                    operation={what: {"target": {"transaction_id": transaction}, **more}})


def opening(plain, zlib):
    with check("WELCOME says who the server is, where it stands and what holds"):
        welcome = plain.welcome
        equal(len(welcome.store_id), 16, "the length of store_id")
        assert welcome.server_version and welcome.server_time_ms > 1_700_000_000_000, "no version or time"
        limits = welcome.limits
        equal((limits.frame_bytes, limits.request_bytes), (4 << 20, 64 << 10), "frame and request limits")
        equal((limits.calls_per_connection, limits.write_stall_ms), (65_536, 30_000), "calls and write stall")
        assert limits.catalog_request_bytes > 1 << 20, "catalogues are limited to less than 1 MiB"
        equal((welcome.heartbeat_seconds, list(welcome.accepts)), (600, [ZLIB]), "heartbeat and encodings")
    frames = {}
    for name, watcher in (("plain", plain), ("compressed", zlib)):
        with check(f"each stream begins with loading, then says its value: {name}"):
            frames[name] = watcher.opening()
            for stream in watcher.streams:
                states = [frame.message.WhichOneof("state") for frame in frames[name][stream]]
                equal(states, ["loading", "success"], "the states")
                assert not frames[name][stream][0].message.HasField("info"), "loading has an info"
                info = frames[name][stream][1].message.info
                equal(info.cause, SNAPSHOT, "the cause")
                assert info.resume_token and info.position.as_of_ms > 1_700_000_000_000, "no token or position"
    with check("an open without purchases: empty statuses, no entitlement"):
        statuses = frames["plain"][plain.statuses][1].message
        equal(len(statuses.success.statuses), 0, "the number of statuses")
        assert not statuses.success.HasField("effective_index"), "one of no statuses counts"
        assert not frames["plain"][plain.entitlement][1].message.success.HasField("transaction"), "entitled to nothing"
    with check("products come in the order of the request, once each, and the unknown one is named"):
        value = frames["plain"][plain.products][1].message.success
        equal([product.id for product in value.products], ORDER, "the products")
        equal(list(value.unavailable_ids), [UNKNOWN], "the unavailable")
        equal([product.type for product in value.products], [2, 3, 3, 3, 1, 4], "the types")
        price = value.products[0].price
        equal((price.milliunits, price.currency), (49_990, "USD"), "the price")
        equal(value.products[0].display_name, "Lifetime", "the name")
        assert "49.99" in value.products[0].display_price, "the price is not shown"
        assert value.products[0].is_family_shareable and not value.products[0].HasField("subscription"), "not as filed"
    with check("a subscription shows its group, level, period and free trial"):
        monthly, yearly = value.products[1].subscription, value.products[2].subscription
        equal((monthly.group_id, monthly.group_display_name), (GROUP, "Premium"), "the group")
        equal((monthly.group_level, yearly.group_level), (2, 1), "the levels")
        equal((monthly.period.unit, monthly.period.value, yearly.period.unit), (3, 1, 4), "the periods")
        offer, = monthly.introductory_offers
        equal((offer.type, offer.payment_mode, offer.price.milliunits), (1, 1, 0), "the offer")
        equal((offer.period.unit, offer.period.value, offer.period_count), (2, 1, 1), "the offer's period")
    with check("a value of over 1 KiB is compressed for who accepts it, and is the same value"):
        mine, theirs = frames["plain"][plain.products][1], frames["compressed"][zlib.products][1]
        equal((mine.compressed, theirs.compressed), (False, True), "compressed")
        equal(mine.message.success, theirs.message.success, "the value")
    with check("a value of under 1 KiB is never compressed"):
        assert not frames["compressed"][zlib.entitlement][1].compressed, "compressed"


def purchase_and_refund(plain, zlib, writer):
    with check("a purchase on one connection is answered with its position and transaction"):
        bought = buy(writer, "anna", MONTHLY)
        transaction = bought.transaction.transaction
        assert bought.position.revision > plain.welcome.revision and not bought.already_held, "no new revision"
        equal(transaction.id, transaction.original_id, "the original")
        equal((transaction.product_id, transaction.subscription_group_id), (MONTHLY, GROUP), "product and group")
        equal((transaction.reason, transaction.ownership_type, transaction.environment), (1, 1, 3), "the kinds")
        equal((transaction.offer.type, transaction.offer.payment_mode), (1, 1), "the free trial")
        equal(transaction.price.milliunits, 0, "the price")
        equal(transaction.expiration_date_ms - transaction.purchase_date_ms, WEEK_MS, "its length")
    for name, watcher in (("plain", plain), ("zlib", zlib)):
        with check(f"and becomes one push on two streams of another, in one group: {name}"):
            group = watcher.group(bought.position.revision)
            statuses, entitlement = only(group, watcher.statuses, watcher.entitlement)
            status, = statuses.success.statuses
            equal(status.state, SUBSCRIBED, "the state")
            equal(status.transaction.transaction.id, transaction.id, "the transaction")
            assert statuses.success.HasField("effective_index"), "no status counts"
            equal((statuses.success.effective_index, statuses.success.effective_reason), (0, 1), "the one that counts")
            equal(entitlement.success.transaction.transaction.id, transaction.id, "the entitlement")
            for value in (statuses, entitlement):
                equal(value.info.position.revision, bought.position.revision, "the revision")
                equal(value.info.cause, PURCHASE, "the cause")
            renewal = status.renewal_info.renewal_info
            assert renewal.will_auto_renew and not renewal.is_in_billing_retry, "it will not renew"
            equal((renewal.auto_renew_preference, renewal.renewal_price.milliunits), (MONTHLY, 9_990), "what renews")
            forecast = statuses.info.next_change
            equal((forecast.kind, forecast.at_ms), (1, transaction.expiration_date_ms), "the forecast")
    with check("reads that demand the purchase's position see it"):
        for path, more in (("GetSubscriptionStatus", {"group_id": GROUP}), ("GetCurrentEntitlement",
                                                                           {"product_id": MONTHLY})):
            answer = writer.ask(f"/perch.v1.EntitlementService/{path}", app=APP, account="anna",
                                at_least=bought.position, **more)
            equal(answer.info.position.revision, bought.position.revision, f"the revision of {path}")
        listed = writer.ask("/perch.v1.EntitlementService/ListCurrentEntitlements", app=APP, account="anna",
                            at_least=bought.position)
        equal([each.transaction.id for each in listed.transactions], [transaction.id], "the entitlements")
    with check("buying what is held gives the held transaction and pushes nothing"):
        again = buy(writer, "anna", MONTHLY)
        assert again.already_held, "bought twice"
        equal(again.transaction.transaction.id, transaction.id, "the transaction")
        seen(plain, again.position)
        plain.silent()
    with check("the same idempotency key is the same purchase"):
        ids = {buy(writer, "key", COINS, idempotency_key=b"once").transaction.transaction.id for _ in range(3)}
        equal(len(ids), 1, "the number of transactions")
    with check("auto-renew off, then on: pushed to the statuses alone"):
        for enabled in (False, True):
            answer = operate(writer, "set_auto_renew", transaction.id, enabled=enabled)
            statuses, = only(plain.group(answer.position.revision), plain.statuses)
            equal(statuses.info.cause, SETTING, "the cause")
            equal(statuses.success.statuses[0].renewal_info.renewal_info.will_auto_renew, enabled, "auto-renew")
            equal(statuses.success.statuses[0].state, SUBSCRIBED, "the state")
    with check("a refund revokes the line and ends the entitlement, in one group"):
        kept = plain.named_tokens()
        refund = operate(writer, "refund", transaction.id)
        assert refund.transaction.transaction.HasField("revocation"), "not revoked"
        statuses, entitlement = only(plain.group(refund.position.revision), plain.statuses, plain.entitlement)
        equal(statuses.success.statuses[0].state, REVOKED, "the state")
        assert not statuses.success.HasField("effective_index"), "a revoked line counts"
        assert not entitlement.success.HasField("transaction"), "still entitled"
        equal((statuses.info.cause, entitlement.info.cause), (REFUND, REFUND), "the causes")
        zlib.group(refund.position.revision)
    return kept


def seen(watcher, position):
    """Waits until the watcher's own loop has come to a position: by a read on its connection that demands it."""
    watcher.ask("/perch.v1.EntitlementService/GetCurrentEntitlement", app=APP, account="nobody", product_id=LIFETIME,
                at_least=position)


def catalogue(plain, zlib, writer):
    edited = (HERE / "catalog-edited.storekit").read_bytes()
    with check("a new catalogue is one push on the products alone, plain and compressed"):
        loaded = writer.ask("/perch.v1.AdminService/LoadCatalog", app=APP, file=edited, source="session.py")
        equal((loaded.summary.subscription_count, loaded.summary.non_renewing_count), (3, 0), "the summary")
        values = []
        for watcher, compressed in ((plain, False), (zlib, True)):
            group = watcher.group(loaded.position.revision)
            only(group, watcher.products)
            equal(group[watcher.products][0].compressed, compressed, "compressed")
            values.append(group[watcher.products][0].message)
        equal(values[0].success, values[1].success, "the value")
        value = values[0].success
        equal([product.id for product in value.products], ORDER[:-1], "the products")
        equal(list(value.unavailable_ids), [SEASON, UNKNOWN], "the unavailable")
        lifetime = value.products[0]
        equal((lifetime.display_name, lifetime.price.milliunits), ("Lifetime Plus", 59_990), "the edit")
        equal(values[0].info.cause, CATALOG, "the cause")
    with check("the same catalogue again pushes nothing"):
        again = writer.ask("/perch.v1.AdminService/LoadCatalog", app=APP, file=edited, source="session.py")
        for watcher in (plain, zlib):
            seen(watcher, again.position)
            watcher.silent()
    with check("the first catalogue again is the first value again"):
        first = (HERE / "catalog.storekit").read_bytes()
        loaded = writer.ask("/perch.v1.AdminService/LoadCatalog", app=APP, file=first, source="session.py")
        for watcher in (plain, zlib):
            value, = only(watcher.group(loaded.position.revision), watcher.products)
            equal([product.id for product in value.success.products], ORDER, "the products")


def named_entitlements(writer):
    first = (HERE / "catalog.storekit").read_bytes()

    def load(entitlements=b""):
        writer.ask("/perch.v1.AdminService/LoadCatalog", app=APP, file=first, source="session.py", entitlements=entitlements)

    def names(granted):
        return list(writer.ask("/perch.v1.AdminService/GrantEntitlement", app=APP, account="someone", name=granted).known_names)

    with check("LoadCatalog carries the named entitlements, keeps them without a file, and takes them away by an empty list"):
        equal(names("plsu"), [], "the names of a file that is not there")
        load(b'{"entitlements": [{"name": "plus", "from": [{"product": "%s"}]}]}' % LIFETIME.encode())
        equal((names("plsu"), names("plus")), (["plus"], []), "the names beside a granted one")
        load()
        equal(names("plsu"), ["plus"], "the names that are kept")
        load(b'{"entitlements": []}')
        equal(names("plsu"), [], "the names of an empty list")
    with check("a mistake in the named entitlements is refused with its line there"):
        for method, fields in (("LoadCatalog", {"app": APP}), ("CheckCatalog", {})):
            _, status = writer.end(writer.call(
                f"/perch.v1.AdminService/{method}", file=first, **fields,
                entitlements=b'{"entitlements": [\n {"name": "plus", "from": [{"product": "none"}]}]}'))
            equal(status.reason, "CATALOG_INVALID", "the reason")
            assert status.message.startswith("the file of named entitlements cannot be used: line 2, column 40: "), status.message


def cancel_and_resume(address, contract, plain, writer, old_tokens):
    with check("CANCEL is answered by STATUS 1 CANCELLED, and the others go on"):
        plain.send(CANCEL, plain.entitlement)
        messages, status = plain.end(plain.entitlement)
        equal((status.code, status.reason, messages), (1, "CANCELLED", []), "the end")
        plain.silent()
    with check("CANCEL for a number that is not live is ignored"):
        for stream in (plain.entitlement, 99, 0xFFFFFF):
            plain.send(CANCEL, stream)
        plain.silent()
    with check("a number is free again after its STATUS"):
        plain.answers[plain.entitlement] = contract.method(ENTITLEMENT)[1]
        request = contract.method(ENTITLEMENT)[0](app=APP, account="anna", product_id=MONTHLY)
        plain.send(CALL, plain.entitlement, contract.message("perch.wire.v1.Call")(
            method=ENTITLEMENT, request=request.SerializeToString()))
        states = [plain.message_of(plain.entitlement).WhichOneof("state") for _ in range(2)]
        equal(states, ["loading", "success"], "the states")
        plain.until(lambda frame: frame.kind == BEAT)
    tokens = plain.named_tokens()
    with check("a token on another connection is answered by unchanged, with no loading"):
        back = Watcher(address, contract, "anna", tokens=tokens)
        for stream, frames in back.opening().items():
            equal([f.message.WhichOneof("state") for f in frames], ["unchanged"], f"the states of stream {stream}")
            assert frames[0].message.info.resume_token, "unchanged has no token"
    with check("and then pushes what comes"):
        bought = buy(writer, "anna", YEARLY)
        statuses, = only(back.group(bought.position.revision), back.statuses)
        equal(statuses.success.statuses[0].state, SUBSCRIBED, "the state")
        back.close()
        plain.group(bought.position.revision)
    with check("an old token is answered by the value, with no loading"):
        back = Watcher(address, contract, "anna", tokens={**old_tokens, "products": tokens["products"]})
        frames = back.opening()
        states = [[f.message.WhichOneof("state") for f in frames[stream]] for stream in back.streams]
        equal(states, [["unchanged"], ["success"], ["success"]], "the states")
        back.close()
    with check("a watch with a deadline ends with STATUS 4 DEADLINE"):
        def ended(seconds):
            messages, status = writer.end(writer.call(STATUSES, timeout_ms=int(1_000 * seconds), app=APP, account="anna", group_id=GROUP))
            equal((status.code, status.reason), (4, "DEADLINE"), "the end")
            states = [message.WhichOneof("state") for message in messages]
            equal(states, ["loading", "success"][:len(states)], "the states before")
            return len(states) == 2
        given_time(ended, 0.2)
    with check("a compressed CALL is understood"):
        answer = writer.ask("/perch.v1.EntitlementService/GetProducts", compressed=True, app=APP, product_ids=ORDER)
        equal(len(answer.success.products), len(ORDER), "the number of products")
    with check("a single watch needs no beat to apply a value"):
        single = Peer(address, contract)
        single.hello(heartbeat_seconds=600)
        stream = single.call(ENTITLEMENT, app=APP, account="single", product_id=LIFETIME)
        equal([single.message_of(stream).WhichOneof("state") for _ in range(2)], ["loading", "success"], "the states")
        bought = buy(writer, "single", LIFETIME)
        value = single.message_of(stream)
        equal(value.success.transaction.transaction.id, bought.transaction.transaction.id, "the entitlement")
        single.close()
    with check("a heartbeat out of range is moved to the nearer end, and 0 is the default"):
        for asked, given in ((1, 10), (9_999, 600), (0, 30)):
            peer = Peer(address, contract)
            equal(peer.hello(heartbeat_seconds=asked).heartbeat_seconds, given, f"the heartbeat for {asked}")
            peer.close()


def time_and_kinds(address, contract, writer):
    clock = "/perch.v1.TestStoreService/SetClock"
    watcher = Watcher(address, contract, "carl", product=WEEKLY)
    with check("a renewal is one push without an expired state between"):
        watcher.opening()
        first = buy(writer, "carl", WEEKLY)
        watcher.group(first.position.revision)
        moved = writer.ask(clock, app=APP, advance_to_boundary={"account": "carl"})
        assert moved.settled_count >= 1, "nothing was settled"
        statuses, entitlement = only(watcher.group(moved.position.revision), watcher.statuses, watcher.entitlement)
        status, = statuses.success.statuses
        renewed, old = status.transaction.transaction, first.transaction.transaction
        equal((status.state, renewed.reason, renewed.original_id), (SUBSCRIBED, 2, old.id), "the renewal")
        assert renewed.id != old.id, "no new transaction"
        equal(renewed.purchase_date_ms, old.expiration_date_ms, "where it begins")
        equal(entitlement.success.transaction.transaction.id, renewed.id, "the entitlement")
        equal(statuses.info.cause, RENEWAL, "the cause")
    with check("a token from before an expiry is answered by the expired value, never by unchanged"):
        off = operate(writer, "set_auto_renew", renewed.id, enabled=False)
        watcher.group(off.position.revision)
        tokens = watcher.named_tokens()
        watcher.close()
        moved = writer.ask(clock, app=APP, advance_to_boundary={"account": "carl"})
        away = Peer(address, contract)
        away.hello()
        stream = away.call(STATUSES, app=APP, account="carl", group_id=GROUP, resume_token=tokens["statuses"],
                           at_least=moved.position)
        value = away.message_of(stream)
        equal(value.WhichOneof("state"), "success", "the state")
        equal(value.success.statuses[0].state, EXPIRED, "the subscription")
        equal(value.success.statuses[0].renewal_info.renewal_info.expiration_reason, 1, "the reason")
        away.close()
    with check("a non-consumable and a non-renewing subscription entitle; a consumable never does"):
        for product, entitled in ((LIFETIME, True), (SEASON, True), (COINS, False)):
            bought = buy(writer, "dora", product)
            got = writer.ask("/perch.v1.EntitlementService/GetCurrentEntitlement", app=APP, account="dora",
                             product_id=product, at_least=bought.position)
            equal(got.WhichOneof("state"), "success", "the state")
            equal(got.success.HasField("transaction"), entitled, f"entitled to {product}")
        listed = writer.ask("/perch.v1.TransactionService/ListTransactions", app=APP, account="dora",
                            at_least=bought.position)
        equal([t.transaction.product_id for t in listed.transactions], [LIFETIME, SEASON, COINS], "the history")
    with check("pages of the history are the history"):
        got, token = [], b""
        while True:
            page = writer.ask("/perch.v1.TransactionService/ListTransactions", app=APP, account="dora", page_size=2,
                              page_token=token, at_least=bought.position)
            got += [t.transaction.product_id for t in page.transactions]
            token = page.next_page_token
            if not token:
                break
        equal(got, [LIFETIME, SEASON, COINS], "the pages together")
    events(address, contract, writer)


def events(address, contract, writer):
    watcher = Peer(address, contract)
    watcher.hello(heartbeat_seconds=600)
    with check("events begin with what is unfinished, without cursors, then say where new ones begin"):
        stream = watcher.call(UPDATES, app=APP, account="dora")
        first = [watcher.message_of(stream) for _ in range(4)]
        equal([e.transaction.transaction.product_id for e in first[:3]], [LIFETIME, SEASON, COINS], "the unfinished")
        equal({(e.kind, e.cursor) for e in first[:3]}, {(1, b"")}, "their kinds and cursors")
        assert first[3].cursor and not first[3].HasField("transaction"), "the last of them is not the marker"
    with check("a purchase is one event, with its origin"):
        bought = buy(writer, "dora", COINS)
        event = watcher.message_of(stream)
        equal((event.kind, event.transaction.transaction.id), (2, bought.transaction.transaction.id), "the event")
        equal((event.revision, event.origin_client_id), (bought.position.revision, b"writer"), "revision and origin")
    with check("a cursor is answered by everything after it, once and in order"):
        more = [buy(writer, "dora", COINS).transaction.transaction.id for _ in range(3)]
        later = Peer(address, contract)
        later.hello(heartbeat_seconds=600)
        stream = later.call(UPDATES, app=APP, account="dora", cursor=first[3].cursor)
        accepted = later.message_of(stream)
        equal((accepted.cursor, accepted.HasField("transaction")), (first[3].cursor, False), "the first message")
        ids = [later.message_of(stream).transaction.transaction.id for _ in range(4)]
        equal(ids, [bought.transaction.transaction.id] + more, "the events")
        later.silent()
        later.close()
        watcher.close()
    with check("a cursor after which nothing is new is answered at once"):
        latest = Peer(address, contract)
        latest.hello(heartbeat_seconds=600)
        last = more[-1]
        stream = latest.call(UPDATES, app=APP, account="dora", cursor=first[3].cursor)
        heard = [latest.message_of(stream) for _ in range(5)]
        equal(heard[-1].transaction.transaction.id, last, "the last event")
        stream = latest.call(UPDATES, app=APP, account="dora", cursor=heard[-1].cursor)
        accepted = latest.message_of(stream)
        equal((accepted.cursor, accepted.HasField("transaction")), (heard[-1].cursor, False), "the only message")
        latest.close()
    with check("finishing takes a transaction off the unfinished list, twice is once"):
        position = None
        for _ in range(2):
            position = writer.ask("/perch.v1.TransactionService/Finish", app=APP, account="dora",
                                  transaction_id=more[0]).position
        listed = writer.ask("/perch.v1.TransactionService/ListUnfinished", app=APP, account="dora", at_least=position)
        assert more[0] not in [t.transaction.id for t in listed.transactions], "still unfinished"
        assert more[1] in [t.transaction.id for t in listed.transactions], "another one is gone"


def come_back(address, contract, writer):
    """After a reconnect the server may have read one CALL and not yet the other. What it says then is applied together."""
    def tokens_of(account):
        away = Watcher(address, contract, account)
        away.opening()
        tokens = away.named_tokens()
        away.close()
        return tokens

    def back(account, tokens, between):
        """The groups that a client applies which calls two watches again. `between`: what happens between the CALLs."""
        peer, groups, applied = Peer(address, contract), lasting.Groups(), []
        peer.hello(heartbeat_seconds=600)
        statuses, entitlement = 1, 2
        for stream in (statuses, entitlement):
            groups.called(stream)
        equal(peer.call(STATUSES, app=APP, account=account, group_id=GROUP, resume_token=tokens["statuses"]), statuses)
        applied.append(groups.took(peer.until(lambda f: f.kind == MESSAGE)))
        between()
        equal(peer.call(ENTITLEMENT, app=APP, account=account, product_id=MONTHLY, resume_token=tokens["entitlement"]),
              entitlement)
        while not (applied[-1] or len(applied) > 20):
            applied.append(groups.took(peer.until(lambda f: f.kind in (MESSAGE, BEAT, STATUS))))
        peer.close()
        return [group for group in applied if group]

    with check("after a reconnect no value is applied beside the old one of a watch that was not answered yet"):
        tokens = tokens_of("greta")
        buy(writer, "greta", MONTHLY)
        group, = back("greta", tokens, lambda: None)
        equal(sorted(group), [1, 2], "the streams of the first group")
        equal([len(group[1].success.statuses), group[2].success.HasField("transaction")], [1, True], "the values")
    with check("and a change between the two CALLs is in that group, too"):
        tokens = tokens_of("gustav")
        group, = back("gustav", tokens, lambda: buy(writer, "gustav", MONTHLY))
        equal(sorted(group), [1, 2], "the streams of the first group")
        equal([len(group[1].success.statuses), group[2].success.HasField("transaction")], [1, True], "the values")


def stay_away(address, contract):
    with check("a DRAIN that refuses for good says so, keeps an old client away for a minute, and a new one for ever"):
        peer = Peer(address, contract)
        peer.send(HELLO, 0, contract.message("perch.wire.v1.Hello")(protocol_version=2))
        drain = peer.drained("PROTOCOL_VERSION")
        equal((drain.reconnect_after_ms, drain.jitter_ms), (60_000, 60_000), "the times")
        equal(lasting.pause_ms(0, drain), None, "the pause")
    with check("lasting.py refuses the reasons that the table says `no` to"):
        retries = vectors.retries()
        assert len(retries) > 20, "the table is not read"
        equal(lasting.REFUSED, {reason for reason, retry in retries.items() if retry == "no"}, "the reasons")
    with check("the pause grows, and is never shorter than DRAIN says"):
        drain = contract.message("perch.wire.v1.Drain")(reason="HANDSHAKE_LIMIT", reconnect_after_ms=1_000, jitter_ms=4_000)
        for failures in range(12):
            pauses = [lasting.pause_ms(failures, drain) for _ in range(200)]
            longest = max(5_000, min(60_000, 1_000 * 2 ** failures)) if failures else 5_000
            assert min(pauses) >= 1_000 and max(pauses) <= longest, f"{failures}: {min(pauses)} to {max(pauses)}"
            assert max(lasting.pause_ms(failures) for _ in range(200)) <= min(60_000, 1_000 * 2 ** failures), failures


def forty_lines(address, writer):
    with check("the client in forty lines of proto/README.md runs as it stands there, and prints a push"):
        blocks = (vectors.PROTO / "README.md").read_text().split("```python\n")[1:]
        code, = (block.split("```")[0] for block in blocks if block.startswith("import socket"))
        assert code.count("\n") <= 40, "it has more than forty lines"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(code)
            file.flush()
            program = subprocess.Popen([sys.executable, file.name, stubs.descriptors(), address[0], str(address[1]), "forty",
                                        GROUP], stdout=subprocess.PIPE, text=True)
            try:
                assert program.stdout.readline().startswith("loading"), "no loading"
                assert program.stdout.readline().startswith("success at revision"), "no first value"
                bought = buy(writer, "forty", YEARLY)
                equal(program.stdout.readline(), f"success at revision {bought.position.revision}\n", "the push")
                equal(program.stdout.readline(), f"  RENEWAL_STATE_SUBSCRIBED {YEARLY}\n", "the status")
            finally:
                program.terminate()
                program.wait()
                program.stdout.close()


def drain(server, contract):
    with check("a server that stops tells the connection and every call, and then closes"):
        watcher = Watcher(server.address, contract, "anna")
        watcher.opening()
        server.signal(signal.SIGTERM)
        first = watcher.until(lambda frame: frame.kind == DRAIN).message
        equal((first.final, first.reason), (False, "SHUTTING_DOWN"), "the first DRAIN")
        assert first.jitter_ms > 0, "everyone would come back at once"
        times = (first.reconnect_after_ms, first.jitter_ms)
        for stream in watcher.streams:
            _, status = watcher.end(stream)
            equal((status.code, status.reason), (14, "SHUTTING_DOWN"), f"the end of stream {stream}")
        last = watcher.drained("SHUTTING_DOWN")
        equal((last.reconnect_after_ms, last.jitter_ms), times, "the times of the last DRAIN, which hold")


def cut_within_a_frame(contract):
    """Whatever is left of a frame when its connection ends is none, though its bytes may parse as another message."""
    with check("client.py takes no part of a frame for a frame"):
        response = contract.method("/perch.v1.TransactionService/TransactionUpdates")[1]
        whole = response(transaction={"transaction": {"id": 7}}, revision=9).SerializeToString()
        part = len(response(transaction={"transaction": {"id": 7}}).SerializeToString())
        equal(response.FromString(whole[:part]).revision, 0, "the revision that a part is read with")
        frame = struct.pack(">IBI", MESSAGE << 24 | 1, 0, len(whole)) + whole
        for length in (5, 9, 9 + part, len(frame)):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                peer = Client(listener.getsockname(), contract)
                peer.answers[1] = response
                with listener.accept()[0] as accepted:
                    accepted.sendall(frame[:length])
                read = peer.read()
                equal(read and read.message.revision, 9 if length == len(frame) else None, f"of {length} bytes")


def main():
    with Server(PERCH, trial.CATALOG, "memory", WORK / "server.log") as first, \
            Server(PERCH, trial.CATALOG, "memory", WORK / "other.log") as second:
        for server in (first, second):
            server.start()
        play(first.address, second)
        malformed.main(first.address)
        several.main("%s:%d" % first.address)
        with check("the server lives, and the one that was told to stop ended with 0"):
            equal((first.runs, second.process.wait(PATIENCE_SECONDS)), (True, 0))
    return checks.summary("interop")


def play(address, second):
    contract = wire.contract()
    with check("client.py has at most sixty lines"):
        lines = (HERE / "client.py").read_text().splitlines()
        equal((len(lines) <= 60, max(map(len, lines)) <= 120), (True, True), "at most sixty lines, of at most 120")
    writer = Peer(address, contract)
    writer.hello(client_name="session.py writer", client_id=b"writer", heartbeat_seconds=600)
    plain, zlib = Watcher(address, contract, "anna"), Watcher(address, contract, "anna", accepts=[ZLIB])
    opening(plain, zlib)
    old_tokens = purchase_and_refund(plain, zlib, writer)
    catalogue(plain, zlib, writer)
    cancel_and_resume(address, contract, plain, writer, old_tokens)
    time_and_kinds(address, contract, writer)
    come_back(address, contract, writer)
    stay_away(address, contract)
    forty_lines(address, writer)
    named_entitlements(writer)
    cut_within_a_frame(contract)
    plain.close()
    zlib.close()
    refusals.run(address, second.address, contract, writer)
    drain(second, contract)


if __name__ == "__main__":
    sys.exit(main())
