"""Carries out a plan: sends mutations, repeats them until they are answered, reads after them, kills and restarts."""

import time

from change_checks import BUYING, TRANSIENT
from values import READ_OF_STREAM
from workload import COINS, GROUP, PRODUCTS

IN_FLIGHT_MAX = 24
REPEATED_AFTER_KILL = 6
CONVERGE_SECONDS = 300


class Driver:
    def __init__(self, world, plan, requests):
        self.world, self.plan, self.requests = world, plan, requests
        self.random = world.random
        self.waiting = {}  # Operations by place; the first of each is under way.
        self.in_flight = 0
        self.acknowledged = []  # (operation, method, request) of those with keys, the newest last.
        self.done = 0
        self.reads = 0
        self.pause = None  # What the plan waits for: a function that says whether it is over.
        self.runs_until = None
        self.position = None
        self.digest_parts = []

    # The plan.

    def turn(self):
        """Starts as many operations as may be in flight."""
        while True:
            if self.pause is not None:
                if not self.pause():
                    return
                self.pause = None
            if self.is_over() or self.in_flight >= IN_FLIGHT_MAX:
                return
            self.begin(next(self.plan))

    def is_over(self):
        return self.world.is_over(self)

    def begin(self, operation):
        self.done += 1
        self.digest_parts.append(f"{operation} {operation.key.hex()}")
        control = getattr(self, "control_" + operation.kind, None)
        if control is not None:
            control(operation)
            return
        self.in_flight += 1
        queue = self.waiting.setdefault(operation.place, [])
        queue.append(operation)
        if len(queue) == 1:
            self.issue(operation)

    def finish(self, operation):
        self.in_flight -= 1
        queue = self.waiting[operation.place]
        queue.pop(0)
        if queue:
            self.world.loop.later(0, lambda: self.issue(queue[0]))

    # Mutations.

    def issue(self, operation):
        made = self.requests.make(operation)
        if made is None:
            self.finish(operation)
            return
        method, request = made
        has_key = method not in ("LoadCatalog", "SetClock")
        note = dict(vars(operation), has_key=has_key)
        self.world.journal.write("operation", note=note)
        self.attempt(operation, method, request)

    def attempt(self, operation, method, request):
        def then(status, answer):
            if status is None or status.reason in TRANSIENT:
                pause = 0.02 if status is None else 0.1
                self.world.loop.later(pause, lambda: self.attempt(operation, method, request))
            elif status.code == 0:
                self.succeeded(operation, method, request, answer)
            else:
                self.finish(operation)

        self.caller(operation).unary(method, request, {"operation": operation.number}, then)

    def caller(self, operation):
        callers = self.world.callers
        return callers[operation.number % len(callers)]

    def succeeded(self, operation, method, request, answer):
        self.requests.learn(operation, answer)
        if self.position is None or answer.position.revision > self.position.revision:
            self.position = answer.position
        if operation.key and method not in ("LoadCatalog", "SetClock"):
            self.acknowledged = (self.acknowledged + [(operation, method, request)])[-200:]
        if operation.kind == "run":
            self.runs_until = time.monotonic() + operation.values["for_ms"] / 1000
            self.world.loop.later(operation.values["for_ms"] / 1000, lambda: self.stop_clock(operation))
            return
        read = self.read_for(operation, answer)
        if read is None or self.world.timing.random() < 0.3:
            self.finish(operation)
            return
        name, fields = read
        request = self.world.contract.methods[name][1](at_least=answer.position, **fields)
        note = {"read": "after", "operation": operation.number, "account": operation.account}
        reader = self.world.timing.choice(self.world.callers)
        call = reader.first_value if name in READ_OF_STREAM else reader.unary
        note |= {key: value for key, value in fields.items() if key != "account"}
        call(name, request, note, lambda status, answer: self.finish(operation))

    def stop_clock(self, operation):
        """The clock stands still again: an operation of its own, because the run is over only then."""
        operation.kind = "stop"
        operation.number = self.world.extra_number()
        self.issue(operation)

    def read_for(self, operation, answer):
        """A read whose answer has to show what the operation did."""
        account = {"account": operation.account}
        if operation.kind in ("rename", "catalogue"):
            name = self.world.timing.choice(("GetProducts", "ProductsTask"))
            return name, {"product_ids": list(PRODUCTS[:3])}
        if operation.kind == "finish":
            return "ListUnfinished", account | {"page_size": 500}
        if (
            operation.kind in BUYING
            and answer.HasField("transaction")
            and not getattr(answer, "already_held", False)
        ):
            product = answer.transaction.transaction.product_id
            choices = [("GetLatestTransaction", account | {"product_id": product})]
            if answer.transaction.transaction.subscription_group_id == GROUP and operation.kind != "redeem":
                choices.append(("GetSubscriptionStatus", account | {"group_id": GROUP}))
                choices.append(("SubscriptionStatusTask", account | {"group_id": GROUP}))
            return self.world.timing.choice(choices) if product != COINS else choices[0]
        return None

    # Control of connections and of the server.

    def pick(self, operation, items):
        return items[operation.values["pick"] % len(items)]

    def control_drop(self, operation):
        self.pick(operation, self.world.watchers).drop()

    def control_recall(self, operation):
        watcher = self.pick(operation, self.world.watchers)
        watcher.recall(self.pick(operation, watcher.chains))

    def control_restart_watch(self, operation):
        watcher = self.pick(operation, self.world.watchers)
        watcher.restart(self.pick(operation, watcher.chains))

    def control_repeat(self, operation):
        if self.acknowledged:
            self.repeat(*self.pick(operation, self.acknowledged))
        self.world.callers[0].ping()

    def repeat(self, operation, method, request):
        """Sends an acknowledged mutation again with its key."""
        caller = self.world.timing.choice(self.world.callers)
        caller.unary(
            method, request, {"operation": operation.number, "repeat": True}, lambda status, answer: None
        )

    def control_kill(self, operation):
        self.world.loop.later(operation.values["after_ms"] / 1000, self.world.kill)
        # The plan goes on until the server dies, so that the kill meets mutations under way.
        self.world.after_restart = self.audit_some

    def control_terminate(self, operation):
        self.world.loop.later(operation.values["after_ms"] / 1000, self.world.terminate)
        self.world.after_restart = self.audit_some

    # Looking at everything.

    def audit_some(self):
        """After a restart: what was acknowledged is still there, and answers to the last keys are the same."""
        for each in self.acknowledged[-REPEATED_AFTER_KILL:]:
            self.repeat(*each)
        accounts = [each for each in self.world.accounts if each in self.requests.bought]
        for account in self.world.timing.sample(accounts, min(4, len(accounts))):
            self.list_all(account, "transactions")
            self.list_all(account, "unfinished")
        self.read("GetProducts", {"product_ids": list(PRODUCTS)}, {"read": "products"})
        self.read("GetClock", {}, {"read": "clock"})

    def read(self, method, fields, note, insists=False):
        """A read from any caller; `insists` repeats it until it is answered."""
        self.reads += 1

        def then(status, answer):
            self.reads -= 1
            if status is None and insists:
                self.read(method, fields, note, insists)

        request = self.world.contract.methods[method][1](**fields)
        self.world.timing.choice(self.world.callers).unary(method, request, note, then)

    def list_all(self, account, name, final=False):
        """All pages of a list. A list whose connection is lost is given up: it is not compared then."""
        method = {"transactions": "ListTransactions", "unfinished": "ListUnfinished"}[name]
        number = self.world.extra_number()
        caller = self.world.timing.choice(self.world.callers)
        self.reads += 1

        def ask(page_token):
            fields = {"account": account, "page_size": 500, "page_token": page_token}
            if name == "transactions":
                fields["include_finished_consumables"] = True
            request = self.world.contract.methods[method][1](**fields)
            note = {"read": name, "list": number, "account": account, "final": final}
            caller.unary(method, request, note, then)

        def then(status, answer):
            if answer is not None and answer.next_page_token:
                ask(answer.next_page_token)
            else:
                self.reads -= 1

        ask(b"")

    def control_settle(self, operation):
        self.settle(final=False)

    def settle(self, final):
        """Waits until nothing is under way, reads every view that is watched, and compares it with the watches."""
        steps = iter(self.settle_steps(final))
        state = {"wait": next(steps)}

        def is_over():
            while state["wait"]():
                try:
                    state["wait"] = next(steps)
                except StopIteration:
                    return True
            return False

        self.pause = is_over

    def settle_steps(self, final):
        world = self.world
        yield lambda: self.in_flight == 0 and self.reads == 0 and world.is_calm()
        views = {}
        for watcher in world.watchers:
            for chain in watcher.chains:
                if chain.method in READ_OF_STREAM:
                    fields = (
                        dict(chain.parameters, account=chain.account) if chain.account else chain.parameters
                    )
                    views.setdefault((chain.method, *map(str, fields.values())), (chain.method, fields))
        for method, fields in views.values():
            note = {"read": "settle", "view": world.checks_view(method, fields)}
            fields = fields | ({"at_least": self.position} if self.position else {})
            self.read(READ_OF_STREAM[method], fields, note, insists=True)
        if final:
            for account in world.accounts:
                self.list_all(account, "transactions", final=True)
                self.list_all(account, "unfinished", final=True)
            world.open_history()
        yield lambda: self.reads == 0
        end = time.monotonic() + CONVERGE_SECONDS
        yield lambda: world.has_converged(final) or time.monotonic() > end
        world.journal.write("settled", note={"final": final})
