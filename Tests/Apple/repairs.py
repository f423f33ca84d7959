"""The App Store asked back, against Perch's own twin of it: whatever becomes of notifications, the state is the test store's in the end.

    repairs.py [--customers N] [--steps N] [--kills N] [--nodes] [--seed N]

Customers of a test app live through random purchases, refunds, renewals and changes. Of their notifications 30 % are lost, refused,
delayed, doubled or reordered; the twin answers 429 and 5xx at random; the server that knows the app as a reported one is killed at random
instants, while it is told and while it asks. `--nodes`: two of them on one PostgreSQL, of which the one that asks is killed. After
`perch apple reconcile --everything` both show the same, now and as of each change. The App Store's questions about refunds are
answered across kills; purchases that are claimed and finished reach the App Store across kills, with the tokens of their accounts. The
twin counts requests. Ends only the servers that it started.
"""
import json
import pathlib
import random
import tempfile
import threading
import time
import uuid

from database import Database
from expectations import conclude, expect
from rehearsal import BUNDLE, Twin, plain
from replay import boundaries, changes, shown
from server import SERVICE_OF
from shop import Shop
from trial import options
from waiting import free_port, until

DAY, HOUR = 86_400_000, 3_600_000
PLANS = ["app.perch.plus.monthly", "app.perch.pro.monthly", "app.perch.plus.yearly"]
GROUPS = ["plus"]


class Backend(Shop):
    """A server that knows the test app of the twin as a reported one, and asks the twin back."""

    def __init__(self, directory, twin, name="backend", **more):
        super().__init__(directory, bundle=BUNDLE, http=True, **more)
        self.log, self.twin = directory / f"{name}.log", twin
        self.connection = None

    def start(self):
        super().start()
        self.connection = self.connect()

    def kill(self):
        if self.connection:
            self.connection.close()
        super().kill()

    def call(self, method, **request):
        request = {"app": {"bundleId": BUNDLE, "environment": "ENVIRONMENT_SANDBOX"}, **request}
        return self.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", request, connection=self.connection)[1]

    def tool(self, *words):
        return self.run(*words, "--bundle-id", BUNDLE, "--environment", "sandbox", "-o", "json")


def configure(directory, twin):
    """The file of --apple-apps: the twin's root, its key, and where it is."""
    (directory / "root.pem").write_bytes(pathlib.Path(twin.facts["APPLE_ROOT"]).read_bytes())
    (directory / "apple.json").write_text(json.dumps({"apps": [{
        "bundle_id": BUNDLE, "environment": "sandbox", "roots": ["root.pem"], "leeway_minutes": 2, "server_api": {
            "key": twin.facts["APPLE_KEY_FILE"], "key_id": twin.facts["APPLE_KEY_ID"], "issuer_id": twin.facts["APPLE_ISSUER_ID"],
            "base_url": f"http://127.0.0.1:{twin.twin_port}", "finish_transactions": True, "set_account_tokens": True}}]}))


