"""A customer moves between accounts: bought before signing in, signed in, and then on a wrong account that support corrects.

Each move is one change: no revision shows the purchase at both accounts, or at none. A thief who submits a copy of the purchase for
another account gets nothing while the owner uses it.
"""
import uuid

from appstore import now

SETTINGS, FULL = ["nodes"], ["sqlite", "nodes"]
CONTROL = "apple.json lets every submission take a purchase over (`claims` is `transfer`)"
BREAKS = "a thief's submission takes nothing from a customer who uses it"


def owners(watches):
    """At each revision of which a device was told: the accounts that have `plus`."""
    told = sorted((value.info.position.revision, watch.account, any(each.name == "plus" and each.active for each in value.success.entitlements))
                  for watch in watches for value in watch.values)
    found, has = {}, set()
    for revision, account, is_active in told:
        has = has | {account} if is_active else has - {account}
        found[revision] = set(has)
    return found


def play(world):
    world.apple_settings["claims"] = "transfer" if world.is_control else "transfer-if-inactive"
    world.start()
    admin, ingest, reader = world.caller("admin"), world.caller("ingest"), world.caller("read")
    devices = [world.entitlements(name) for name in ("anonymous-17", "alice", "alicia", "thief")]
    anonymous, alice, alicia, thief = devices
    changes = world.changes()
    original = 2_000_000_900_500_000
    signed = world.app_store.sign(world.app_store.transaction(original))

    # Bought before an account exists, then signed in: the anonymous key becomes another name of the account.
    ingest.insist("SubmitTransaction", account="anonymous-17", signed_values=[signed])
    anonymous.waits_for("plus")
    admin.insist("MergeAccounts", account="anonymous-17", into_account="alice")
    alice.waits_for("plus")
    world.check("the old key still names the account", any(each.active for each in reader.insist(
        "GetEntitlements", account="anonymous-17").success.entitlements))

    # A thief has a copy of the signed transaction.
    refused = ingest.refusal("SubmitTransaction", account="thief", signed_values=[signed]) or ""
    found = admin.insist("FindAccount", transaction_id=original).account
    world.check("a thief's submission takes nothing from a customer who uses it",
                refused.startswith("FAILED_PRECONDITION") and found == "alice", f"it was answered {refused or 'OK'}, and {found} has it")

    # Support moves it, and both devices show it as one change.
    world.perch("account", "move", "alicia", original, token=world.token("admin"))
    alicia.waits_for("plus")
    alice.waits_for("plus", False)
    found = admin.insist("FindAccount", transaction_id=original)
    world.equal("support finds the purchase where it is", found.account, "alicia")
    shown = {revision: names - {"anonymous-17"} for revision, names in owners(devices).items()}
    first = min(revision for revision, names in shown.items() if names)
    world.check("at no revision the purchase is at two accounts or at none",
                all(len(names) == 1 for revision, names in shown.items() if revision >= first), shown)

    # What Apple says later goes to the new account, and the reader of the app's changes has each move once.
    renewed = world.app_store.transaction(original, period=1, begin=now() - 1_000)
    world.equal("the renewal is answered 200", world.notify(world.app_store.notification("DID_RENEW", renewed)).status, 200)
    alicia.until("the renewed transaction", lambda: any(
        each.until_ms == renewed["expiresDate"] for each in alicia.values[-1].success.entitlements))
    world.check("the renewal is the new account's", not alice.has("plus") and not thief.has("plus"))
    changes.until("the renewal among the changes", lambda: ("alicia", original + 1) in changes.bought())
    moved = [each for each in changes.bought() if each == ("alicia", original)]
    world.equal("the reader of changes hears of the move once", len(moved), 1)

    # The customer leaves for good: everything goes, and what Apple says afterwards brings nothing back.
    exported = world.perch("account", "export", "alicia", token=world.token("admin"))
    world.check("an export has the purchase", str(original) in exported, exported[:500])
    world.perch("account", "erase", "alicia", "--yes", token=world.token("admin"))
    alicia.waits_for("plus", False)
    late = world.app_store.notification("DID_RENEW", world.app_store.transaction(original, period=2, token=str(uuid.uuid4())))
    world.equal("a late report is answered 200", world.notify(late).status, 200)
    world.check("a late report brings nothing back", not alicia.has("plus") and "NOT_FOUND" in (
        admin.refusal("FindAccount", transaction_id=original) or ""))
