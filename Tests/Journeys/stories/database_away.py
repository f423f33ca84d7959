"""A day when the database is away for a while: two nodes, and PostgreSQL stops and comes back.

Reads and writes are refused with a reason that clients retry, `/readyz` says no, and open streams are not told anything false. Who opens
the app meanwhile sees the purchase as soon as the database is back, without a second tap.
"""
import signal
import time

import grpc

from production.clients import Entitlements, reason
from production.load import Load
from production.waiting import until
from production.world import LAB

SETTINGS, FULL = ["nodes"], ["nodes"]
CONTROL = "the database comes back without its last writes"
BREAKS = "every acknowledged purchase is there"


def play(world):
    world.start()
    changes = world.changes(LAB)
    load = Load(world, buyers=4, watchers=4)
    load.start()
    before = world.database.keep_copy("yesterday")
    load.until_more(20)
    alice = world.entitlements("alice", LAB)
    world.buy("alice", "app.perch.lifetime", "alice")
    alice.waits_for("plus")

    world.database.kill(signal.SIGQUIT)
    gone = time.monotonic()
    until("nodes that say that they are not ready", lambda: not any(node.is_ready for node in world.nodes))
    reader = world.caller("read", LAB, "alice")
    until("reads that are refused", lambda: refused(reader, "GetEntitlements", account="alice") == "UNAVAILABLE STORE_UNREACHABLE",
          lambda: refused(reader, "GetEntitlements", account="alice"))
    told = refused(world.caller("write", LAB), "Purchase", account="alice", order={"product_id": "app.perch.coins"}, idempotency_key=b"away")
    world.check("a purchase is refused with a code that clients retry", told and told.split()[0] in ("UNAVAILABLE", "DEADLINE_EXCEEDED"), told)
    world.check("a process lives without its database", all(node.runs for node in world.nodes))
    # Somebody opens the app now: the stream waits, or says that it has no value yet.
    opened = Entitlements.__new__(Entitlements)
    opened.account = "alice"
    super(Entitlements, opened).__init__(world.caller("read", LAB, "alice"), "EntitlementsTask", account="alice", deadline=None)
    world.closing.append(opened)
    opened.until("a stream that says that the store is away", lambda: opened.failures or opened.lost)
    until("the time that the database is away", lambda: time.monotonic() > gone + (75 if world.is_full else 5), every=0.1)
    world.check("an open device keeps what it knows", alice.has("plus"))

    if world.is_control:
        world.database.return_to(before)
    world.database.start()
    until("nodes that are ready again", lambda: all(node.is_ready or revived(world, node) for node in world.nodes))
    load.check_kept()
    opened.waits_for("plus")
    world.check("the device never lost its entitlement", alice.kept("plus"), alice.values)
    once = world.buy("alice", "app.perch.coins", "away")
    coins = [each for each in world.transactions("alice") if each.product_id == "app.perch.coins"]
    world.equal("the purchase that was tried meanwhile is there once", [each.id for each in coins], [once.transaction.transaction.id])
    load.until_more(20)
    load.finish(changes)


def refused(caller, name, **fields):
    """What one attempt is told, within a deadline."""
    try:
        caller.call(name, **fields)
    except grpc.RpcError as error:
        return f"{error.code().name} {reason(error)}".strip()
    return None


def revived(world, node):
    """In the control a node may end, since its history is gone; its supervisor starts it again."""
    if world.is_control and not node.runs:
        node.spawn()
    return False
