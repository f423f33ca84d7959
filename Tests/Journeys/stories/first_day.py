"""The first day of an app: keys, certificates, a server, a catalogue, tokens, a first purchase, a page, a backup, as an operator does it.

It follows deploy/README.md with its own commands. At the end of the day an edited catalogue is read without a restart.
"""
import json
import uuid

from production.waiting import until
from production.world import LAB, SHOP

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the server asks nobody for credentials"
BREAKS = "a caller without a token is refused"


def play(world):
    if world.is_control:
        # nginx passes on the name of its upstream, which a server that asks nobody takes by permission only.
        world.settings |= {"token_keys": None, "allow_unauthenticated": True, "allow_host": "perch"}
    world.start()
    admin, reader = world.token("admin", None), world.token("read", LAB)
    node = world.nodes[0]

    # The operator looks whether all is well.
    apps = json.loads(world.perch("get", "apps", "-o", "json", token=admin))["apps"]
    world.equal("the server has three apps", sorted((each["bundleId"], each["environment"][12:].lower()) for each in apps),
                [("com.example.reader", "sandbox"), ("com.example.shop", "sandbox"), ("com.example.shop", "xcode")])
    said = world.doctor()
    world.check("the doctor finds no problem", "no problem" in said, said)
    # A probe, too, asks again: both say no when a thread has waited for a core for a second.
    for path in ("/healthz", "/readyz"):
        world.check(f"{path} says yes", until(f"{path} says yes", lambda: node.page(path)[0] == 200, lambda: node.page(path)))

    # Who has no token, another app's, or too weak a one gets nothing.
    stranger = world.caller(None, LAB)
    world.check("a caller without a token is refused", (stranger.refusal("GetProducts", product_ids=["app.perch.coins"]) or "").startswith(
        "UNAUTHENTICATED"))
    other = world.caller("read", SHOP)
    world.check("a token of another app is refused", (other.refusal("GetEntitlements", account="alice", app={
        "bundle_id": LAB.bundle, "environment": 3}) or "").startswith("PERMISSION_DENIED"))
    weak = world.caller("read", LAB)
    world.check("a token that may read may not buy", (weak.refusal("Purchase", account="alice", order={
        "product_id": "app.perch.coins"}) or "").startswith("PERMISSION_DENIED"))

    # A developer rehearses in the test app: products, a purchase, a stream.
    web = f"{world.front.origin}/perch.v1"
    body = {"productIds": ["app.perch.plus.monthly", "app.perch.misspelt"]}
    answer = world.curl(f"{web}.EntitlementService/GetProducts", token=reader, json_body=body)
    world.equal("curl is answered through the proxy", answer.status, 200)
    world.equal("a misspelt product is named", answer.json()["success"].get("unavailableIds"), ["app.perch.misspelt"])
    device = world.entitlements("alice", LAB)
    bought = world.buy("alice", "app.perch.plus.monthly", "first", app_account_token=str(uuid.uuid4()))
    device.waits_for("plus")
    again = world.buy("alice", "app.perch.plus.monthly", "first", app_account_token=bought.transaction.transaction.app_account_token)
    world.equal("a repeated purchase is the same", again.transaction.transaction.id, bought.transaction.transaction.id)
    said = world.perch("explain", "status", "alice", "plus", token=reader, app=LAB)
    world.check("the explanation names the plan", "app.perch.plus.monthly" in said, said)
    answer = world.curl(f"{web}.EntitlementService/GetPass", token=reader, json_body={"account": "alice"})
    world.equal("the customer gets a pass", answer.status, 200)
    keys = world.curl(f"{world.front.origin}/.well-known/jwks.json")
    world.check("everybody can read the keys of passes", keys.status == 200 and keys.json()["keys"], keys)

    # The catalogue is edited: a misspelt file changes nothing, a good one reaches open streams.
    products = world.caller("read", SHOP)
    text = world.catalog.read_text()
    world.catalog.write_text(text[:-200])
    node.signal(1)
    warned = lambda: any("catalog" in line and '"level":"error"' in line for line in node.lines)  # noqa: E731
    until("an error in the log about the spoilt catalogue", warned, lambda: node.lines[-5:])
    world.check("a spoilt catalogue changes nothing", products.insist("GetProducts", product_ids=["app.perch.coins"]).success.products)
    world.catalog.write_text(text.replace('"4.99"', '"5.49"'))
    for each in world.nodes:
        each.signal(1)
    until("the new price", lambda: products.insist("GetProducts", product_ids=["app.perch.plus.monthly"]).success.products[0].display_price
          == "$5.49")
    world.check("the customer keeps the plan", device.has("plus"))

    # The evening: the audit has who did what, and a copy is made.
    said = world.perch("audit", token=admin, succeeds=None)
    if world.setting == "sqlite":
        copy = world.directory / "evening.db"
        world.perch("backup", copy, token=admin)
        world.run([world.perch_program, "restore", "--verify", copy])
    said = world.doctor()
    world.check("the day ends without a warning of the doctor", "no problem" in said, said)
    for each in world.nodes:
        world.equal("a server that is told to stop ends with 0", each.stop(), 0)
