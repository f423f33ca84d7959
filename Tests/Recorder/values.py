"""Values and their equality, and how one view follows from another, as proto/README.md and the .proto files say."""

import hashlib

RENEWAL_SUBSCRIBED, RENEWAL_IN_GRACE = 1, 4
OWNED_BY_PURCHASE, OWNED_BY_FAMILY = 1, 2
REASON_PURCHASE = 1
EVENT_UNFINISHED = 1
CAUSE_EXPIRY, CAUSE_CLOCK = 5, 7
# Kinds of Forecast that come true by themselves: the end of a period, of a grace period, of billing retry.
FORECASTS_OF_TIME = (2, 3, 4)

# The streams of state, and the read that gives the same value once.
READ_OF_STREAM = {
    "ProductsTask": "GetProducts",
    "SubscriptionStatusTask": "GetSubscriptionStatus",
    "CurrentEntitlementTask": "GetCurrentEntitlement",
}
EVENTS = "TransactionUpdates"


def strip_transaction(result):
    """Clears the fields that do not count for equality: the signature, its date and the device verification."""
    transaction = result.transaction
    transaction.signed_date_ms = 0
    transaction.device_verification = b""
    transaction.device_verification_nonce = ""
    result.jws = ""


def strip_value(value):
    """Does the same in every part of a success value, in place."""
    name = value.DESCRIPTOR.name
    if name == "SubscriptionStatuses":
        for status in value.statuses:
            strip_transaction(status.transaction)
            status.renewal_info.renewal_info.signed_date_ms = 0
            status.renewal_info.jws = ""
    elif name == "CurrentEntitlement" and value.HasField("transaction"):
        strip_transaction(value.transaction)
    elif name == "TransactionResult":
        strip_transaction(value)
    return value


def text_of(message):
    return message.SerializeToString(deterministic=True)


def strip_answer(answer):
    """The answer of a mutation without signing dates, as bytes: what a repetition with the same key has to say again.

    Whether a transaction verifies is no part of it: a failure of verification that is armed meanwhile shows there.
    """
    if "transaction" in answer.DESCRIPTOR.fields_by_name and answer.HasField("transaction"):
        strip_transaction(answer.transaction)
        answer.transaction.ClearField("verification_error")
    return text_of(answer)


class Value:
    """A state of a stream, or the answer of its read: `success` with the stripped value, or `failure`."""

    __slots__ = ("state", "message", "digest", "position", "cause", "token", "changes_at")

    def __init__(self, response):
        self.state = response.WhichOneof("state")
        self.position = (response.info.position.revision, response.info.position.as_of_ms)
        self.cause = response.info.cause
        self.token = response.info.resume_token
        forecast = response.info.next_change
        self.changes_at = forecast.at_ms if forecast.kind in FORECASTS_OF_TIME else None
        self.message, self.digest = None, b""
        if self.state == "success":
            self.message = strip_value(response.success)
            self.digest = hashlib.sha256(text_of(self.message)).digest()
        elif self.state == "failure":
            self.message = response.failure
            self.digest = b"failure " + response.failure.reason.encode()

    def __str__(self):
        said = self.state
        if self.message is not None:
            is_failure = self.message.DESCRIPTOR.name == "Failure"
            said += " " + (self.message.reason if is_failure else describe(self.message))
        return f"{said} at revision {self.position[0]}, instant {self.position[1]}, cause {self.cause}"


def describe_transaction(result):
    transaction = result.transaction
    revoked = f" revoked {transaction.revocation.date_ms}" if transaction.HasField("revocation") else ""
    return f"#{transaction.id} {transaction.product_id} until {transaction.expiration_date_ms}{revoked}"


def describe(message):
    """A value in one line, for a violation."""
    name = message.DESCRIPTOR.name
    if name == "SubscriptionStatuses":
        lines = [f"state {each.state} {describe_transaction(each.transaction)}" for each in message.statuses]
        return "[" + "; ".join(lines) + "]"
    if name == "CurrentEntitlement":
        return (
            describe_transaction(message.transaction) if message.HasField("transaction") else "[not entitled]"
        )
    if name == "Products":
        names = [f"{each.id} {each.display_name!r} {each.price.milliunits}" for each in message.products]
        return "[" + "; ".join(names + [f"unavailable {each}" for each in message.unavailable_ids]) + "]"
    return name


def entitling(statuses, product):
    """The transactions by which these statuses entitle to the product. An own line counts before a shared one."""
    found = [
        status.transaction
        for status in statuses.statuses
        if status.state in (RENEWAL_SUBSCRIBED, RENEWAL_IN_GRACE)
        and status.transaction.transaction.product_id == product
    ]
    own = [each for each in found if each.transaction.ownership_type != OWNED_BY_FAMILY]
    return own or found


def version_of(product):
    """The number that the workload writes behind each display name: `Pro Monthly #12` has 12."""
    return int(product.display_name.rsplit("#", 1)[1]) if "#" in product.display_name else None
