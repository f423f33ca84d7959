"""An attacker beside customers: with no token, with his own, with other people's addresses, with garbage, floods and forged reports.

The customers notice nothing: their purchases are pushed, nothing of theirs is read or changed, the server stays up, its memory within
bounds, and newcomers get in.
"""
import json
import os
import socket
import ssl
import threading

from appstore import AppStore
from production.load import Load
from production.waiting import until
from production.world import LAB, READER, SHOP

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the attacker's own token, that of a customer, is not limited to one account"
BREAKS = "an attacker reads nothing of a customer"


def play(world):
    world.start()
    node = world.nodes[0]
    load = Load(world, buyers=3, watchers=3)
    load.start()
    load.until_more(5)
    quiet = node.memory()
    victim = load.accounts[0]
    own = world.token("write", LAB, None if world.is_control else "mallory", subject="mallory")
    over, threads = threading.Event(), []
    for attack in (garbage, half_requests, bad_tokens, floods_of_resets):
        threads.append(threading.Thread(target=attack, args=(world, over), daemon=True))
    for thread in threads:
        thread.start()

    # His own token, as a customer: it is for one account of the test app.
    mallory = world.caller_of(own, LAB)
    for method, fields in (("GetEntitlements", {}), ("ListTransactions", {}), ("GetSubscriptionStatus", {"group_id": "plus"}),
                           ("Explain", {"group_id": "plus"}), ("GetPass", {})):
        refused = mallory.refusal(method, account=victim, **fields) or ""
        world.check("an attacker reads nothing of a customer", refused.startswith("PERMISSION_DENIED"), f"{method}: {refused or 'an answer'}")
    for method, fields in (("Purchase", {"account": victim, "order": {"product_id": "app.perch.coins"}}),
                           ("Operate", {"account": "mallory", "operation": {"buy": {"product_id": "app.perch.coins"}}}),
                           ("GrantEntitlement", {"account": "mallory", "name": "plus"}), ("SetClock", {"freeze": {}}),
                           ("ListAccounts", {}), ("RevokeToken", {"token_id": "x"})):
        refused = mallory.refusal(method, **fields) or ""
        world.check("an attacker changes nothing", refused.startswith("PERMISSION_DENIED"), f"{method}: {refused or 'an answer'}")
    for app in (SHOP, READER):
        refused = mallory.refusal("GetEntitlements", account="mallory", app={"bundle_id": app.bundle, "environment": 2}) or ""
        world.check("an attacker's token is for one app", refused.startswith("PERMISSION_DENIED"), refused)

    # Reports that Apple did not sign, also for the app of others, and pages of another origin.
    forger = AppStore(SHOP.bundle)
    world.equal("a forged report is refused", world.notify(forger.notification("SUBSCRIBED", forger.transaction(666))).status, 503)
    world.equal("a report that is too long is answered 413", world.notify(json.dumps({"signedPayload": "x" * 200_000})).status, 413)
    url = f"{world.front.origin}/perch.v1.EntitlementService/GetEntitlements"
    page = world.curl(url, "--header", "origin: https://evil.example", token=own, json_body={"account": "mallory"})
    world.equal("a page of another origin is refused", page.status, 403)
    for path in ("/metrics", "/status", "/readyz", "/../../etc/passwd", "/console/../../etc/passwd"):
        answer = world.curl(f"{world.front.origin}{path}", "--path-as-is")
        world.check("the operator's pages are not on the port of clients", answer.status in (400, 401, 404), f"{path}: {answer}")
    rebound = world.curl(f"http://127.0.0.1:{node.http_port}/status", "--header", "host: evil.example")
    world.equal("a foreign name for loopback gets nothing of the operator's pages", rebound.status, 421)
    answer = world.curl(url, json_body={"account": victim})
    world.equal("who has no token is asked for one", answer.status, 401)

    # Customers and newcomers meanwhile.
    load.until_more(20)
    newcomer = world.entitlements("newcomer", LAB)
    world.buy("newcomer", "app.perch.lifetime", "newcomer")
    newcomer.waits_for("plus")
    until("the time of the attack", lambda: len(load.acknowledged) > (1_000 if world.is_full else 60))
    loud = node.memory()
    over.set()
    world.check("the attack costs at most 128 MiB of memory", loud - quiet < 128 << 20, f"{(loud - quiet) >> 20} MiB")
    world.check("the server was not restarted", node.runs and sum("perch: serving on" in line for line in node.lines) == 1)
    load.finish()
    until("the descriptors of the attack are given back", lambda: node.metric("perch_handshakes") == 0, lambda: node.metric("perch_handshakes"))
    said = world.doctor()
    world.check("the doctor tells the operator of refused credentials", "refused" in said, said)


def connection(world, port, alpn):
    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
    context = ssl.create_default_context(cafile=world.ca)
    context.set_alpn_protocols([alpn])
    return context.wrap_socket(plain, server_hostname="localhost")


def ports_of(world):
    return [world.nodes[0].port, world.nodes[0].apple_port, world.front.web, world.front.grpc]


def repeat(over, attack):
    """Attacks until it is over. Whatever the server does to the attacker is its right."""
    while not over.is_set():
        try:
            attack()
        except (OSError, ValueError):
            pass
        over.wait(0.02)


def garbage(world, over):
    """Bytes of no protocol, before TLS and within it."""
    def attack():
        for port in ports_of(world):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
                plain.sendall(os.urandom(2_000))
            with connection(world, port, "h2") as secure:
                secure.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(500))
    repeat(over, attack)


def half_requests(world, over):
    """Heads and bodies that never end; up to 200 stay open."""
    held = []

    def attack():
        secure = connection(world, world.nodes[0].port, "http/1.1")
        secure.sendall(b"POST /perch.v1.EntitlementService/GetEntitlements HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n{")
        held.append(secure)
        if len(held) > 200:
            held.pop(0).close()
    repeat(over, attack)
    for each in held:
        each.close()


def bad_tokens(world, over):
    """Tokens with wrong signatures, through the proxy."""
    head = world.token("read", LAB).read_text().strip().rsplit(".", 1)[0]
    url = f"{world.front.origin}/perch.v1.EntitlementService/GetEntitlements"

    def attack():
        import base64
        spoilt = base64.urlsafe_b64encode(os.urandom(64)).decode().rstrip("=")
        world.curl(url, "--header", f"authorization: Bearer {head}.{spoilt}", json_body={"account": "buyer-0"})
    repeat(over, attack)


def floods_of_resets(world, over):
    """Calls of grpcio that are cancelled as soon as they are sent, with a good token of another app."""
    caller = world.caller("read", READER)
    kind, method = caller.method("EntitlementsTask")

    def attack():
        for _ in range(50):
            method(kind(app=caller.app, account="nobody"), timeout=5, metadata=caller.metadata).cancel()
    repeat(over, attack)
