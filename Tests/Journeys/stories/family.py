"""A month of a family in the test app, day by day: a trial-free subscription, five members, a failed charge with its grace, a recovery,
a child that asks, a member who leaves. At each step every device shows what its account has.
"""
import itertools

from production.clients import Watch
from production.world import LAB

SETTINGS, FULL = ["sqlite"], ["sqlite", "nodes"]
CONTROL = "the app has no grace period for failed charges"
BREAKS = "nobody of the family loses access while the charge is repeated"
DAY = 86_400_000
FAIL, SUCCEED = 2, 1  # ChargeOutcome
MEMBERS = ["mum", "dad", "lea", "tom", "gran"]


def play(world):
    world.settings |= {"time_rate": 0}
    world.start()
    test = world.caller("test", LAB)
    clock = test.insist("SetClock", freeze={})
    passed = itertools.count(1)

    def days(count):
        # To an instant, so that a day whose answer was late passes once.
        for _ in range(count):
            test.insist("SetClock", advance_to_ms=clock.position.as_of_ms + next(passed) * DAY)

    def shows(names):
        """Every device of the family shows it: streams, on whichever node."""
        for name, device in devices.items():
            device.until(f"{name} {'has' if name in names else 'lacks'} plus", lambda: device.has("plus") == (name in names))

    for name, value in (("grace", "off" if world.is_control else "on"),):
        world.perch("store", "set", name, value, token=world.token("test", LAB), app=LAB)
    devices = {name: world.entitlements(name, LAB) for name in ["owner", *MEMBERS]}
    world.buy("owner", "app.perch.pro.monthly", "family", introductory_eligibility=2)
    shows({"owner"})
    for name in MEMBERS:
        world.operate("owner", share={"target": {"product_id": "app.perch.pro.monthly"}, "member": name})
    shows(set(devices))
    refused = world.caller("test", LAB).refusal("Operate", account="owner", operation={
        "share": {"target": {"product_id": "app.perch.pro.monthly"}, "member": "a sixth"}})
    world.equal("a family has five members", refused, "RESOURCE_EXHAUSTED FAMILY_LIMIT")

    # Two weeks pass, and grandmother leaves.
    days(14)
    world.operate("owner", stop_sharing={"member": "gran"})
    shows(set(devices) - {"gran"})

    # The card fails at the end of the month; grace keeps everyone in while the store tries again.
    world.operate("owner", set_charges={"outcome": FAIL})
    days(18)
    family = set(devices) - {"gran"}
    statuses = world.caller("read", LAB).insist("GetSubscriptionStatus", account="owner", group_id="plus").success.statuses
    lost = [name for name in family if not any(
        each.active for each in world.caller("read", LAB).insist("GetEntitlements", account=name).success.entitlements)]
    world.check("nobody of the family loses access while the charge is repeated", not lost, f"{lost} have lost it: {statuses[0].state}")
    shows(family)
    messages = Watch(world.caller("read", LAB, "owner"), "Messages", account="owner")
    world.closing.append(messages)
    messages.until("a message about the charge", lambda: messages.values and any(
        each.reason == 1 for each in messages.values[-1].success.messages))
    world.operate("owner", set_charges={"outcome": SUCCEED})
    world.operate("owner", resolve_billing={"target": {"product_id": "app.perch.pro.monthly"}})
    messages.until("no message any more", lambda: not messages.values[-1].success.messages)
    shows(family)

    # A child asks to buy, and a parent says no, then yes.
    for answer, has in ((False, 0), (True, 1)):
        asked = world.caller("write", LAB).insist("Purchase", account="tom", order={
            "product_id": "app.perch.coins", "simulates_ask_to_buy": True}, idempotency_key=f"ask-{answer}".encode())
        world.check("a child's purchase waits", asked.pending_number > 0, asked)
        world.operate("tom", decide_purchase={"number": asked.pending_number, "approves": answer})
        own = [each for each in world.transactions("tom") if each.product_id == "app.perch.coins"]
        world.equal("a purchase that waited is there once it is approved", len(own), has)

    # It is over: renewal goes off, and with the period's end everyone is out, without a client or a write.
    world.operate("owner", set_auto_renew={"target": {"product_id": "app.perch.pro.monthly"}, "enabled": False})
    shows(family)
    days(32)
    shows(set())
    bought = [each for each in world.transactions("owner") if each.product_id == "app.perch.pro.monthly"]
    world.equal("the month and its renewal are two transactions", len(bought), 2)
    instants = [devices[name].values[-1].info.position.as_of_ms for name in sorted(family)]
    world.equal("all devices were told of the end at one instant", len(set(instants)), 1)
    world.check("the end is when the period ends", instants[0] - clock.position.as_of_ms < 70 * DAY, instants)
