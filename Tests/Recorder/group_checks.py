"""Groups: which values a client applies together, and whether they agree then.

The rule of proto/README.md: with one watch, apply at once; with two or more, keep the newest value of each and every
event, and apply them together at the BEAT. A state watch counts from its CALL, so that a client that comes back with
tokens applies nothing until each of its watches has answered (`counting="message"`: from its first MESSAGE).
"""

from values import (
    EVENTS,
    OWNED_BY_FAMILY,
    RENEWAL_IN_GRACE,
    RENEWAL_SUBSCRIBED,
    entitling,
    text_of,
    version_of,
)


class GroupChecks:
    def __init__(self, checks):
        self.checks, self.ledger = checks, checks.ledger

    def counted(self, connection):
        """The calls of the watches that count now."""
        calls = [call for call in connection.calls.values() if call.is_stream and not call.is_cancelled]
        if self.checks.counting == "call":
            return [call for call in calls if call.is_state or call.has_message]
        return [call for call in calls if call.has_message]

    def value(self, call):
        """A value or an event has come."""
        connection = call.connection
        connection.dirty.add(call.chain)
        if len(connection.calls) < 8 and len(self.counted(connection)) < 2:
            self.apply(connection)

    def watch_ended(self, connection):
        if len(connection.calls) < 8 and len(self.counted(connection)) < 2:
            self.apply(connection)

    def beat(self, connection):
        if not connection.dirty:
            return
        unanswered = [call for call in self.counted(connection) if call.is_state and not call.has_value]
        if unanswered and self.checks.counting == "call":
            self.ledger.count("groups that wait for a first value")
            return
        self.apply(connection)

    def apply(self, connection):
        dirty, connection.dirty = connection.dirty, set()
        if not dirty:
            return
        self.ledger.count("groups")
        for chain in dirty:
            chain.applied = chain.said
            chain.applied_events = len(chain.events)
        calls = [call for call in connection.calls.values() if call.chain and not call.is_cancelled]
        chains = [call.chain for call in calls if call.chain.call is call]
        accounts = {}
        for chain in chains:
            accounts.setdefault(chain.account, []).append(chain)
        for account in {chain.account for chain in dirty}:
            if account:
                self.check_account(connection, accounts.get(account, []))
        if any(not chain.account for chain in dirty):
            self.check_products(connection, accounts.get("", []))
        if self.checks.has_one_instant:
            self.check_instants(connection, chains)
        self.check_families(connection, accounts, {chain.account for chain in dirty})

    def values(self, chains, method):
        """Chains with an applied value that is a success, also where `unchanged` said so."""
        return [
            each
            for each in chains
            if each.method == method
            and each.applied
            and each.applied.message is not None
            and each.applied.message.DESCRIPTOR.name != "Failure"
        ]

    def check_account(self, connection, chains):
        for status in self.values(chains, "SubscriptionStatusTask"):
            statuses = status.applied.message
            groups = {each.transaction.transaction.subscription_group_id for each in statuses.statuses}
            for entitlement in self.values(chains, "CurrentEntitlementTask"):
                if not entitlement.product.endswith(("monthly", "yearly")) or len(groups) > 1:
                    continue
                self.check_entitlement(connection, status, entitlement)
            for events in (each for each in chains if each.method == EVENTS and each.call.is_settled):
                self.check_events(connection, status, events)

    def check_entitlement(self, connection, status, entitlement):
        due = entitling(status.applied.message, entitlement.product)
        said = entitlement.applied.message
        if said.HasField("transaction"):
            agrees = any(text_of(each) == text_of(said.transaction) for each in due)
        else:
            agrees = not due
        self.ledger.check(
            "atomic",
            agrees,
            lambda: f"after BEAT {connection.beat} on {connection.peer}, {entitlement} is {entitlement.applied}\n"
            f"    but {status} is {status.applied}\n  {entitlement}:{entitlement.tail()}\n  {status}:{status.tail()}",
        )

    def check_events(self, connection, status, events):
        """The events of an account agree with its statuses: the newest transaction of a line is that of its status."""
        if status.account in self.checks.scratch_accounts:
            return
        known, newest = {}, {}
        for event in events.events[: events.applied_events]:
            known[event.number] = event
            line = event.result.transaction.original_id
            newest[line] = max(newest.get(line, 0), event.number)
        for each in status.applied.message.statuses:
            transaction = each.transaction.transaction
            event = known.get(transaction.id)
            agrees = transaction.id >= newest.get(transaction.original_id, 0)
            agrees = agrees and (event is None or event.text == text_of(transaction))
            self.ledger.check(
                "atomic",
                agrees,
                lambda: f"after BEAT {connection.beat} on {connection.peer}, {status} has {status.applied}\n"
                f"    but the events say transaction {newest.get(transaction.original_id)} of that line, and {event}\n"
                f"  {events}:{events.tail()}\n  {status}:{status.tail()}",
            )

    def check_products(self, connection, chains):
        """One change renames all products: no two watches may show two versions."""
        chains = self.values(chains, "ProductsTask")
        versions = {version_of(product) for chain in chains for product in chain.applied.message.products}
        self.ledger.check(
            "atomic",
            len(versions) <= 1,
            lambda: f"after BEAT {connection.beat} on {connection.peer}, products have versions {sorted(versions)}"
            + "".join(f"\n  {chain}:{chain.tail()}" for chain in chains),
        )

    def check_instants(self, connection, chains):
        """One clock for a connection: beside a value of an instant, no value may wait for an earlier change."""
        values = [each for each in chains if each.account and each.applied]
        newest = max((each.applied.position[1] for each in values), default=0)
        for chain in values:
            changes_at = chain.applied.changes_at
            self.ledger.check(
                "atomic",
                changes_at is None or changes_at > newest,
                lambda: f"after BEAT {connection.beat} on {connection.peer}, another watch shows the instant {newest}, but "
                f"{chain}, which was to change at {changes_at}, is {chain.applied}{chain.tail()}",
            )

    def check_families(self, connection, accounts, dirty):
        """A line that a member has is held by its purchaser: accounts stand in pairs on a connection."""
        pairs = self.checks.changes.purchaser_of
        for member in {each for each in accounts if each in dirty or pairs.get(each) in dirty}:
            purchaser = pairs.get(member)
            if purchaser is None:
                continue
            theirs = self.values(accounts.get(purchaser, []), "SubscriptionStatusTask")
            for shared in self.values(accounts[member], "SubscriptionStatusTask"):
                for status in shared.applied.message.statuses:
                    transaction = status.transaction.transaction
                    entitles = status.state in (RENEWAL_SUBSCRIBED, RENEWAL_IN_GRACE)
                    if transaction.ownership_type != OWNED_BY_FAMILY or not entitles or not theirs:
                        continue
                    changes_at, instant = shared.applied.changes_at, theirs[0].applied.position[1]
                    is_late = max(transaction.expiration_date_ms, changes_at or 0) <= instant
                    if is_late and not self.checks.has_one_instant:
                        continue
                    own = entitling(theirs[0].applied.message, transaction.product_id)
                    ends = {each.transaction.expiration_date_ms for each in own}
                    self.ledger.check(
                        "atomic",
                        transaction.expiration_date_ms in ends,
                        lambda: f"after BEAT {connection.beat} on {connection.peer}, {shared} has {shared.applied}\n"
                        f"    but its purchaser {theirs[0]} has {theirs[0].applied}\n"
                        f"  {shared}:{shared.tail()}\n  {theirs[0]}:{theirs[0].tail()}",
                    )