class Lives:
    """Random lives of customers at the test store, up to now."""

    def __init__(self, twin, customers, steps, chance):
        self.twin, self.chance, self.steps = twin, chance, steps
        self.customers = [f"customer{number}" for number in range(customers)]
        self.bought = {customer: [] for customer in self.customers}

    def spoil(self):
        """What goes wrong with the next notification, of three in ten."""
        if self.chance.random() < 0.3:
            order = self.chance.choice([
                {"deliver": "lose"}, {"deliver": "double"}, {"deliver": "delay", "milliseconds": self.chance.randrange(1, 48) * HOUR},
                {"deliver": "reorder", "times": 2}])
            expect(plain("POST", self.twin.twin_port, "/mishaps", json=order).status_code == 202, f"{order}")

    def step(self):
        customer, twin = self.chance.choice(self.customers), self.twin
        self.spoil()
        target = {"transactionId": self.chance.choice(self.bought[customer])} if self.bought[customer] else None
        kind = self.chance.choice(["plan", "coins", "lifetime", "refund", "restore", "autoRenew", "renew", "extend"])
        try:
            if kind == "plan" or target is None:
                self.bought[customer].append(twin.buy(customer, self.chance.choice(PLANS))["id"])
            elif kind in ("coins", "lifetime"):
                self.bought[customer].append(twin.buy(customer, f"app.perch.{kind}")["id"])
            elif kind == "refund":
                twin.operate(customer, refund={"target": target})
            elif kind == "restore":
                twin.operate(customer, reverseRefund={"target": target})
            elif kind == "autoRenew":
                twin.operate(customer, setAutoRenew={"target": target, "enabled": self.chance.random() < 0.5})
            elif kind == "renew":
                twin.operate(customer, renew={"target": target})
            else:
                twin.operate(customer, extendRenewal={"target": target, "byMs": str(3 * DAY)})
        except RuntimeError:
            # What cannot be refunded, renewed or bought once more.
            pass

    def advance(self, milliseconds):
        answer = self.twin.call("SetClock", advanceByMs=str(milliseconds))
        expect("code" not in answer, f"the clock goes on: {answer}")


def reconcile(backend, *more):
    """A run to its end, again where the App Store did not answer something."""
    for _ in range(60):
        done = backend.tool("apple", "reconcile", *more)
        if done.returncode == 0:
            return json.loads(done.stdout)
        if "LEASE_WAIT" in done.stdout + done.stderr:
            time.sleep(1)  # Of two nodes the other one had the right, until it ends.
            continue
        expect("tries it again later" in done.stderr, f"a run that is not complete says so: {done.stderr}")
    expect(False, f"a run is complete: {done.stderr}")
    return {}


def lost(twin, backend, lives):
    """What a rehearsal finds, or nothing. By chance all may have come so far, or was fetched, so one more purchase is lost."""
    expect(plain("POST", twin.twin_port, "/mishaps", json={"deliver": "lose"}).status_code == 202, "the next notification is lost")
    lives.bought[lives.customers[0]].append(twin.buy(lives.customers[0], "app.perch.coins")["id"])
    rehearsed = reconcile(backend, "--everything", "--dry-run")
    return rehearsed if rehearsed.get("differences") else None


def trouble(twin, chance, over):
    """429 and 5xx for the API, at random."""
    while not over.is_set():
        plain("POST", twin.twin_port, "/mishaps", json={"answer": chance.choice([429, 500, 503]), "times": 1})
        over.wait(2 + 2 * chance.random())


def compared(twin, backend, lives, seed):
    """Statuses and entitlements of both, now and as of each change."""
    accounts, count = changes(twin), 0
    for account, instants in accounts.items():
        last = max(instants)
        for change in sorted(instants):
            instants |= {end for end in boundaries(twin, account, GROUPS, change) if end <= last}
        for instant in sorted({instant + 500 for instant in instants} | {int(time.time() * 1_000)}):
            here, there = shown(twin, account, GROUPS, instant), shown(backend, account, GROUPS, instant)
            count += 1
            expect(here == there, f"seed {seed}: {account} as of {instant}:\n    store {here}\n    other {there}")
    return count


def counted(twin):
    """No endpoint was asked more often than half of what the App Store allows in a second, as the twin counts."""
    rates = plain("GET", twin.twin_port, "/counts").json()["rates"]
    expect(rates, "the twin has counted")
    for rate in rates:
        # A test notification and what became of it are two requests, which Perch's bucket lets pass together. A second may have the end
        # of one process, by `kill -9`, and the beginning of the next.
        # The App Store allows a sandbox a tenth of what the twin counts by.
        allowed = 4 if rate["rate"] == "test" else max(rate["allowedInASecond"] / 20, 1) * 2 + 1
        expect(rate["mostInASecond"] <= allowed, f"{rate}: at most {allowed} in a second")
    return sum(rate["requests"] for rate in rates)


