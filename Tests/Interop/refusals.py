"""Refusals, provoked from the outside: each with its exact code and reason, and another connection notices nothing.

What breaks the framing comes from proto/vectors/frames-refused.json; the rest is here. Limits are those of LimitsTableTests.
"""
import json

import vectors
from checks import Peer, check, detail, equal
from client import CALL

APP = {"bundle_id": "com.example.app", "environment": 3}
READ, TRANSACTIONS, TEST, ADMIN = ("/perch.v1." + name + "Service/" for name in (
    "Entitlement", "Transaction", "TestStore", "Admin"))
STATUSES = READ + "SubscriptionStatusTask"
MONTHLY, WEEKLY, LIFETIME = "com.example.monthly", "com.example.weekly", "com.example.lifetime"
FAR = {"revision": 1 << 60}


def order(product, **more):
    """What is bought."""
    return {"product_id": product, **more}


def about(what, transaction_id=None, product_id=None, **more):
    """An operation of the test store on a transaction or a product."""
    target = {"product_id": product_id} if product_id else {"transaction_id": transaction_id}
    return {what: {"target": target, **more}}


class Bystander(Peer):
    """A connection with a watch, which must get its PONG and nothing else while others are refused."""

    def __init__(self, address, contract):
        super().__init__(address, contract)
        self.hello(heartbeat_seconds=600)
        for name in ("SubscriptionStatusTask", "CurrentEntitlementTask"):
            more = {"group_id": "premium"} if name.startswith("S") else {"product_id": LIFETIME}
            stream = self.call(READ + name, app=APP, account="bystander", **more)
            while self.message_of(stream).WhichOneof("state") == "loading":
                pass
        self.pushes()


def run(address, other, contract, writer):
    bystander = Bystander(address, contract)
    table = vectors.reasons()
    framing(address, contract, bystander)
    calls(address, other, contract, writer, bystander, table)


def framing(address, contract, bystander):
    """Each vector on a connection of its own."""
    for vector in json.loads((vectors.PROTO / "vectors" / "frames-refused.json").read_text()):
        with check(f"refused with DRAIN {vector['drain']}: {vector['name']}"):
            peer = Peer(address, contract)
            if vector["given"] != "connected":
                peer.hello()
            if vector["given"].endswith("live"):
                equal(peer.call(STATUSES, app=APP, account="anna", group_id="premium"), 1, "the stream")
                while peer.message_of(1).WhichOneof("state") == "loading":
                    pass
            peer.socket.sendall(vectors.bytes_of(vector))
            drain = peer.drained(vector["drain"])
            if vector["drain"] in ("FRAME_TOO_LONG", "INFLATE_LIMIT"):
                limit, found = int(detail(drain, "limit")), int(detail(drain, "found"))
                assert found > limit and str(limit) in drain.message, f"found {found}, limit {limit}: {drain.message}"
            bystander.silent()


