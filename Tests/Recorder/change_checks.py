"""Checks of mutations: their answers, repetitions, reads after them, what survives, and histories of events."""

from values import (
    OWNED_BY_FAMILY,
    REASON_PURCHASE,
    Value,
    strip_answer,
    version_of,
)
from workload import SUBSCRIPTIONS

# Reasons by which a server refuses for now, and those that say that the recorder, or the server, is at fault.
TRANSIENT = {"LEASE_WAIT", "SHUTTING_DOWN", "STORE_FAILED", "DEADLINE"}
FAULTS = {
    "INTERNAL",
    "KEY_REUSED",
    "MESSAGE_MALFORMED",
    "UNKNOWN_METHOD",
    "FIELD_MISSING",
    "FIELD_INVALID",
    "APP_UNKNOWN",
    "APP_AMBIGUOUS",
    "ACCOUNT_KEY",
    "CALLS_LIMIT",
    "CATALOG_INVALID",
    "BEHIND",
    "CLOCK_BACKWARDS",
    "TEXT_NOT_UTF8",
}
# Operations after whose answer the account has one transaction more, unless it was held already.
BUYING = {"purchase", "buy_outside", "ask", "decide", "redeem"}
EVENT_PURCHASED = 2


class OperationState:
    def __init__(self, note):
        self.note = note
        self.number, self.kind, self.account = note["number"], note["kind"], note["account"]
        self.product, self.values, self.has_key = note["product"], note["values"], note["has_key"]
        self.answer, self.text, self.revision = None, b"", 0

    @property
    def bought(self):
        """The number of the transaction that it made, or None."""
        answer = self.answer
        if answer is None or self.kind not in BUYING or not answer.HasField("transaction"):
            return None
        is_held = getattr(answer, "already_held", False) or getattr(answer, "applies_at_renewal", False)
        return None if is_held else answer.transaction.transaction.id

    def __str__(self):
        values = " ".join(f"{name}={value}" for name, value in self.values.items())
        return f"operation {self.number} ({self.kind} {self.account} {self.product} {values}, revision {self.revision})"