def questions(twin, backend, lives, chance, kills):
    """The App Store asks about refunds; the answers reach it, whenever the server is killed."""
    customer = lives.customers[0]
    twin.call("Configure", settings=[{"askToBuy": False}])  # `changes` has switched it on.
    for _ in range(lives.steps):
        twin.buy(lives.customers[1], "app.perch.coins")  # Mishaps that still wait happen to these.
    bought = [twin.buy(customer, "app.perch.coins")["id"] for _ in range(4)]
    for id in bought:
        # The store asks about it, and refunds it at once.
        answer = twin.call("RequestRefund", account=customer, transactionId=id)
        expect("code" not in answer, f"a refund is asked for: {answer}")
    asked = lambda: {one["transactionId"]: one for one in json.loads(backend.tool("apple", "consumption", "list").stdout).get("cases", [])}
    found = until(lambda: set(bought) <= set(asked()) and asked(), lambda: f"the App Store asks about {bought}: {asked()}")
    expect(all(found[id]["state"] == "CONSUMPTION_STATE_OPEN" for id in bought), f"they are open: {found}")
    refused = backend.tool("apple", "consumption", "answer", bought[0], "--delivery", "delivered")
    expect(refused.returncode != 0 and "consent" in refused.stderr, "without consent there is no answer")
    plain("POST", twin.twin_port, "/mishaps", json={"answer": 503, "times": 2, "path": f"/inApps/v2/transactions/consumption/{bought[0]}"})
    for number, id in enumerate(bought):
        answered = backend.tool("apple", "consumption", "answer", id, "--consent", "--delivery", "delivered", "--consumed", "80", "--preference", "decline")
        expect(answered.returncode == 0, f"it is answered: {answered.stderr}")
        if number < kills:
            time.sleep(chance.random() * 0.5)
            backend.kill()
            backend.start()
    until(lambda: all(asked()[id]["state"] == "CONSUMPTION_STATE_SENT" for id in bought), lambda: f"each answer is taken: {asked()}")
    audit, after = "", "0"
    while (page := twin.call("ListAudit", afterRevision=after)).get("entries"):
        audit, after = audit + json.dumps(page), page["entries"][-1]["revision"]
    expect(all(f"consumption {id}: " in audit for id in bought), "the App Store has each answer")
    late = backend.tool("apple", "consumption", "answer", bought[0], "--consent", "--delivery", "other")
    expect(late.returncode != 0 and "has taken another answer" in late.stderr, f"one that is taken stays: {late.stderr}")


def updates(twin, backend, lives, chance, kills):
    """What is claimed and finished reaches the App Store, whenever the server is killed."""
    customer, tokens = lives.customers[-1], [str(uuid.uuid4()) for _ in range(min(max(kills, 2), 4))]
    bought = [twin.buy(customer, "app.perch.coins")["id"] for _ in tokens]
    signed = {one["transaction"]["id"]: one["jws"] for one in twin.call("ListUnfinished", account=customer, pageSize=50, includeJws=True)["transactions"]}
    unfinished = lambda: {one["transaction"]["id"] for one in twin.call("ListUnfinished", account=customer, pageSize=500).get("transactions", [])}
    expect(set(bought) <= unfinished(), "nothing is delivered yet")
    if kills > 1:  # It is told again after a minute.
        plain("POST", twin.twin_port, "/mishaps", json={"answer": 503, "times": 1, "path": f"/inApps/v1/transactions/{bought[0]}/finish"})
    for number, (id, token) in enumerate(zip(bought, tokens)):
        answer = backend.call("SubmitTransaction", account=token, signedValues=[signed[id]])
        expect("code" not in answer, f"{id} is claimed: {answer}")
        answer = backend.call("Finish", account=token, transactionId=id)
        expect("code" not in answer, f"{id} is finished: {answer}")
        if number < kills:
            time.sleep(chance.random() * 0.5)
            backend.kill()
            backend.start()
    until(lambda: not set(bought) & unfinished(), lambda: f"the App Store knows what was delivered, not {set(bought) & unfinished()}")
    said = lambda: [twin.transactions(customer)[id].get("appAccountToken") for id in bought]
    until(lambda: said() == tokens, lambda: f"and whose it is: {said()}, not {tokens}")
    until(lambda: backend.metrics().get('perch_app_store_updates{state="waiting"}') == 0, "nothing waits then")
    expect(backend.metrics().get('perch_app_store_updates{state="refused"}') == 0, "nothing is refused")


