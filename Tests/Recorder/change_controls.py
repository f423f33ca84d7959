"""Negative controls of events, mutations and the shape of calls: see controls.py."""

from spoiler import control
from wire import PONG, STATUS, WELCOME


def live_events(spoiler):
    return [each for each in spoiler.messages if each.is_event and not each.note["history"]]


@control("exactly-once")
def an_event_is_lost(spoiler):
    found = [each for each in live_events(spoiler) if spoiler.is_open(each)]
    chosen = spoiler.pick(found)
    if not chosen:
        return False
    del spoiler.entries[chosen.place]
    return True


@control("exactly-once")
def the_first_event_after_a_cursor_is_lost(spoiler):
    # The first message repeats the cursor, the second is an event.
    found = [
        each
        for each in live_events(spoiler)
        if each.order == 1 and each.note["token"] and spoiler.is_open(each)
    ]
    chosen = spoiler.pick(found)
    if not chosen:
        return False
    del spoiler.entries[chosen.place]
    return True


@control("exactly-once")
def an_event_comes_twice(spoiler):
    chosen = spoiler.pick(live_events(spoiler))
    if not chosen:
        return False
    spoiler.entries.insert(chosen.place, chosen.entry)
    return True


@control("exactly-once")
def an_event_is_in_no_history(spoiler):
    """No stream reports an acknowledged purchase."""
    sent = spoiler.sent_tokens()
    events = [
        each
        for each in spoiler.messages
        if each.is_event and each.note["account"] not in spoiler.scratch_accounts
    ]
    kept = {each.message.transaction.transaction.id for each in events if each.message.cursor in sent}
    bought = {each.message.transaction.transaction.id for each in spoiler.bought()}
    bought &= {each.message.transaction.transaction.id for each in events if each.message.kind == 2}
    lost = spoiler.pick(sorted(bought - kept))
    if lost is None:
        return False
    places = [
        each.place
        for each in spoiler.messages
        if each.is_event and each.message.transaction.transaction.id == lost
    ]
    for place in reversed(places):
        del spoiler.entries[place]
    return True


@control("resumable")
def another_event_comes_again(spoiler):
    """After an older cursor, an event that came before has changed."""
    seen, found = {}, []
    for each in live_events(spoiler):
        key = (each.note["chain"], each.message.cursor)
        if key in seen and seen[key].call is not each.call:
            found.append(each)
        seen[key] = each
    chosen = spoiler.pick(found)
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    changed.transaction.transaction.purchased_quantity += 1
    return spoiler.replace(chosen, changed)


@control("kept")
def an_acknowledged_purchase_is_forgotten(spoiler):
    chosen = spoiler.pick(
        each
        for each in spoiler.reads("transactions")
        if len(each.message.transactions) > 3 and each.note["account"] not in spoiler.scratch_accounts
    )
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    bought = [
        n
        for n, each in enumerate(changed.transactions)
        if each.transaction.reason == 1 and each.transaction.ownership_type == 1
    ]
    del changed.transactions[bought[0]]
    return spoiler.replace(chosen, changed)


@control("kept")
def a_finished_transaction_is_unfinished_again(spoiler):
    finished = {
        entry.note["account"]: entry.note["values"]["transaction"]
        for entry in reversed(spoiler.entries)
        if entry.what == "operation" and entry.note["kind"] == "finish"
    }
    chosen = spoiler.pick(
        each
        for each in spoiler.reads("unfinished")
        if each.note["account"] in finished
        and each.note["final"]
        and each.note["account"] not in spoiler.scratch_accounts
    )
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    changed.transactions.add().transaction.id = finished[chosen.note["account"]]
    return spoiler.replace(chosen, changed)


