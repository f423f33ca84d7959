"""Clients that change accounts at a steady rate, and write down each answer before they ask for the next thing.

An answer that did not come because the server was killed is asked for again, with the same key, as soon as there is a
server; so in the end every request has exactly one answer, and the log says which.
"""
import json
import random
import threading
import time

from wire import APP, STORE, TRANSACTIONS, Caller

COINS, SEASON, LIFETIME = "com.example.coins", "com.example.season", "com.example.lifetime"
WEEKLY, MONTHLY, YEARLY = "com.example.weekly", "com.example.monthly", "com.example.yearly"
GROUP = "premium"
SUBSCRIPTIONS = (WEEKLY, MONTHLY, YEARLY)
PURCHASE, FINISH, LATEST = (TRANSACTIONS + name for name in ("Purchase", "Finish", "GetLatestTransaction"))
CLOCK = STORE + "SetClock"
# Operations of the test store: the method's path and the operation.
REFUND, AUTO_RENEW, RENEW, EXPIRE = (f"{STORE}Operate {what}" for what in ("refund", "set_auto_renew", "renew", "expire"))
ACCOUNTS_EACH = 4  # The first two subscribe.
# Refusals that are legitimate, because the account's state changed with time or by its last request.
REFUSABLE = {"NOT_SUBSCRIBED": (AUTO_RENEW, RENEW, EXPIRE)}


def order(account, product, **more):
    """The fields of a purchase."""
    return {"account": account, "order": {"product_id": product, **more}}


def operation(method, target, **more):
    """The fields of an operation of the test store."""
    return {"operation": {method.split()[1]: {"target": target, **more}}}


class Request:
    """A requested change; every attempt sends the same bytes."""

    def __init__(self, number, method, account, fields):
        self.number, self.method, self.account, self.fields = number, method, account, fields
        self.path = method.split()[0]
        self.attempts = 0
        self.answer = self.refused = None

    @property
    def key(self):
        """Empty for a move of the clock, which has none: asked for again, it happens again."""
        return self.fields.get("idempotency_key", b"")

    @property
    def position(self):
        return (self.answer.position.revision, self.answer.position.as_of_ms) if self.answer else (0, 0)

    @property
    def transaction(self):
        """The transaction that the answer shows; None where it shows none."""
        if self.answer is None or "transaction" not in self.answer.DESCRIPTOR.fields_by_name:
            return None
        if not self.answer.HasField("transaction"):
            return None
        return self.answer.transaction.transaction