def main():
    parser = options(__doc__)
    parser.add_argument("--customers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--nodes", action="store_true")
    given = parser.parse_args()
    chance, seed = random.Random(given.seed), given.seed
    start = int(time.time() * 1_000) - 27 * DAY
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        port = free_port()
        twin = Twin(directory, "--clock", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start / 1_000)), "--twin-notify",
                    f"http://127.0.0.1:{port}/apple/notifications", store=directory / "twin.db")
        database = Database(directory / "database") if given.nodes else None
        over, nodes = threading.Event(), []
        try:
            twin.start()
            configure(directory, twin)
            if database:
                database.start()
            store = database.url if database else directory / "backend.db"
            nodes = [Backend(directory, twin, f"backend{number}", store=store) for number in range(2 if database else 1)]
            for node in nodes:
                # Notifications go to the one that runs.
                node.arguments[node.arguments.index("--apple-listen") + 1] = f"127.0.0.1:{port}"
                node.apple_port = port
            backend = nodes[0]
            backend.start()
            lives = Lives(twin, given.customers, given.steps, chance)
            for customer in lives.customers:
                lives.bought[customer].append(twin.buy(customer, "app.perch.coins")["id"])
                id = twin.call("GetAppTransaction", account=customer)["appTransactionId"]
                expect("code" not in backend.call("AttachAlias", account=customer, appTransactionId=id), f"{customer} is named")
            mishaps = threading.Thread(target=trouble, args=(twin, random.Random(seed + 1), over))
            mishaps.start()
            kills = sorted(chance.sample(range(given.steps), min(given.kills, given.steps)))
            for number in range(given.steps):
                if number in kills:
                    # Down for some of the next notifications, which are refused.
                    backend.kill()
                    for _ in range(2):
                        lives.step()
                    backend = nodes[(nodes.index(backend) + 1) % len(nodes)]
                    backend.start()
                lives.step()
                lives.advance(27 * DAY // given.steps - 60_000)
            lives.advance(max(0, int(time.time() * 1_000) - 5_000 - int(twin.call("GetClock")["clock"]["nowMs"])))
            rehearsed = until(lambda: lost(twin, backend, lives), "a rehearsal finds what was lost")
            # Killed while it asks.
            for _ in range(given.kills):
                until(lambda: "code" not in backend.call("Reconcile", everything=True), "a run begins")
                time.sleep(chance.random() * 2)
                backend.kill()
                backend = nodes[(nodes.index(backend) + 1) % len(nodes)]
                backend.start()
                # One that has begun goes on: the next one finds what this one did not.
                until(lambda: "code" not in backend.call("Reconcile", everything=True), "this one asks")
            reconcile(backend, "--everything")
            over.set()
            mishaps.join()
            count = compared(twin, backend, lives, seed)
            quiet = reconcile(backend, "--everything", "--dry-run")
            differs = [one for one in quiet.get("differences", []) if one["source"] == "subscription"]
            expect(not differs, f"then no subscription differs: {differs}")
            questions(twin, backend, lives, chance, given.kills)
            updates(twin, backend, lives, chance, given.kills)
            requests = counted(twin)
            print(f"apple: seed {seed}, {given.steps} steps of {given.customers} customers, {len(rehearsed['differences'])} differences found, "
                  f"{count} instants compared, {requests} requests, {len(kills) + given.kills + 2 * min(given.kills, 4)} kills")
        finally:
            over.set()
            for node in nodes:
                node.kill()
            twin.kill()
            if database:
                database.stop()
    conclude("repairs from the twin")


main()
