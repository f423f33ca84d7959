"""A support person with a token that may read, in Chromium: why has alice no access?

The operator gives a link with a code that is good once. The page shows what alice owns and why, live, and may change nothing. The
proxy sends the page's requests to any of two nodes: the code is good at each of them.
"""
import re

from appstore import now
from production.world import SHOP

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the support person's token has the scope admin"
BREAKS = "a support person cannot grant"


def play(world):
    world.start()
    ingest = world.caller("ingest")
    original = 2_000_000_900_700_000
    bought = world.app_store.transaction(original)
    ingest.insist("SubmitTransaction", account="alice", signed_values=[world.app_store.sign(bought)])
    token = world.token("admin" if world.is_control else "read", subject="support")
    page = world.browser()

    # The operator's command prints a link of the server itself. The support person comes through the proxy.
    link = world.perch("console", token=token).strip()
    code = re.search(r"#code=[\w-]+", link)
    world.check("the link has a code", code, link)
    world.check("the link has no token", token.read_text().strip() not in link)
    base = f"{world.front.origin}/console/"
    page.open(base + code[0])
    page.until(lambda: "code=" not in page.run("return location.href"), why="the code is out of the address")
    page.open(f"{base}#/account/alice")
    page.shows("subscribed", "main")
    page.shows("app.perch.plus.monthly", "[aria-label=Explanation]")

    # What happens is pushed to the open page.
    refund = world.app_store.transaction(original, begin=bought["purchaseDate"], revocationDate=now(), revocationReason=1)
    world.equal("the refund is answered 200", world.notify(world.app_store.notification("REFUND", refund)).status, 200)
    page.shows("revoked", "main")
    page.shows("refund", "[aria-label=Explanation]")

    # It may change nothing: neither by the page's controls, nor by its token.
    grant = page.find("Grant…")
    world.check("a support person cannot grant", grant is None or not grant.is_enabled())
    support = world.caller_of(token, SHOP)
    for method, fields in (("GrantEntitlement", {"account": "alice", "name": "plus"}),
                           ("EraseAccount", {"account": "alice"}),
                           ("SubmitTransaction", {"account": "alice", "signed_values": ["a.b.c"]}),
                           ("RevokeToken", {"token_id": "x"}), ("ListAudit", {})):
        refused = support.refusal(method, **fields) or ""
        world.check(f"{method} is refused", refused.startswith("PERMISSION_DENIED"), refused)

    # A link is good once, and closing the window forgets the token.
    other = world.browser()
    other.open(base + code[0])
    other.open(f"{base}#/account/alice")
    other.until(lambda: other.text("main") or other.text("body"), why="a page")
    world.check("a used link opens nothing", "app.perch.plus.monthly" not in other.text("body"), other.text("body")[:400])
    for each in (page, other):
        each.collect()
        addresses = [getattr(request, "address", request) for request in each.requests]
        world.equal("no page asks another server", [address for address in addresses if not address.startswith((
            base.removesuffix("console/"), "data:", "blob:", "chrome"))], [])
    serious = [line for line in page.errors if "Uncaught" in line]
    world.equal("no script of the page fails", serious, [])
