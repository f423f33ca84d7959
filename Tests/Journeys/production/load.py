"""Customers who buy and watch through the proxy while something happens, and what must be true of them at the end."""
import threading
import uuid

from .waiting import until
from .world import LAB


class Load:
    """Buyers call again with the key of what they want until it is answered. Each watcher looks at a buyer's account."""

    def __init__(self, world, buyers, watchers, product="app.perch.coins"):
        self.world, self.product = world, product
        self.accounts = [f"buyer-{number}" for number in range(buyers)]
        self.acknowledged, self.lock, self.is_over, self.errors = [], threading.Lock(), threading.Event(), []
        self.callers = {account: world.caller("write", LAB, account) for account in self.accounts}
        self.watchers = watchers

    def start(self):
        self.devices = [self.world.entitlements(account, LAB) for account in self.accounts[:self.watchers]]
        for device in self.devices:
            self.world.buy(device.account, "app.perch.lifetime", f"lifetime-{device.account}", caller=self.callers[device.account])
            device.waits_for("plus")
        self.threads = [threading.Thread(target=self.buy, args=(account,), daemon=True) for account in self.accounts]
        for thread in self.threads:
            thread.start()

    def buy(self, account):
        caller = self.callers[account]
        while not self.is_over.is_set():
            key = uuid.uuid4().bytes
            try:
                answer = caller.insist("Purchase", account=account, idempotency_key=key, order={"product_id": self.product})
            except Exception as error:  # noqa: BLE001  Whatever it is, the story is told.
                self.errors.append(f"{account}: {type(error).__name__}: {error}")
                return
            with self.lock:
                self.acknowledged.append((account, answer.transaction.transaction.id, answer.position.revision, key))
            self.is_over.wait(0.02)

    def until_more(self, count):
        """Waits for so many more acknowledged purchases."""
        wanted = len(self.acknowledged) + count
        until(f"{count} more purchases", lambda: len(self.acknowledged) >= wanted or self.errors, lambda: f"{len(self.acknowledged)} of {wanted}")
        self.world.check("no customer's purchase is refused for good", not self.errors, self.errors)

    def until_it_reaches_every_node(self):
        """nginx leaves a node alone for ten seconds after it failed. Who stops another one meanwhile leaves clients with none."""
        for node in self.world.nodes:
            calls = node.metric("perch_http_calls_total")
            until("calls that reach every node", lambda: node.metric("perch_http_calls_total") > calls + 5)

    def check_kept(self):
        """What customers were told until now is there. Returns what each account has."""
        with self.lock:
            acknowledged = list(self.acknowledged)
        there = {}
        for account in self.accounts:
            told = [each[1] for each in acknowledged if each[0] == account]
            there[account] = [each.id for each in self.world.transactions(account) if each.product_id == self.product]
            missing = sorted(set(told) - set(there[account]))
            self.world.check("every acknowledged purchase is there", not missing,
                             f"{account}: {len(missing)} of {len(told)} are lost: {missing[:5]}")
        return there

    def finish(self, changes=None):
        """Ends the buyers, and compares what they were told with what the store has, and with what the reader of changes was told."""
        world = self.world
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        world.check("no customer's purchase is refused for good", not self.errors, self.errors)
        for account, found in self.check_kept().items():
            told = {each[1] for each in self.acknowledged if each[0] == account}
            more = [each for each in found if each not in told]
            world.check("no purchase is there that nobody was told of", not more and len(found) == len(set(found)), f"{account}: {more[:5]}")
        keys = {}
        for account, number, _, key in self.acknowledged:
            world.check("no two purchases are one transaction", number not in keys, number)
            keys[number] = key
        for device in self.devices:
            device.waits_for("plus")
            world.check("no device lost its entitlement", device.kept("plus"), device.values)
        if changes:
            self.compare(changes)

    def compare(self, changes):
        """The reader of the app's changes was told of each purchase, once, in one order."""
        last = max(each[2] for each in self.acknowledged)
        changes.until(f"the change of revision {last}", lambda: any(each.position.revision >= last for each in changes.values))
        told = [(each.account, each.position.revision) for each in changes.of_accounts if each.account in self.accounts]
        wanted = {(account, revision) for account, _, revision, _ in self.acknowledged}
        missing = wanted - set(told)
        self.world.check("the reader of changes hears of every purchase", not missing, f"{len(missing)} of {len(wanted)}: {sorted(missing)[:5]}")
        twice = sorted({each for each in told if told.count(each) > 1})
        self.world.check("the reader of changes hears of no purchase twice", not twice, twice[:5])
        places = [each.position.revision for each in changes.values]
        self.world.check("positions of changes never decrease", places == sorted(places), places)
