"""Negative controls: the journal of a good run is spoilt in one way, and the check that is meant for it has to say so.

Each control is a function of a Spoiler. It changes the entries and returns True, or returns False where the run has no
place for it.
"""

import change_controls  # noqa: F401, its controls register themselves.
from checks import Checks
from spoiler import CONTROLS, Spoiler, control
from values import CAUSE_EXPIRY, Value
from wire import BEAT, WELCOME


@control("ordered")
def two_values_change_places(spoiler):
    found = [
        pair
        for pair in spoiler.values()
        if Value(pair[0].message).position < Value(pair[1].message).position
        and all(each.message.WhichOneof("state") == "success" for each in pair)
    ]
    pair = spoiler.pick(found)
    if not pair:
        return False
    first, second = pair
    spoiler.entries[first.place] = first.entry._replace(body=second.entry.body)
    spoiler.entries[second.place] = second.entry._replace(body=first.entry.body)
    return True


@control("unique")
def a_value_comes_twice(spoiler):
    pair = spoiler.pick(spoiler.values())
    if not pair:
        return False
    spoiler.entries.insert(pair[1].place, pair[1].entry)
    return True


@control("resumable")
def an_equal_value_answers_a_token(spoiler):
    """`success` with the value of the token, where `unchanged` was due."""
    newest = {}
    for each in spoiler.messages:
        if each.is_value:
            state = each.message.WhichOneof("state")
            if state == "unchanged" and each.note["token"] in newest:
                changed = spoiler.changed(each)
                changed.success.CopyFrom(newest[each.note["token"]].message.success)
                return spoiler.replace(each, changed)
            if state == "success":
                newest[each.message.info.resume_token] = each
    return False


@control("reliable")
def an_unchanged_that_is_not_true(spoiler):
    """A watch comes back after its value has changed, and gets `unchanged` and nothing more."""
    said, calls = {}, {}
    for each in spoiler.messages:
        if each.is_value and "read" not in each.note:
            said[each.message.info.resume_token] = each
            calls.setdefault(id(each.call), []).append(each)
    found = []
    for values in calls.values():
        first, last = values[0], values[-1]
        base = said.get(first.note["token"])
        states = {each.message.WhichOneof("state") for each in (first, last, base) if each}
        is_last_call = spoiler.is_open(first)
        if base and is_last_call and states == {"success"}:
            if Value(base.message).digest not in (Value(first.message).digest, Value(last.message).digest):
                found.append(values)
    values = spoiler.pick(found)
    if not values:
        return False
    changed = spoiler.changed(values[0])
    changed.unchanged.SetInParent()
    spoiler.replace(values[0], changed)
    for each in reversed(values[1:]):
        del spoiler.entries[each.place]
    return True


@control("reliable")
def the_last_value_is_missing(spoiler):
    """An open watch never hears its last value. Where that is its call's only one, it hears an older one instead."""
    watches = {}
    for each in spoiler.messages:
        if each.is_value and "read" not in each.note:
            watches.setdefault(each.note["chain"], []).append(each)
    dropped, aged = [], []
    for values in watches.values():
        last = values[-1]
        if not spoiler.is_open(last) or Value(last.message).state != "success":
            continue
        for before in values[:-1]:
            value = Value(before.message)
            if value.state != "success" or value.digest == Value(last.message).digest:
                continue
            later = values[values.index(before) + 1 :]
            if before.call is last.call:
                dropped.append(later)
            elif last.order == 0:
                aged.append((last, before))
    later = spoiler.pick(dropped)
    if later:
        for each in reversed(later):
            del spoiler.entries[each.place]
        return True
    chosen = spoiler.pick(aged)
    return spoiler.replace(chosen[0], chosen[1].message) if chosen else False


def late_value(spoiler, methods, is_wanted=lambda first, second: True):
    """A value comes after the BEAT of its group."""
    found = []
    for method in methods:
        for first, second in spoiler.values(method):
            place = spoiler.beat_after(second)
            is_new = second.message.info.position.revision > first.message.info.position.revision
            if (
                place in spoiler.whole_beats
                and is_new
                and second.message.info.cause != CAUSE_EXPIRY
                and is_wanted(first, second)
            ):
                found.append((second.place, place))
    chosen = spoiler.pick(found)
    return spoiler.move(*chosen) if chosen else False


@control("bookmarks")
def a_value_comes_after_its_beat(spoiler):
    return late_value(spoiler, ["SubscriptionStatusTask", "CurrentEntitlementTask"])


@control("atomic")
def an_entitlement_comes_after_its_beat(spoiler):
    statuses = [
        each
        for each in spoiler.messages
        if each.method == "SubscriptionStatusTask" and "read" not in each.note
    ]

    def appears(first, second):
        """It appears or goes, and the status of its account says so in the same group."""
        states = {first.message.WhichOneof("state"), second.message.WhichOneof("state")}
        if states != {"success"} or second.note["product_id"] == "app.perch.lifetime":
            return False
        if first.message.success.HasField("transaction") == second.message.success.HasField("transaction"):
            return False
        end = spoiler.beat_after(second)
        return any(
            each.entry.connection == second.entry.connection
            and each.note["account"] == second.note["account"]
            and first.place < each.place < end
            and each.message.WhichOneof("state") == "success"
            and each.message.info.position.revision == second.message.info.position.revision
            for each in statuses
        )

    return late_value(spoiler, ["CurrentEntitlementTask"], appears)