@control("kept")
def the_store_is_older_after_a_kill(spoiler):
    kills = [
        n for n, entry in enumerate(spoiler.entries) if entry.what == "kill" and entry.note["signal"] == 9
    ]
    if not kills:
        return False
    place = spoiler.next_place(kills[-1], lambda entry: entry.what == "frame" and entry.kind == WELCOME)
    welcome = spoiler.contract.Welcome.FromString(spoiler.entries[place].body)
    welcome.revision = 1
    spoiler.entries[place] = spoiler.entries[place]._replace(body=welcome.SerializeToString())
    return True


@control("kept")
def a_catalogue_is_older_after_a_kill(spoiler):
    chosen = spoiler.pick(
        each
        for each in spoiler.reads("products")
        if each.message.success.products and "#0" not in each.message.success.products[0].display_name
    )
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    changed.success.products[0].display_name = "Older #0"
    return spoiler.replace(chosen, changed)


@control("kept")
def the_clock_is_earlier_after_a_kill(spoiler):
    clocks = spoiler.reads("clock")
    changed = spoiler.changed(clocks[-1])
    changed.clock.now_ms = 1
    return spoiler.replace(clocks[-1], changed)


@control("read-your-writes")
def a_read_does_not_wait(spoiler):
    chosen = spoiler.pick(
        each
        for each in spoiler.reads("after")
        if each.method in ("GetLatestTransaction", "GetSubscriptionStatus")
    )
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    if chosen.method == "GetLatestTransaction":
        changed.ClearField("transaction")
    else:
        del changed.success.statuses[:]
    return spoiler.replace(chosen, changed)


def repetitions(spoiler):
    return [
        each
        for each in spoiler.messages
        if each.note.get("repeat")
        and "transaction" in each.message.DESCRIPTOR.fields_by_name
        and each.message.HasField("transaction")
    ]


@control("idempotent")
def a_repeated_key_buys_again(spoiler):
    chosen = spoiler.pick(repetitions(spoiler))
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    changed.transaction.transaction.id += 1
    return spoiler.replace(chosen, changed)


@control("idempotent")
def a_transaction_of_no_answer(spoiler):
    chosen = spoiler.pick(
        each
        for each in spoiler.reads("transactions")
        if each.note["final"]
        and len(each.message.transactions) > 0
        and each.note["account"] not in spoiler.scratch_accounts
    )
    if not chosen:
        return False
    changed = spoiler.changed(chosen)
    extra = changed.transactions.add()
    extra.CopyFrom(changed.transactions[0])
    extra.transaction.id, extra.transaction.reason, extra.transaction.ownership_type = 10**9, 1, 1
    return spoiler.replace(chosen, changed)


@control("consistent")
def one_watch_shows_another_value(spoiler):
    """One of two watches of a view shows another price."""
    seen = {}
    for each in spoiler.messages:
        if each.method == "ProductsTask" and each.message.WhichOneof("state") == "success":
            key = (
                tuple(each.note["product_ids"]),
                each.message.info.position.revision,
                each.message.info.position.as_of_ms,
            )
            if key in seen and len(each.message.success.products) > 0:
                changed = spoiler.changed(each)
                changed.success.products[0].price.milliunits += 10
                return spoiler.replace(each, changed)
            seen[key] = each
    return False


@control("shape")
def loading_comes_late(spoiler):
    pair = spoiler.pick(spoiler.values())
    if not pair:
        return False
    loading = spoiler.contract.methods[pair[1].method][2](loading={})
    spoiler.entries.insert(pair[1].place, pair[1].entry._replace(body=loading.SerializeToString()))
    return True


@control("shape")
def a_call_ends_twice(spoiler):
    places = [n for n, entry in enumerate(spoiler.entries) if entry.what == "frame" and entry.kind == STATUS]
    place = spoiler.pick(places)
    spoiler.entries.insert(place, spoiler.entries[place])
    return True


@control("shape")
def a_pong_has_other_bytes(spoiler):
    places = [n for n, entry in enumerate(spoiler.entries) if entry.what == "frame" and entry.kind == PONG]
    place = spoiler.pick(places)
    if place is None:
        return False
    spoiler.entries[place] = spoiler.entries[place]._replace(body=b"8 others")
    return True