class ChangeChecks:
    def __init__(self, checks):
        self.checks, self.ledger = checks, checks.ledger
        self.operations = {}
        self.bought = (
            {}
        )  # Of each account, the operations that bought something, in order of their revisions.
        self.finished = {}
        self.purchaser_of = {}
        self.version, self.clock_ms = 0, 0
        self.lists = {}
        self.histories = {}
        self.owners = {}  # Transactions by number: the operation that made each.

    def began(self, note):
        operation = self.operations[note["number"]] = OperationState(note)
        if operation.kind == "share":
            self.purchaser_of[operation.values["member"]] = operation.account

    def acknowledged_count(self, account):
        return len(self.bought.get(account, ()))

    def opened(self, call):
        # Purchases acknowledged before a read is sent must be in its answer.
        call.acknowledged = self.acknowledged_count(call.note.get("account", ""))
        call.finished = set(self.finished.get(call.note.get("account", ""), ()))
        call.version, call.clock_ms = self.version, self.clock_ms

    def answered(self, call, status, answer):
        if "read" in call.note:
            self.read_answered(call, answer, status)
            return
        operation = self.operations[call.note["operation"]]
        self.ledger.count(f"mutations answered with {status.reason or 'OK'}")
        self.ledger.check(
            "shape",
            status.reason not in FAULTS,
            lambda: f"{operation} was refused: {status.reason}: {status.message}",
        )
        if status.code != 0:
            is_repeated = (
                operation.answer is not None and operation.has_key and status.reason not in TRANSIENT
            )
            self.ledger.check(
                "idempotent",
                not is_repeated,
                lambda: f"{operation} was repeated with its key, and refused: {status.reason}: {status.message}",
            )
            return
        text = strip_answer(answer)
        if operation.answer is not None:
            self.ledger.count("mutations repeated after their answer")
            if operation.has_key:
                self.ledger.check(
                    "idempotent",
                    text == operation.text,
                    lambda: f"{operation} was repeated with its key: the answer was\n    {operation.answer}\n"
                    f"    and is now\n    {answer}",
                )
            return
        operation.answer, operation.text = answer, text
        operation.revision = answer.position.revision
        self.checks.revision_acknowledged = max(self.checks.revision_acknowledged, operation.revision)
        self.acknowledge(operation, answer)

    def acknowledge(self, operation, answer):
        if operation.bought is not None:
            operation.product = answer.transaction.transaction.product_id
            owner = self.owners.setdefault(operation.bought, operation)
            self.ledger.check(
                "idempotent",
                owner is operation,
                lambda: f"{operation} answers with transaction {operation.bought}, which is of {owner}",
            )
            self.bought.setdefault(operation.account, []).append(operation)
        if operation.kind == "finish":
            self.finished.setdefault(operation.account, set()).add(operation.values["transaction"])
        if operation.kind in ("rename", "catalogue"):
            self.version = max(self.version, operation.values["version"])
        if answer.DESCRIPTOR.name == "SetClockResponse":
            self.clock_ms = max(self.clock_ms, answer.clock.now_ms)

    def check_bookmark(self, connection):
        """At BEAT R, the watches of an account have shown every acknowledged purchase with a revision up to R."""
        for call in connection.calls.values():
            chain = call.chain
            if chain is None or chain.call is not call or chain.acknowledged is None or not call.is_settled:
                continue
            if call.is_cancelled:
                # Messages after a CANCEL are not read, so what they show is not known.
                continue
            acknowledged = self.bought.get(chain.account, ())
            while (
                chain.acknowledged < len(acknowledged)
                and acknowledged[chain.acknowledged].revision <= connection.beat
            ):
                operation = acknowledged[chain.acknowledged]
                chain.acknowledged += 1
                if chain.account not in self.checks.scratch_accounts:
                    self.check_shown(connection, chain, operation)

    def check_shown(self, connection, chain, operation):
        if chain.method == "TransactionUpdates":
            if chain.begins_after is not None and operation.revision <= chain.begins_after:
                return
            is_shown = (operation.revision, operation.bought, EVENT_PURCHASED) in chain.seen
        elif chain.method == "SubscriptionStatusTask" and operation.product in SUBSCRIPTIONS:
            # An entitlement may be unchanged, if the purchase ended before it was pushed.
            if chain.said is None or chain.said.message.DESCRIPTOR.name == "Failure":
                return
            is_shown = chain.said.position[0] >= operation.revision
        else:
            return
        self.ledger.check(
            "bookmarks",
            is_shown,
            lambda: f"BEAT {connection.beat} on {connection.peer} came, but {chain} has not shown {operation}, "
            f"transaction {operation.bought}{chain.tail()}",
        )

    # Reads.

    def read_answered(self, call, answer, status=None):
        """`answer` is a response, or for a watch that was opened with at_least its first Value."""
        if status is not None and status.code != 0:
            quiet = status.reason in TRANSIENT
            self.ledger.check(
                "shape", quiet, lambda: f"{call} was refused: {status.reason}: {status.message}"
            )
            return
        name = call.note["read"]
        if name == "after":
            self.read_after(call, self.operations[call.note["operation"]], answer)
        elif name == "settle":
            self.checks.streams.read(call.note["view"], Value(answer))
        elif name in ("transactions", "unfinished"):
            self.page(call, name, answer)
        elif name == "products":
            versions = [version_of(product) for product in answer.success.products]
            self.ledger.check(
                "kept",
                answer.WhichOneof("state") != "success"
                or min(versions, default=call.version) >= call.version,
                lambda: f"products have version {min(versions)}; version {call.version} was acknowledged",
            )
        elif name == "clock":
            self.ledger.check(
                "kept",
                answer.clock.now_ms >= call.clock_ms,
                lambda: f"the clock says {answer.clock.now_ms}; {call.clock_ms} was acknowledged",
            )

    def read_after(self, call, operation, answer):
        if isinstance(answer, Value):
            if answer.state != "success":
                return
            message = answer.message
        else:
            message = answer
        shown = self.shows(operation, message)
        if shown is not None:
            self.ledger.check(
                "read-your-writes",
                shown,
                lambda: f"{call}, at_least the position of {operation}, does not show it: {message}",
            )

    def shows(self, operation, message):
        """Whether the answer of a read shows the change, or None where it cannot."""
        name = message.DESCRIPTOR.name
        if name == "GetLatestTransactionResponse":
            return operation.bought is None or message.transaction.transaction.id >= operation.bought
        if name in ("GetSubscriptionStatusResponse", "SubscriptionStatuses"):
            statuses = message.success if name.startswith("Get") else message
            if name.startswith("Get") and message.WhichOneof("state") != "success":
                return None
            if operation.bought is None or operation.product not in SUBSCRIPTIONS:
                return None
            line = operation.answer.transaction.transaction.original_id
            newest = [each.transaction.transaction for each in statuses.statuses]
            return any(each.original_id == line and each.id >= operation.bought for each in newest)
        if name == "ListUnfinishedResponse":
            numbers = {each.transaction.id for each in message.transactions}
            return operation.kind != "finish" or operation.values["transaction"] not in numbers
        if name in ("GetProductsResponse", "Products"):
            products = message.success if name.startswith("Get") else message
            versions = [version_of(product) for product in products.products]
            return min(versions, default=operation.values["version"]) >= operation.values["version"]
        return None

    def page(self, call, name, answer):
        """A page of a whole list; on the last one, the list is looked through."""
        pages = self.lists.setdefault(call.note["list"], (call, {}))
        first_call, found = pages
        for each in answer.transactions:
            found[each.transaction.id] = each
        if answer.next_page_token:
            return
        del self.lists[call.note["list"]]
        account = call.note["account"]
        if account in self.checks.scratch_accounts:
            return
        if name == "unfinished":
            for number in first_call.finished:
                self.ledger.check(
                    "kept",
                    number not in found,
                    lambda: f"transaction {number} of {account} was finished, and is unfinished again",
                )
            return
        acknowledged = self.bought.get(account, [])
        for operation in acknowledged[: first_call.acknowledged]:
            self.ledger.check(
                "kept",
                operation.bought in found,
                lambda: f"transaction {operation.bought} of {operation} is not among the transactions of {account}",
            )
        if call.note.get("final"):
            numbers = {operation.bought for operation in acknowledged}
            for number, each in found.items():
                is_bought = each.transaction.reason == REASON_PURCHASE
                is_bought = is_bought and each.transaction.ownership_type != OWNED_BY_FAMILY
                self.ledger.check(
                    "idempotent",
                    not is_bought or number in numbers,
                    lambda: f"{account} has transaction {number}, bought, which no answer named: {each}",
                )

    # Histories of events: a fresh stream from the cursor at the very beginning, read at the very end.

    def history_is_complete(self):
        """Whether every watch of events has its last event in a history that was read anew."""
        chains = [each for each in self.checks.streams.chains.values() if each.method == "TransactionUpdates"]
        history = {each.account: each for each in chains if each.is_history}
        newest = {account: each.events[-1].identity for account, each in history.items() if each.events}
        live = [each for each in chains if each.call and each.events]
        return all(newest.get(each.account) == each.events[-1].identity for each in live)

    def compare_histories(self):
        chains = [each for each in self.checks.streams.chains.values() if each.method == "TransactionUpdates"]
        histories = {chain.account: chain.events for chain in chains if chain.is_history}
        for chain in chains:
            if chain.call is not None and chain.account in histories and chain.begins_after is not None:
                self.compare_history(chain, histories[chain.account])
        for account, operations in self.bought.items():
            if account in histories and account not in self.checks.scratch_accounts:
                self.compare_purchases(account, operations, histories[account])

    def compare_history(self, chain, history):
        due = [event for event in history if event.revision > chain.begins_after]
        seen = [event.identity for event in chain.events]
        self.ledger.check(
            "exactly-once",
            seen == [event.identity for event in due],
            lambda: f"{chain} had {len(seen)} events; the whole history has {len(due)} after revision "
            f"{chain.begins_after}. Missing: {sorted({event.identity for event in due} - set(seen))[:5]}; "
            f"not there: {sorted(set(seen) - {event.identity for event in due})[:5]}{chain.tail()}",
        )

    def compare_purchases(self, account, operations, history):
        events = {event.identity: event for event in history}
        for operation in operations:
            event = events.get((operation.revision, operation.bought, EVENT_PURCHASED))
            self.ledger.check(
                "exactly-once",
                event is not None,
                lambda: f"the history of {account} has no event of {operation}, transaction {operation.bought}",
            )
