"""The workload: an endless list of operations that depends on the seed alone, and the request that each one makes.

What the server answers decides only details that a plan cannot know, such as the number of the transaction to finish.
"""

import json
import random
from dataclasses import dataclass, field

PLUS, YEARLY, PRO = "app.perch.plus.monthly", "app.perch.plus.yearly", "app.perch.pro.monthly"
COINS, LIFETIME, SEASON = "app.perch.coins", "app.perch.lifetime", "app.perch.season"
GROUP = "plus"
SUBSCRIPTIONS = (PLUS, YEARLY, PRO)
PRODUCTS = SUBSCRIPTIONS + (COINS, LIFETIME, SEASON)
SHAREABLE = (PRO, LIFETIME)

# Weights of the operations on one account.
ACCOUNT_KINDS = {
    "purchase": 30,
    "buy_outside": 8,
    "refund": 8,
    "reverse_refund": 3,
    "renew": 6,
    "expire": 4,
    "auto_renew": 6,
    "charges": 3,
    "resolve": 3,
    "extend": 3,
    "share": 4,
    "stop_sharing": 2,
    "ask": 2,
    "decide": 2,
    "finish": 8,
    "request_refund": 2,
    "redeem": 1,
    "manage": 2,
    "sync": 2,
    "intent": 1,
    "end_intent": 1,
    "storefront": 1,
    "message": 1,
    "raise_price": 1,
    "answer_price": 1,
}
# Operations on accounts whose transactions may be deleted: their purchases are not counted afterwards.
SCRATCH_KINDS = {"purchase": 10, "delete": 3, "clear": 1, "refund": 2, "finish": 2}
# On the app; one at a time.
APP_KINDS = {
    "advance": 60,
    "rename": 40,
    "catalogue": 12,
    "arm": 10,
    "disarm": 14,
    "grace": 6,
    "retry": 4,
    "run": 12,
}
APP_KINDS_OF_A_STILL_CLOCK = {kind: weight for kind, weight in APP_KINDS.items() if kind != "run"}
# Of the recorder's own connections and of the server.
CONTROL_KINDS = {"drop": 10, "recall": 12, "restart_watch": 6, "repeat": 8}

# Failures that a plan arms: (StoreKitApi, StoreKitError). Streams show the second, third and fourth.
FAILURES = ((2, 3), (1, 3), (5, 4), (10, 4), (3, 18))


@dataclass
class Operation:
    number: int
    kind: str
    account: str = ""
    product: str = ""
    values: dict = field(default_factory=dict)
    key: bytes = b""

    @property
    def place(self):
        """Operations of one place are carried out one after another."""
        return self.account or "app"

    def __str__(self):
        parts = [f"operation {self.number}: {self.kind}", self.account, self.product]
        parts += [f"{name}={value}" for name, value in self.values.items()]
        return " ".join(part for part in parts if part)


@dataclass
class Size:
    """How big a run is."""

    events: int
    sessions: int
    accounts: int
    accounts_of_session: int
    kill_every: int  # Operations from one kill -9 to the next, about.
    settle_every: int  # Operations from one comparison of everything to the next.
    runs_ms: tuple  # How long the clock may run at a time; empty: it never does.


def account_names(size):
    """Pairs of family members stand side by side. Keys are bytes to the server: some are no ASCII."""
    return [f"acct-{n:03d}" if n % 7 else f"konto ü {n:03d} ✓" for n in range(size.accounts)]


def catalogue(sample, version):
    """The sample catalogue with the version behind each display name, as the bytes of a .storekit file."""
    file = json.loads(sample)

    def visit(node):
        if isinstance(node, dict):
            for localization in node.get("localizations", ()) if "productID" in node else ():
                localization["displayName"] = localization["displayName"].split(" #")[0] + f" #{version}"
            for child in node.values():
                visit(child)
        elif isinstance(node, list):
            for child in node:
                visit(child)

    visit(file)
    return json.dumps(file, ensure_ascii=False, sort_keys=True).encode()