@control("atomic")
def products_come_after_their_beat(spoiler):
    def is_renamed(first, second):
        return (
            first.message.success.products[0].display_name != second.message.success.products[0].display_name
        )

    return late_value(
        spoiler,
        ["ProductsTask"],
        lambda first, second: len(second.message.success.products) > 0
        and len(first.message.success.products) > 0
        and is_renamed(first, second),
    )


@control("bookmarks")
def a_beat_is_ahead(spoiler):
    """A BEAT names a revision whose values come later."""
    pair = spoiler.pick(
        pair
        for pair in spoiler.values("SubscriptionStatusTask")
        if pair[1].message.info.position.revision > pair[0].message.info.position.revision
        and pair[1].message.info.cause != CAUSE_EXPIRY
    )
    if not pair:
        return False
    beat = spoiler.contract.Beat(revision=pair[1].message.info.position.revision)
    entry = pair[1].entry._replace(kind=BEAT, stream=0, body=beat.SerializeToString())
    spoiler.entries.insert(pair[1].place, entry)
    return True


@control("bookmarks")
def a_beat_goes_back(spoiler):
    beats = [n for n, entry in enumerate(spoiler.entries) if entry.what == "frame" and entry.kind == BEAT]
    by_connection = {}
    for place in beats:
        by_connection.setdefault(spoiler.entries[place].connection, []).append(place)
    places = spoiler.pick(places for places in by_connection.values() if len(places) > 1)
    if not places:
        return False
    spoiler.entries[places[-1]] = spoiler.entries[places[-1]]._replace(
        body=spoiler.contract.Beat(revision=0).SerializeToString()
    )
    return True


@control("heartbeat")
def a_minute_without_a_beat(spoiler):
    heard, found = set(), []
    for place, entry in enumerate(spoiler.entries):
        if entry.what == "lost":
            heard.discard(entry.connection)
        elif entry.what == "frame":
            if entry.connection in heard:
                found.append(place)
            elif entry.kind == WELCOME:
                heard.add(entry.connection)
    chosen = spoiler.pick(found)
    if chosen is None:
        return False
    later = [entry._replace(at=entry.at + 60) for entry in spoiler.entries[chosen:]]
    spoiler.entries[chosen:] = later
    return True


@control("bookmarks")
def a_purchase_is_not_told_before_the_beat(spoiler):
    """A status watch leaves out the value of a purchase, whose answer has come."""
    sent = spoiler.sent_tokens()
    bought = {
        (each.operation["account"], each.message.position.revision): each.place
        for each in spoiler.bought()
        if each.message.transaction.transaction.subscription_group_id
    }
    found = []
    for first, second in spoiler.values("SubscriptionStatusTask"):
        account, revision = second.note["account"], second.message.info.position.revision
        acknowledged, place = bought.get((account, revision)), spoiler.beat_after(second)
        if (
            acknowledged is None
            or place is None
            or acknowledged > place
            or account in spoiler.scratch_accounts
        ):
            continue
        if second.message.info.resume_token in sent:
            continue
        is_last = not any(
            second.place < each.place < place and each.call is second.call for each in spoiler.messages
        )
        beat = spoiler.contract.Beat.FromString(spoiler.entries[place].body)
        if is_last and beat.revision >= revision > first.message.info.position.revision:
            found.append(second.place)
    chosen = spoiler.pick(found)
    if chosen is None:
        return False
    del spoiler.entries[chosen]
    return True


# A damage can fall where the protocol hides it, for example on a call that the client has given up.
PLACES_TRIED = 3


def violated(contract, entries, scratch_accounts):
    checks = Checks(contract, scratch_accounts)
    for entry in entries:
        checks.feed(entry)
    return {each: count for each, count in checks.ledger.violated.items() if count}


def run_controls(contract, entries, scratch_accounts, seed, say):
    """Spoils the journal once for each control, at another place where the damage stayed hidden. Returns how many controls
    failed."""
    failed = 0
    for name, check, function in CONTROLS:
        is_possible, found = False, {}
        for attempt in range(PLACES_TRIED):
            spoiler = Spoiler(contract, entries, scratch_accounts, f"{seed} {name} {attempt}")
            if not function(spoiler):
                continue
            is_possible, found = True, violated(contract, spoiler.entries, scratch_accounts)
            if check in found:
                break
        failed += check not in found
        if not is_possible:
            say(f"control NOT POSSIBLE  {name}: the run has no place for it")
            continue
        others = ", ".join(f"{other} {count}" for other, count in sorted(found.items()) if other != check)
        others = f" (also {others})" if others else ""
        say(f"control {'found' if check in found else 'NOT FOUND':9}  {check:16}  {name}{others}")
    return failed
