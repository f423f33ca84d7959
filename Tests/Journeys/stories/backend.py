"""A backend that asks at every request, and never waits for the network: it has a copy of all entitlements in its own memory.

It is Perch's Python client behind the proxy, with a token for each of two apps. Notifications, purchases, merges and the death of nodes
reach the copy; it answers while every node is away; and its token is revoked and replaced.
"""
import contextlib
import os
import random
import shutil
import ssl
import uuid

from production.load import Load
from production.waiting import until
from production.world import LAB, SHOP

import perch
from perch import v1

SETTINGS, FULL = ["nodes"], ["nodes", "sqlite"]
CONTROL = "the backend has the token of one customer"
BREAKS = "the copies of both apps become complete"
GUARD_SECONDS = 180


def play(world):
    world.start()
    tokens = {app: world.directory / f"backend-{app.environment}.token" for app in (SHOP, LAB)}
    for app, path in tokens.items():
        renew(world, app, path)
    with contextlib.ExitStack() as stack:
        clients = {app: stack.enter_context(connect(world, app, path)) for app, path in tokens.items()}
        # A copy keeps up a file, which the next process begins with.
        files = {app: world.directory / f"backend-{app.environment}.copy" for app in tokens}
        copies = {app: client.copy(file=files[app]) for app, client in clients.items()}
        tell(world, copies)
        live(world, copies, tokens)
        compare(world, clients, copies)
        be_alone(world, copies, files)


def connect(world, app, token):
    environment = v1.Environment[app.environment.upper()]
    return perch.connect(world.front.origin, credentials=perch.TokenFile(token), app=v1.AppRef(bundle_id=app.bundle, environment=environment),
                         ssl_context=ssl.create_default_context(cafile=world.ca))


def renew(world, app, path):
    """A new token, put into place as the program does that renews it. Returns it."""
    made = world.token("read", app, "somebody" if world.is_control else None, subject="backend")
    shutil.copy(made, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)
    return made


def reached(world, sentence, copy, position):
    """Position of a stock client's answer, which is a message of another library."""
    try:
        copy.wait_for(v1.Position(revision=position.revision, as_of_ms=position.as_of_ms, epoch=position.epoch), timeout=GUARD_SECONDS)
    except perch.PerchError as error:
        world.check(sentence, False, error)


def tell(world, copies):
    """What Apple and the app's own backend report is in the copy."""
    try:
        for copy in copies.values():
            copy.wait_ready(timeout=GUARD_SECONDS)
    except perch.PerchError as error:
        world.check("the copies of both apps become complete", False, error)
    shop, store = copies[SHOP], world.app_store
    world.equal("a copy knows the names of its app", shop.names(), ["plus"])
    world.check("nobody has anything yet", not shop.has("alice", "plus") and not shop.accounts(), shop.accounts())

    admin, ingest = world.caller("admin"), world.caller("ingest")
    named = str(uuid.uuid4())
    admin.insist("AttachAlias", account="alice", app_account_token=named)
    bought = store.transaction(2_000_000_900_800_000, token=named)
    world.equal("Apple's notification is answered 200", world.notify(store.notification("SUBSCRIBED", bought, subtype="INITIAL_BUY")).status, 200)
    until("alice in the copy", lambda: shop.has("alice", "plus"))
    given = ingest.insist("SubmitTransaction", account="guest", signed_values=[store.sign(store.transaction(2_000_000_900_900_000))])
    reached(world, "the copy reaches what the backend submitted", shop, given.position)
    world.check("the backend's own submission is in the copy", shop.has("guest", "plus"))

    # The guest has an account after all, and a purchase is refunded.
    merged = admin.insist("MergeAccounts", account="guest", into_account="bob")
    reached(world, "the copy reaches the merge", shop, merged.position)
    world.check("after a merge both keys are one customer", shop.has("bob", "plus") and shop.has("guest", "plus"))
    refund = store.transaction(2_000_000_900_800_000, token=named, begin=bought["purchaseDate"], revocationDate=bought["purchaseDate"] + 1,
                               revocationReason=1)
    world.equal("the refund is answered 200", world.notify(store.notification("REFUND", refund)).status, 200)
    until("the refund in the copy", lambda: not shop.has("alice", "plus"))
    world.check("one app's copy has nobody of the other's", not copies[LAB].accounts(), copies[LAB].accounts())


