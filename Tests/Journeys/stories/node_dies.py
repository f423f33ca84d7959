"""A node dies (`kill -9`) among customers, and once just after it has done what its client never hears of.

The clients call again, the proxy sends them to the other node, and each purchase with its key is done once. Streams and the reader of
the app's changes go on with their tokens.
"""
import grpc

from relay import Relay

from production.clients import DEADLINE
from production.load import Load
from production.waiting import until
from production.world import LAB

SETTINGS, FULL = ["nodes"], ["nodes", "sqlite"]
CONTROL = "the clients send no idempotency keys"
BREAKS = "a purchase whose answer was lost is done once"


def play(world):
    world.start()
    changes = world.changes(LAB)
    load = Load(world, buyers=4, watchers=4)
    load.start()
    load.until_more(10)

    # The answer of one purchase is lost between node and client, and the node dies before the client asks again.
    victim = world.nodes[0]
    relay = Relay(victim.port)
    world.closing.append(relay)
    unlucky = world.caller("write", LAB, "unlucky", port=relay.port)
    order = {"product_id": "app.perch.coins", "quantity": 3}
    key = {} if world.is_control else {"idempotency_key": b"unlucky"}
    unlucky.insist("Purchase", account="unlucky", order=order, idempotency_key=b"before")
    relay.loses_answers = True
    other = world.caller("read", LAB, "unlucky", port=world.other_node(victim).port)
    kind, method = unlucky.method("Purchase")
    futures = []

    def is_bought():
        # A node that stood still may refuse it, and nobody hears of that either: the client asks again after its deadline.
        if not futures or futures[-1].done():
            request = kind(app=unlucky.app, account="unlucky", order=order, **key)
            futures.append(method.future(request, timeout=DEADLINE, metadata=unlucky.metadata))
        return len(world.transactions("unlucky", caller=other)) >= 2

    until("the purchase whose answer is lost", is_bought)
    victim.kill()
    relay.cut()
    for future in futures:
        try:
            future.result()
            world.check("the answer was lost", False)
        except grpc.RpcError:
            pass
    if world.setting == "sqlite":
        victim.start()
    # The client asks again, and the proxy knows the other node.
    world.caller("write", LAB, "unlucky").insist("Purchase", account="unlucky", order=order, **key)
    world.equal("a purchase whose answer was lost is done once", len(world.transactions("unlucky")), 2)

    # The customers never stopped.
    load.until_more(10)
    if not victim.runs:
        victim.start()
    until("a node that is ready again", lambda: victim.is_ready)
    for number in range(30 if world.is_full else 0):
        node = world.nodes[(number + 1) % len(world.nodes)]
        load.until_it_reaches_every_node()
        node.kill()
        if world.setting == "nodes":
            load.until_more(10)
        node.start()
        until("a node that is ready again", lambda: node.is_ready)
    load.finish(changes)