def calls(address, other, contract, writer, bystander, table):
    """All on one connection, which goes on."""
    peer = Peer(address, contract)
    peer.hello()
    wire_call = contract.message("perch.wire.v1.Call")

    def refused(name, reason, path, raw=None, whole=None, timeout_ms=0, **request):
        """`raw` stands for the request's bytes, `whole` for those of the whole Call."""
        with check(f"refused with STATUS {table[reason]} {reason}: {name}"):
            if raw is None and whole is None:
                stream = peer.call(path, timeout_ms=timeout_ms, **request)
            else:
                stream = next(peer.numbers)
                peer.answers[stream] = contract.message("perch.wire.v1.Status")
                message = whole or wire_call(method=path, request=raw).SerializeToString()
                peer.send(CALL, stream, message)
            messages, status = peer.end(stream)
            equal((status.code, status.reason), (table[reason], reason), "the end")
            assert status.message, "there is no message for people"
            if not timeout_ms:
                equal(messages, [], "what came before it")
            peer.silent()
            bystander.silent()
            return status

    def text(number, payload):
        return bytes([number << 3 | 2, len(payload)]) + payload

    anna = {"app": APP, "account": "anna"}
    refused("an unknown service", "UNKNOWN_METHOD", "/perch.v1.Nothing/Nothing", raw=b"")
    refused("an unknown method", "UNKNOWN_METHOD", READ + "Nothing", raw=b"")
    refused("no method", "UNKNOWN_METHOD", "", raw=b"")
    refused("a method without its slash", "UNKNOWN_METHOD", STATUSES[1:], raw=b"")
    refused("a Call that ends too early", "MESSAGE_MALFORMED", "", whole=b"\x0a\x05/a")
    refused("a request that ends too early", "MESSAGE_MALFORMED", STATUSES, raw=b"\x12\x05anna")
    refused("a request of another kind", "MESSAGE_MALFORMED", STATUSES, raw=b"\x10\x01")
    refused("a group in a request", "MESSAGE_MALFORMED", STATUSES, raw=b"\x7b\x7c")
    refused("a method that is not UTF-8", "TEXT_NOT_UTF8", "", whole=text(1, b"\xff\xfe"))
    refused("an account that is not UTF-8", "TEXT_NOT_UTF8", STATUSES, raw=text(2, b"an\xc3"))
    refused("a product that is not UTF-8", "TEXT_NOT_UTF8", READ + "ProductsTask", raw=text(2, b"\xed\xa0\x80"))
    refused("an account with NUL", "TEXT_HAS_NUL", STATUSES, raw=text(2, b"an\x00na"))
    refused("a field 4,097 times", "MESSAGE_TOO_MANY_FIELDS", STATUSES, raw=text(3, b"premium") * 4_097)
    refused("4,097 unknown fields", "MESSAGE_TOO_MANY_FIELDS", STATUSES, raw=b"\x78\x01" * 4_097)
    refused("65,537 items", "MESSAGE_TOO_MANY_ITEMS", "", whole=b"\x1a\x00" * 65_537)
    refused("a request of 64 KiB and a byte", "REQUEST_TOO_LONG", READ + "ProductsTask",
            raw=text(3, b"x" * 127) * 508 + text(3, b"y" * (65_537 - 508 * 129 - 2)))
    refused("no account", "ACCOUNT_KEY", STATUSES, app=APP, group_id="premium")
    refused("an account of 256 bytes", "ACCOUNT_KEY", STATUSES, app=APP, account="\u00e9" * 128, group_id="premium")
    refused("no group", "FIELD_MISSING", STATUSES, **anna)
    refused("no operation", "FIELD_MISSING", TEST + "Operate", **anna)
    refused("an operation that is none", "FIELD_MISSING", TEST + "Operate", operation={}, **anna)
    refused("an operation without a target", "FIELD_MISSING", TEST + "Operate", operation={"renew": {}}, **anna)
    refused("an operation about a product without its name", "FIELD_INVALID", TEST + "Operate",
            operation=about("renew", product_id="") | {"renew": {"target": {"product_id": ""}}}, **anna)
    refused("an operation on a product without an account", "ACCOUNT_KEY", TEST + "Operate", app=APP,
            operation=about("renew", product_id=MONTHLY))
    refused("a refund of more than all", "FIELD_INVALID", TEST + "Operate",
            operation=about("refund", transaction_id=1, type=2, percentage_milli=100_001), **anna)
    refused("charges that turn out in no known way", "FIELD_INVALID", TEST + "Operate",
            operation={"set_charges": {"outcome": 7}}, **anna)
    refused("no setting", "FIELD_MISSING", TEST + "Configure", app=APP)
    refused("a setting that is none", "FIELD_MISSING", TEST + "Configure", app=APP, settings=[{}])
    refused("a part of the store that is none", "FIELD_INVALID", TEST + "Configure", app=APP,
            settings=[{"simulated_error": {"api": 99, "error": 3}}])
    refused("a grace period of 4 days", "FIELD_INVALID", TEST + "Configure", app=APP,
            settings=[{"grace_period_days": 4}])
    refused("no product to buy", "FIELD_MISSING", TRANSACTIONS + "Purchase", **anna)
    refused("nothing to do with the clock", "FIELD_MISSING", TEST + "SetClock", app=APP)
    refused("products of a storefront that is no country", "FIELD_INVALID", READ + "GetProducts", app=APP,
            product_ids=[LIFETIME], storefront="DE")
    refused("products in a language that is none", "FIELD_INVALID", READ + "ProductsTask", app=APP,
            product_ids=[LIFETIME], locale="!")
    refused("an eligibility that nobody knows", "FIELD_INVALID", TRANSACTIONS + "Purchase",
            order=order(MONTHLY, introductory_eligibility=9), **anna)
    refused("a purchase from before 1970", "FIELD_INVALID", TRANSACTIONS + "Purchase",
            order=order(LIFETIME, purchase_date_ms=-1), **anna)
    refused("a page of 501", "FIELD_INVALID", TRANSACTIONS + "ListTransactions", page_size=501, **anna)
    refused("an idempotency key of 65 bytes", "FIELD_INVALID", TRANSACTIONS + "Purchase", order=order(LIFETIME),
            idempotency_key=bytes(65), **anna)
    refused("an account token that is no UUID", "FIELD_INVALID", TRANSACTIONS + "Purchase",
            order=order(LIFETIME, app_account_token="anna"), **anna)
    refused("an unknown time rate", "FIELD_INVALID", TEST + "Configure", app=APP,
            settings=[{"time_rate": 14}])
    refused("an unknown app", "APP_UNKNOWN", STATUSES, app={"bundle_id": "com.example.other"}, account="anna",
            group_id="premium")
    refused("an app in another environment", "APP_UNKNOWN", STATUSES, app={**APP, "environment": 1}, account="anna",
            group_id="premium")
    refused("a renewal for an unknown account", "ACCOUNT_UNKNOWN", TEST + "Operate", app=APP, account="nobody",
            operation=about("renew", product_id=MONTHLY))
    refused("finishing an unknown transaction", "TRANSACTION_UNKNOWN", TRANSACTIONS + "Finish",
            transaction_id=1 << 60, **anna)
    refused("refunding an unknown transaction", "TRANSACTION_UNKNOWN", TEST + "Operate", app=APP,
            operation=about("refund", transaction_id=1 << 60))
    refused("changing an unknown product", "PRODUCT_UNKNOWN", TEST + "Configure", app=APP,
            settings=[{"product": {"product_id": "nothing", "withdrawn": True}}])
    refused("renewing an unknown product", "PRODUCT_UNKNOWN", TEST + "Operate",
            operation=about("renew", product_id="nothing"), **anna)
    refused("buying an unknown product", "PURCHASE_PRODUCT_UNAVAILABLE", TRANSACTIONS + "Purchase",
            order=order("nothing"), **anna)
    refused("two of a subscription", "PURCHASE_INVALID_QUANTITY", TRANSACTIONS + "Purchase",
            order=order(MONTHLY, quantity=2), **anna)
    refused("eleven of a consumable", "PURCHASE_INVALID_QUANTITY", TRANSACTIONS + "Purchase",
            order=order("com.example.coins", quantity=11), **anna)
    refused("an offer that does not exist", "PURCHASE_INVALID_OFFER", TRANSACTIONS + "Purchase",
            order=order(MONTHLY, offer={"type": 4, "id": "nothing"}), **anna)
    refused("renewing what does not renew", "NOT_A_SUBSCRIPTION", TEST + "Operate",
            operation=about("renew", product_id=LIFETIME), **anna)
    refused("expiring what is not held", "NOT_SUBSCRIBED", TEST + "Operate",
            operation=about("expire", product_id=WEEKLY), **anna)
    bought = writer.ask(TRANSACTIONS + "Purchase", app=APP, account="refusals", order=order(LIFETIME),
                        idempotency_key=b"refusals").transaction.transaction
    refused("an idempotency key of another purchase", "KEY_REUSED", TRANSACTIONS + "Purchase", app=APP,
            account="refusals", order=order(MONTHLY), idempotency_key=b"refusals")
    refused("auto-renew of what does not renew", "NOT_A_SUBSCRIPTION", TEST + "Operate", app=APP,
            operation=about("set_auto_renew", transaction_id=bought.id, enabled=True))
    refused("finishing what belongs to another", "TRANSACTION_UNKNOWN", TRANSACTIONS + "Finish",
            transaction_id=bought.id, **anna)
    writer.ask(TEST + "Operate", app=APP, operation=about("refund", transaction_id=bought.id))
    refused("a catalogue that is no JSON", "CATALOG_INVALID", ADMIN + "LoadCatalog", app=APP, file=b"{")
    refused("checking a catalogue that is empty", "CATALOG_INVALID", ADMIN + "CheckCatalog", file=b"")
    refused("a clock that goes back", "CLOCK_BACKWARDS", TEST + "SetClock", app=APP, advance_to_ms=1)
    refused("a negative advance", "CLOCK_BACKWARDS", TEST + "SetClock", app=APP, advance_by_ms=-1)
    refused("an advance past the end of time", "ADVANCE_LIMIT", TEST + "SetClock", app=APP,
            advance_by_ms=(1 << 63) - 1)
    refused("a position that does not come before the deadline", "BEHIND", READ + "GetSubscriptionStatus",
            timeout_ms=200, group_id="premium", at_least=FAR, **anna)
    refused("a watch from such a position", "BEHIND", STATUSES, timeout_ms=200, group_id="premium", at_least=FAR,
            **anna)
    tokens(address, other, contract, refused)
    with check("after all that, the connection takes a call"):
        peer.ask(READ + "GetSubscriptionStatus", group_id="premium", **anna)
    peer.close()