def live(world, copies, tokens):
    """Customers buy, a node dies, and the token is revoked and renewed."""
    lab = copies[LAB]
    load = Load(world, buyers=4, watchers=4)
    load.start()
    load.until_more(5)
    for node in world.nodes if world.is_full or world.setting == "sqlite" else world.nodes[:1]:
        node.kill()
        if world.setting == "nodes":
            load.until_more(5)
        node.start()
        until("a node that is ready again", lambda: node.is_ready)
    grant = world.caller("admin", LAB).insist("GrantEntitlement", account="carol", name="plus", reason="a gift")
    reached(world, "the copy goes on at another node", lab, grant.position)
    world.check("a grant of after the death is in the copy", lab.has("carol", "plus"))

    # What was revoked gets nothing more, and the file's next token does.
    world.perch("token", "revoke", "--token-file", tokens[LAB], token=world.token("admin", None))
    until("the copy whose token was revoked, cut off", lambda: lab.disconnected_since is not None)
    world.check("a copy that is cut off answers", lab.has("carol", "plus"))
    renew(world, LAB, tokens[LAB])
    grant = world.caller("admin", LAB).insist("GrantEntitlement", account="dora", name="plus", reason="a gift")
    reached(world, "the copy goes on with the next token", lab, grant.position)
    world.check("the copy goes on with the next token", lab.has("dora", "plus"))
    load.finish()


def compare(world, clients, copies):
    """Every account that the server knows, against a read of the server at the copy's position or later."""
    for app, copy in copies.items():
        admin, page, accounts = world.caller("admin", app), b"", []
        while True:
            answer = admin.insist("ListAccounts", page_token=page)
            accounts += answer.accounts
            page = answer.next_page_token
            if not page:
                break
        world.check("there are accounts to compare", len(accounts) > 1, accounts)
        for account in random.sample(accounts, len(accounts)):
            said = until(f"what the server says of {account}", lambda: asked(clients[app], account))
            copy.wait_for(said.info.position, timeout=GUARD_SECONDS)
            world.equal("a copy says what the server says", {name: each.tier for name, each in copy.entitlements(account).items()},
                        {each.name: each.tier for each in said.success.entitlements if each.active})


def asked(client, account):
    """What the server says; nothing where it may say it later, as a node that stood still and has not heard of its database yet."""
    with contextlib.suppress(perch.TransientError):
        return client.call.get_entitlements(account=account)


def be_alone(world, copies, files):
    """All nodes are away: the copy answers, and so does a process that starts now."""
    for node in world.nodes:
        node.kill()
    until("copies that know of it", lambda: all(copy.disconnected_since is not None for copy in copies.values()))
    world.check("without a server the copies answer", copies[SHOP].has("bob", "plus") and copies[LAB].has("carol", "plus"))
    try:
        copies[LAB].has("carol", "pluss")
        world.check("a slip of the pen is an error, not a customer without access", False)
    except perch.PerchError as error:
        world.equal("a slip of the pen is an error, not a customer without access", error.reason, "ENTITLEMENT_UNKNOWN")
    for copy in copies.values():
        copy.close()
    with connect(world, LAB, world.directory / "backend-xcode.token") as client:
        again = client.copy(file=files[LAB])
        again.wait_ready(timeout=GUARD_SECONDS)
        world.check("a process that starts without a server answers from the file", again.has("dora", "plus") and not again.has("alice", "plus"))
    for node in world.nodes:
        node.start()