class Writer(threading.Thread):
    caller = Caller

    def __init__(self, index, count, test):
        super().__init__(name=f"writer {index}", daemon=True)
        self.index, self.count, self.test = index, count, test
        self.random = random.Random(f"{test.seed} writer {index}")
        self.accounts = [f"account-{index}-{number}" for number in range(ACCOUNTS_EACH)]
        self.client = self.pending = None
        self.requests, self.replays = [], 0
        self.purchased = {account: [] for account in self.accounts}  # transactions that may be finished or refunded
        self.lines = {account: None for account in self.accounts}  # a transaction of the subscription line
        self.stopping = threading.Event()

    # Deciding

    def choose(self):
        """The next request: (method, account, fields). The first one subscribes, so that each watcher of the account has changes."""
        if not self.requests:
            return PURCHASE, self.accounts[0], order(self.accounts[0], WEEKLY)
        if self.index == 0 and self.random.random() < 0.03:
            return CLOCK, "", {"advance_by_ms": 2000}  # Every line renews once, while others write.
        pick = self.random.random()
        subscriber = self.accounts[self.random.randrange(2)]
        anyone = self.accounts[self.random.randrange(ACCOUNTS_EACH)]
        if pick < 0.10:
            return PURCHASE, subscriber, order(subscriber, self.random.choice(SUBSCRIPTIONS))
        if pick < 0.16 and self.lines[subscriber] is not None:
            return AUTO_RENEW, subscriber, operation(AUTO_RENEW, {"transaction_id": self.lines[subscriber]},
                                                     enabled=self.random.random() < 0.6)
        if pick < 0.20 and self.lines[subscriber] is not None:
            method = RENEW if self.random.random() < 0.7 else EXPIRE
            target = {"product_id": self.random.choice(SUBSCRIPTIONS)}
            return method, subscriber, {"account": subscriber, **operation(method, target)}
        if pick < 0.40 and self.purchased[anyone]:
            return FINISH, anyone, {"account": anyone, "transaction_id": self.random.choice(self.purchased[anyone])}
        if pick < 0.50 and self.purchased[anyone]:
            return REFUND, anyone, operation(REFUND, {"transaction_id": self.random.choice(self.purchased[anyone])})
        if pick < 0.60:
            return PURCHASE, anyone, order(anyone, LIFETIME)
        if pick < 0.68:
            return PURCHASE, anyone, order(anyone, SEASON)
        return PURCHASE, anyone, order(anyone, COINS, quantity=self.random.randrange(1, 11))

    def make(self):
        method, account, fields = self.choose()
        number = len(self.requests)
        if method != CLOCK:
            fields["idempotency_key"] = f"{self.index}-{number}".encode()
        return Request(number, method, account, {"app": APP, **fields})

    # Doing

    def run(self):
        try:
            while not (self.stopping.is_set() and self.pending is None):
                cycle = self.test.next_cycle()
                if cycle is None:
                    return
                try:
                    self.connect(cycle)
                    self.write(cycle)
                except TimeoutError:
                    self.test.broken("every call is answered", f"{self.name}: {self.describe()}")
                    return
                except (ConnectionError, OSError):
                    self.test.wait_for_end(cycle)
        except Exception as error:  # Whatever ends a writer early is a finding, not a quiet stop.
            self.test.broken("no client ends early", f"{self.name}: {type(error).__name__}: {error}")

    def describe(self):
        return f"{self.pending.method} {self.pending.fields}" if self.pending else "nothing under way"

    def connect(self, cycle):
        self.client = None
        self.client = self.caller(cycle.address, client_name="crash", client_id=f"writer-{self.index}".encode(), heartbeat_seconds=600)
        cycle.refuse_another()
        self.test.welcomed(self.client.welcome, self.name, cycle)
        if self.pending:
            self.send(cycle)
        for request in self.random.sample(self.requests, min(2, len(self.requests))):
            self.replay(request)

    def write(self, cycle):
        """One request in each of this writer's places in the schedule, late if it must be, as long as there is time."""
        place = 0
        while not self.stopping.is_set():
            wait = cycle.began + (place * self.count + self.index) / self.test.rate - time.perf_counter()
            if wait > 0:
                self.stopping.wait(wait)
                if self.stopping.is_set():
                    return
            place += 1
            self.pending = self.make()
            self.send(cycle)
            if self.random.random() < 0.03:
                self.replay(self.requests[-1])
            if len(self.requests) == 1 or self.random.random() < 0.1:
                self.look(self.requests[-1])

    def send(self, cycle):
        """Asks, and writes the answer down outside the server before anything else is asked."""
        request = self.pending
        request.attempts += 1
        answer, status = self.client.ask(request.path, **request.fields)
        if status.code and request.method not in REFUSABLE.get(status.reason, ()):
            self.test.broken("a writer is refused only what its account's state forbids",
                                  f"{request.method} {request.fields}: {status.reason}: {status.message}")
        request.answer, request.refused = answer, status.reason
        self.test.write_down({
            "key": request.key.decode(), "method": request.method, "account": request.account,
            "attempts": request.attempts, "refused": status.reason, "revision": request.position[0],
            "as_of_ms": request.position[1],
            "transaction": request.transaction.id if request.transaction is not None else None})
        self.requests.append(request)
        self.pending = None
        self.took(request)
        cycle.acknowledged(self.index)

    def took(self, request):
        transaction = request.transaction
        if transaction is None:
            return
        if transaction.product_id in SUBSCRIPTIONS:
            self.lines[request.account] = transaction.id
        if request.method == PURCHASE and not request.answer.already_held:
            self.purchased[request.account].append(transaction.id)

    def look(self, request):
        """A read at the position of a purchase shows it."""
        transaction = request.transaction
        if transaction is None or request.method != PURCHASE:
            return
        self.test.looked("a read at the position of a purchase shows it")
        answer, status = self.client.ask(LATEST, app=APP, account=request.account, product_id=transaction.product_id,
                                         at_least=request.answer.position)
        if status.code or answer.transaction.transaction.id < transaction.id:
            self.test.broken("a read at the position of a purchase shows it",
                             f"{request.account}: {one_line(transaction)}: {status.reason or one_line(answer)}")

    def replay(self, request):
        """The same key again: the same answer, byte for byte. What was refused did not happen, and may happen now."""
        if request.refused or not request.key:
            return
        answer, status = self.client.ask(request.path, **request.fields)
        self.replays += 1
        if status.code or not is_same(answer, request.answer):
            self.test.broken(
                "the same key gives the same answer",
                f"{request.method} {request.fields}: first {one_line(request.answer)}, then "
                f"{status.reason or one_line(answer)}")


def is_same(answer, first):
    """Byte for byte. A node of a version whose positions have no epoch leaves that out."""
    if answer == first or "position" not in answer.DESCRIPTOR.fields_by_name or answer.position.epoch and first.position.epoch:
        return answer == first
    one, other = type(answer)(), type(first)()
    one.CopyFrom(answer)
    other.CopyFrom(first)
    one.position.ClearField("epoch")
    other.position.ClearField("epoch")
    return one == other


def one_line(message):
    return " ".join(str(message).split())


def as_json(record):
    return json.dumps(record, separators=(",", ":"))