def tokens(address, other, contract, refused):
    def token_from(server, **request):
        peer = Peer(server, contract)
        peer.hello()
        stream = peer.call(STATUSES, app=APP, group_id="premium", **request)
        while stream not in peer.tokens:
            peer.message_of(stream)
        peer.close()
        return peer.tokens[stream]

    anna = {"app": APP, "account": "anna"}
    good, foreign = token_from(address, account="anna"), token_from(other, account="anna")
    status = {"group_id": "premium", **anna}
    refused("a token of three bytes", "TOKEN_MALFORMED", STATUSES, resume_token=b"abc", **status)
    refused("a token that was cut", "TOKEN_MALFORMED", STATUSES, resume_token=good[:-1], **status)
    refused("a token that was made longer", "TOKEN_MALFORMED", STATUSES, resume_token=good + b"\x00", **status)
    refused("a token with a bit turned", "TOKEN_MALFORMED", STATUSES,
            resume_token=good[:-1] + bytes([good[-1] ^ 1]), **status)
    refused("a token of 64 KiB", "TOKEN_MALFORMED", STATUSES, resume_token=bytes(60_000), **status)
    refused("a token of another account", "TOKEN_OTHER_VIEW", STATUSES, resume_token=good,
            **{**status, "account": "bert"})
    refused("a token of another group", "TOKEN_OTHER_VIEW", STATUSES, resume_token=good, **{**status, "group_id": "x"})
    refused("a token of another stream", "TOKEN_OTHER_VIEW", READ + "CurrentEntitlementTask", resume_token=good,
            product_id=MONTHLY, **anna)
    refused("a token of another store", "TOKEN_OTHER_STORE", STATUSES, resume_token=foreign, **status)
    refused("a cursor that is none", "CURSOR_MALFORMED", TRANSACTIONS + "TransactionUpdates", cursor=b"abc", **anna)
    refused("a page token that is none", "CURSOR_MALFORMED", TRANSACTIONS + "ListTransactions", page_token=b"abc",
            **anna)