def plan(seed, size):
    """Yields operations without end."""
    random_source = random.Random(f"perch recorder {seed}")
    accounts = account_names(size)
    scratch = accounts[-2:]
    number, version, until_kill, until_settled = 0, 0, size.kill_every, size.settle_every

    def draw(weights):
        return random_source.choices(list(weights), list(weights.values()))[0]

    while True:
        number += 1
        until_kill -= 1
        until_settled -= 1
        key = random_source.randbytes(16)
        if until_kill <= 0:
            until_kill = random_source.randint(size.kill_every // 2, size.kill_every * 3 // 2)
            kind = "terminate" if random_source.random() < 0.15 else "kill"
            yield Operation(number, kind, values={"after_ms": random_source.randint(0, 40)})
        elif until_settled <= 0:
            until_settled = size.settle_every
            yield Operation(number, "settle")
        elif (chance := random_source.random()) < 0.04:
            yield Operation(number, draw(CONTROL_KINDS), values={"pick": random_source.randrange(1 << 30)})
        elif chance < 0.07:
            kind = draw(APP_KINDS if size.runs_ms else APP_KINDS_OF_A_STILL_CLOCK)
            values = {}
            if kind in ("rename", "catalogue"):
                version += 1
                values = {"version": version}
            elif kind == "advance":
                values = {"by_ms": random_source.choice((500, 2_000, 7_000, 15_000, 31_000, 70_000, 400_000))}
            elif kind == "arm":
                values = {"failure": random_source.choice(FAILURES)}
            elif kind == "grace":
                values = {"on": random_source.random() < 0.7, "days": random_source.choice((3, 16, 28))}
            elif kind == "retry":
                values = {"on": random_source.random() < 0.4}
            elif kind == "run":
                values = {"for_ms": random_source.choice(size.runs_ms)}
            yield Operation(number, kind, values=values, key=key)
        else:
            account = random_source.choice(accounts)
            kind = draw(SCRATCH_KINDS if account in scratch else ACCOUNT_KINDS)
            yield account_operation(random_source, number, kind, account, accounts, key)


def account_operation(random_source, number, kind, account, accounts, key):
    operation = Operation(number, kind, account, random_source.choice(SUBSCRIPTIONS), key=key)
    values = operation.values
    if kind in ("purchase", "buy_outside", "ask"):
        operation.product = random_source.choice(
            (PLUS, PLUS, YEARLY, PRO, PRO, COINS, COINS, LIFETIME, SEASON)
        )
        values["quantity"] = random_source.randint(1, 10) if operation.product == COINS else 0
    elif kind in ("refund", "reverse_refund", "request_refund"):
        operation.product = random_source.choice(PRODUCTS)
    elif kind in ("share", "stop_sharing"):
        place = accounts.index(account)
        operation.product = random_source.choice(SHAREABLE)
        # The even one of a pair is the purchaser.
        operation.account = accounts[place - place % 2]
        values["member"] = accounts[min(place - place % 2 + 1, len(accounts) - 1)]
    elif kind in ("auto_renew", "manage", "decide", "answer_price"):
        values["on"] = random_source.random() < 0.6
    elif kind == "charges":
        values["outcome"] = random_source.choice((0, 1, 1, 2))
    elif kind == "extend":
        values["by_ms"] = random_source.choice((1_000, 5_000, 86_400_000))
    elif kind == "raise_price":
        values["price"] = random_source.randint(12_000, 90_000)
    elif kind == "storefront":
        values["storefront"] = random_source.choice(("USA", "DEU", "JPN", ""))
    elif kind == "redeem":
        values["code"] = "QUARTER"
    if kind in ("finish", "delete", "end_intent", "decide"):
        operation.product = ""
    return operation


class Requests:
    """Makes the request of an operation, from the plan and from what answers have told."""

    def __init__(self, contract, sample):
        self.contract, self.sample = contract, sample
        self.unfinished, self.pending, self.intents, self.bought = {}, {}, {}, {}
        self.now_ms = 0

    def learn(self, operation, answer):
        """Keeps numbers that later operations name."""
        account = operation.account
        fields = answer.DESCRIPTOR.fields_by_name
        if "transaction" in fields and answer.HasField("transaction"):
            number = answer.transaction.transaction.id
            if number not in self.bought.setdefault(account, []):
                self.bought[account].append(number)
                self.unfinished.setdefault(account, []).append(number)
        if getattr(answer, "pending_number", 0):
            self.pending.setdefault(account, []).append(answer.pending_number)
        if operation.kind == "intent":
            self.intents.setdefault(account, []).append(answer.number)
        if "clock" in fields:
            self.now_ms = answer.clock.now_ms

    def take(self, table, account):
        known = table.get(account)
        return known.pop(0) if known else None

    def make(self, operation):
        """The method and its request, or None where there is nothing to do, such as no transaction to finish."""
        maker = getattr(self, operation.kind, None)
        if maker is not None:
            return maker(operation)
        store_operation = self.store_operation(operation)
        if store_operation is None:
            return None
        request = {
            "account": operation.account,
            "idempotency_key": operation.key,
            "operation": store_operation,
        }
        return "Operate", self.contract.OperateRequest(**request)

    def order(self, operation):
        asks = operation.kind == "ask"
        quantity = operation.values["quantity"]
        return {"product_id": operation.product, "quantity": quantity, "simulates_ask_to_buy": asks}

    def store_operation(self, operation):
        values = operation.values
        target = {"product_id": operation.product}
        if operation.kind == "decide":
            number = self.take(self.pending, operation.account)
            return number and {"decide_purchase": {"number": number, "approves": values["on"]}}
        if operation.kind == "end_intent":
            number = self.take(self.intents, operation.account)
            return number and {"end_intent": {"number": number}}
        if operation.kind == "delete":
            number = self.take(self.bought, operation.account)
            return None if number is None else {"delete_transaction": {"transaction_id": number}}
        if operation.kind == "share":
            return {"share": {"target": target, "member": values["member"]}}
        if operation.kind == "stop_sharing":
            return {"stop_sharing": {"target": target, "member": values["member"]}}
        return {
            "buy_outside": lambda: {"buy": self.order(operation)},
            "refund": lambda: {"refund": {"target": target}},
            "reverse_refund": lambda: {"reverse_refund": {"target": target}},
            "renew": lambda: {"renew": {"target": target}},
            "expire": lambda: {"expire": {"target": target}},
            "auto_renew": lambda: {"set_auto_renew": {"target": target, "enabled": values["on"]}},
            "charges": lambda: {"set_charges": {"outcome": values["outcome"]}},
            "resolve": lambda: {"resolve_billing": {"target": target}},
            "extend": lambda: {"extend_renewal": {"target": target, "by_ms": values["by_ms"]}},
            "intent": lambda: {"create_intent": {"product_id": operation.product}},
            "storefront": lambda: {"set_storefront": {"storefront": values["storefront"]}},
            "message": lambda: {"post_message": {}},
            "raise_price": lambda: {"raise_price": {"target": target, "price_milliunits": values["price"]}},
            "answer_price": lambda: {"answer_price_increase": {"target": target, "agrees": values["on"]}},
            "clear": lambda: {"clear_transactions": {}},
        }[operation.kind]()

    def purchase(self, operation):
        fields = {
            "account": operation.account,
            "order": self.order(operation),
            "idempotency_key": operation.key,
        }
        return "Purchase", self.contract.PurchaseRequest(**fields)

    ask = purchase

    def finish(self, operation):
        number = self.take(self.unfinished, operation.account)
        if number is None:
            return None
        operation.values["transaction"] = number
        fields = {"account": operation.account, "transaction_id": number, "idempotency_key": operation.key}
        return "Finish", self.contract.FinishRequest(**fields)

    def request_refund(self, operation):
        known = self.bought.get(operation.account)
        if not known:
            return None
        fields = {"account": operation.account, "transaction_id": known[-1], "idempotency_key": operation.key}
        return "RequestRefund", self.contract.RequestRefundRequest(**fields)

    def redeem(self, operation):
        fields = {
            "account": operation.account,
            "code": operation.values["code"],
            "idempotency_key": operation.key,
        }
        return "RedeemOfferCode", self.contract.RedeemOfferCodeRequest(**fields)

    def manage(self, operation):
        fields = {"product_id": operation.product, "auto_renew": operation.values["on"]}
        fields |= {"account": operation.account, "idempotency_key": operation.key}
        return "ManageSubscriptions", self.contract.ManageSubscriptionsRequest(**fields)

    def sync(self, operation):
        return "Sync", self.contract.SyncRequest(account=operation.account, idempotency_key=operation.key)

    def configure(self, operation, settings):
        return "Configure", self.contract.ConfigureRequest(settings=settings, idempotency_key=operation.key)

    def rename(self, operation):
        """All products get another name in one revision."""
        version = operation.values["version"]
        edits = [{"product": {"product_id": each, "display_name": f"{each} #{version}"}} for each in PRODUCTS]
        return self.configure(operation, edits)

    def arm(self, operation):
        api, error = operation.values["failure"]
        return self.configure(operation, [{"simulated_error": {"api": api, "error": error}}])

    def disarm(self, operation):
        return self.configure(operation, [{"simulated_error": {"api": api}} for api, _ in FAILURES])

    def grace(self, operation):
        settings = [{"grace_period": operation.values["on"]}, {"grace_period_days": operation.values["days"]}]
        return self.configure(operation, settings)

    def retry(self, operation):
        return self.configure(operation, [{"billing_retry_on_renewal": operation.values["on"]}])

    def catalogue(self, operation):
        file = catalogue(self.sample, operation.values["version"])
        return "LoadCatalog", self.contract.LoadCatalogRequest(file=file, source="recorder")

    def advance(self, operation):
        """To an instant: sent twice, it moves the clock once."""
        instant = operation.values.setdefault("to_ms", self.now_ms + operation.values["by_ms"])
        return "SetClock", self.contract.SetClockRequest(advance_to_ms=instant)

    def run(self, operation):
        """Lets the clock run; the driver sends `stop` when the time is over."""
        return "SetClock", self.contract.SetClockRequest(resume={})

    def stop(self, operation):
        return "SetClock", self.contract.SetClockRequest(freeze={})
