"""A rolling upgrade: nodes of an earlier version (736b9227) beside nodes of today on one database, while customers buy and nodes die.

Either both versions serve together and nothing is lost, doubled or told twice; or the new node refuses to start beside the old one and
says what to do, while the old nodes go on, and the upgrade is done in the way that it says.
"""
import time

from production.load import Load
from production.waiting import until
from production.world import LAB

SETTINGS, FULL = ["nodes"], ["nodes"]
CONTROL = "the next program starts on another store"
BREAKS = "every acknowledged purchase is there"


def play(world):
    if not world.old_perch:
        raise RuntimeError("no earlier program is named: --old PATH, or let Tests/Journeys/run build it")
    world.start(program=world.old_perch)
    changes = world.changes(LAB)
    load = Load(world, buyers=4, watchers=4)
    load.start()
    load.until_more(20)
    first, second = world.nodes
    load.until_it_reaches_every_node()
    world.equal("the earlier program stops with 0", first.stop(), 0)
    first.perch = world.perch_program
    if world.is_control:
        first.settings |= {"store": world.directory / "another-store", "bundle_id": LAB.bundle, "environment": LAB.environment}
        first.settings.pop("apple_apps"), first.settings.pop("apple_listen")
    first.spawn()
    until("a node of today that serves or refuses", lambda: first.serves or not first.runs, lambda: first.lines[-5:])
    if first.serves:
        load.check_kept()
        together(world, load, first, second)
    else:
        first.reader.join()
        said = " ".join(first.lines)
        world.check("a node that refuses to start says what to do", "perch: " in said and any(
            word in said for word in ("stop", "Stop", "upgrade", "Upgrade", "first")), said[-1000:])
        world.check("the earlier node goes on", second.runs)
        load.until_more(20)
        second.stop()
        first.start()
    load.until_more(20)
    if second.runs:
        load.until_it_reaches_every_node()
        second.stop()
    second.perch = world.perch_program
    second.start()
    until("ready nodes", lambda: all(node.is_ready for node in world.nodes))
    load.until_more(20)
    load.finish(changes)
    said = world.perch("nodes", token=world.token("admin", None))
    world.check("the list of nodes has both", said.count("applied revision") >= 2, said)


def together(world, load, first, second):
    """Both versions on one database: writes at both, and now and then one of them dies."""
    end = world.lasts(10, 600)

    turn = 0
    while time.monotonic() < end:
        load.until_it_reaches_every_node()
        victim = (second, first)[turn % 2]
        turn += 1
        victim.kill()
        load.until_more(10)
        victim.start()
        until("a node that is ready again", lambda: victim.is_ready)
        load.until_more(10)
