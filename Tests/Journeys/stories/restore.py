"""A restore: a backup while customers buy, a lost store, the backup in its place.

What the backup has is there. Cursors and tokens of before are refused instead of continued, and clients restart by themselves. A revoked
token stays revoked. What Apple reported after the backup comes back when it is submitted again.
"""
import shutil

import grpc

from production.clients import DEADLINE, is_final, reason
from production.load import Load
from production.waiting import until
from production.world import LAB, SHOP

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the backup is copied into place, without `perch restore` or `perch store restored`, by machines that remember nothing"
BREAKS = "a cursor of before the restore is refused"


def play(world):
    world.start()
    admin = world.token("admin", None)
    load = Load(world, buyers=2, watchers=2)
    load.start()
    reader = world.caller("read", LAB)
    changes = world.changes(LAB)
    world.buy("alice", "app.perch.lifetime", "alice")
    alice = world.entitlements("alice", LAB)
    alice.waits_for("plus")
    load.until_more(10)
    copy = make_backup(world, admin)
    load.until_more(10)

    # After the backup: a purchase in the test app, one of the App Store, and a token that leaked.
    world.buy("late", "app.perch.lifetime", "late")
    late = world.entitlements("late", LAB)
    late.waits_for("plus")
    reported = world.app_store.notification("SUBSCRIBED", world.app_store.transaction(4_000_000))
    signed = world.app_store.sign(world.app_store.transaction(4_000_000))
    world.caller("ingest").insist("SubmitTransaction", account="apple-late", signed_values=[signed])
    leaked = world.token("read", LAB, subject="leaked")
    thief = world.caller_of(leaked, LAB)
    thief.insist("GetEntitlements", account="alice")
    world.perch("token", "revoke", "--token-file", leaked, token=admin)
    until("a revoked token that is refused", lambda: (thief.refusal("GetEntitlements", account="alice") or "").startswith("UNAUTHENTICATED"))
    changes.until("a cursor behind the late purchase", lambda: any(each.account == "late" for each in changes.values))
    cursor = changes.token
    changes.close()
    load.is_over.set()
    for thread in load.threads:
        thread.join()

    # The store is lost, and the backup takes its place.
    for node in world.nodes:
        node.stop()
    put_back(world, copy)
    for node in world.nodes:
        node.start()
    until("ready nodes", lambda: all(node.is_ready for node in world.nodes))

    refused = until("an answer about the cursor", lambda: answer_to(reader, cursor))
    world.equal("a cursor of before the restore is refused", refused, "TOKEN_OTHER_STORE")
    late.waits_for("plus", False)
    world.check("the stream restarted by itself", late.restarts > 0, late.lost[-3:])
    alice.until("the stream of alice goes on", lambda: alice.restarts > 0)
    world.check("what the backup has is there", alice.has("plus"))
    world.equal("what was bought after the backup is gone", len(world.transactions("late")), 0)
    if world.setting == "sqlite":
        # `perch restore` finds the replaced store beside the new one. A dump that PostgreSQL loads replaces everything.
        refused = world.caller_of(leaked, LAB).refusal("GetEntitlements", account="alice") or ""
        world.check("a revoked token stays revoked", refused.startswith("UNAUTHENTICATED"), refused)

    # Apple's history is submitted again, and the customer has what he paid for.
    world.equal("a report that comes again is answered 200", world.notify(reported).status, 200)
    history = world.directory / "history.jws"
    history.write_text(signed + "\n")
    world.perch("ingest", "--account", "apple-late", history, token=world.token("ingest"), app=SHOP)
    found = world.caller("read").insist("GetEntitlements", account="apple-late").success.entitlements
    world.check("what Apple reported after the backup is back", any(each.active for each in found), found)
    bought = world.buy("alice", "app.perch.coins", "after the restore")
    known = {each[1] for each in load.acknowledged}
    if world.setting == "nodes":
        number = bought.transaction.transaction.id
        world.check("no number of a lost transaction is given out again", number not in known, number)


def make_backup(world, admin):
    if world.setting == "nodes":
        world.database.dump(world.directory / "perch.sql")
        return world.directory / "perch.sql"
    copy = world.directory / "backup.db"
    world.perch("backup", copy, token=admin)
    world.run([world.perch_program, "restore", "--verify", copy])
    return copy


def put_back(world, copy):
    if world.setting == "nodes":
        world.database.load(copy)
        if world.is_control:
            for memory in [path for node in world.nodes for path in node.state.glob("shown-*")]:
                memory.unlink()
        else:
            world.run([world.perch_program, "store", "restored", "--store", world.store])
        return
    if world.is_control:
        for file in world.store.glob("perch.db*"):
            file.unlink()
        shutil.copy(copy, world.store / "perch.db")
    else:
        world.run([world.perch_program, "restore", copy, world.store, "--force"])


def answer_to(reader, cursor):
    """The reason with which a stream from a cursor is refused, or that it goes on; nothing while only the proxy answers, or nobody in
    time: a cursor that is taken is answered at once."""
    kind, method = reader.method("AppChanges")
    try:
        call = method(kind(app=reader.app, cursor=cursor), timeout=DEADLINE, metadata=reader.metadata)
        next(iter(call))
        call.cancel()
    except grpc.RpcError as error:
        return reason(error) if is_final(error) else None
    return "it goes on"
