"""An upgrade of the server under load: SIGTERM, and the next program on the same store; with two nodes one after the other.

Customers buy and watch through the proxy meanwhile. Nothing that was acknowledged is lost or doubled, every stream goes on with its
token, and nothing fails that a stock client does not ask again by itself.
"""
from production.load import Load
from production.waiting import until
from production.world import LAB

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the next program starts on another store"
BREAKS = "every acknowledged purchase is there"


def play(world):
    # One server has its socket from the service manager, so that nobody is refused between two programs.
    world.node_options = {"holds_socket": world.setting == "sqlite"}
    world.web_accounts["wendy"] = LAB
    world.start(program=world.old_perch)
    load = Load(world, buyers=4, watchers=4)
    changes = world.changes(LAB)
    load.start()
    # A page follows wendy by EventSource, without a line of code for reconnecting.
    page = world.page("wendy")
    until("the page's first value", lambda: page.shown, page.told)
    world.check("the page shows that wendy has nothing", not has_plus(page))
    for number in range(1 if not world.is_full else 20):
        for node in world.nodes:
            load.until_more(10)
            load.until_it_reaches_every_node()
            if world.is_control:
                node.settings["store"] = world.directory / "another-store"
                node.settings |= {"bundle_id": LAB.bundle, "environment": LAB.environment}
                node.settings.pop("apple_apps"), node.settings.pop("apple_listen")
            said = world.doctor(node)
            world.check("the doctor finds nothing that a restart could not use", "no problem" in said, said)
            world.equal("a server that is told to stop ends with 0", node.restart(world.perch_program), 0)
            until("a ready server", lambda: node.is_ready)
            load.until_more(10)
    load.check_kept()
    world.buy("wendy", "app.perch.lifetime", "wendy")
    until("the page that shows what wendy bought after the upgrade", lambda: has_plus(page), page.told)
    load.finish(changes)
    lost = [line for watch in [*load.devices, changes] for line in watch.lost] + [line for caller in load.callers.values() for line in caller.retried]
    strange = [line for line in lost if line.split()[0] not in ("UNAVAILABLE", "DEADLINE_EXCEEDED")]
    world.check("what an upgrade interrupts ends with a code that stock clients try again", not strange, strange[:5])
    said = world.perch("nodes", token=world.token("admin", None)) if world.setting == "nodes" else world.doctor()
    world.check("the doctor finds no problem after the upgrade", "no problem" in said or world.setting == "nodes", said)



def has_plus(page):
    return any(each.get("active") for each in page.shown["entitlements"])
