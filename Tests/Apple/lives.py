"""Lives of subscriptions as signed notifications, in random order and doubled, on a server that asks for credentials.

    lives.py [--lives 300] [--kills 200] [--orders 3] [--seed N]

Each life is told as the App Store would, with certificates of the length that Apple's have. The customer's name becomes known at a random
instant, in one of several ways. Whatever the order, and however often the server is killed: one final state, and the true one. A last
order loses notifications; then the state must be that of what was delivered. Ends only the servers that it started, by their number.
"""

import collections
import http.client
import json
import pathlib
import random
import sys
import tempfile
import threading
import time
import uuid

import trial
from chains import Chain
from shop import APP, BUNDLE, DAY, PERCH, Shop, trust
from tokens import Keys

HOUR, RETRY = 3_600_000, 60 * DAY
PRODUCTS = ["app.perch.plus.monthly", "app.perch.pro.monthly"]


class Life:
    """A subscription: what the App Store signed about it, oldest first. `now` is far from each boundary."""

    def __init__(self, number, chance, now):
        self.number, self.chance = number, chance
        self.original = 10_000_000 + number * 1_000
        self.token = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        self.customer = f"70{self.original}"
        self.way = chance.choice(["grant", "grant upper", "attach token", "attach number", "claim", "claim another"])
        self.has_token = self.way not in ("attach number", "claim another") or chance.random() < 0.5
        self.account = self.token if self.way.startswith("grant") else f"customer-{number}"
        self.next = 0
        self.told = []  # (type, subtype, transaction, renewal)
        self.live(now)

    def transaction(self, begin, end, signed, product, **more):
        period = more.pop("period")
        fields = {
            "transactionId": str(self.original + period), "originalTransactionId": str(self.original),
            "webOrderLineItemId": str(self.original * 10 + period), "bundleId": BUNDLE, "productId": product,
            "subscriptionGroupIdentifier": "plus", "purchaseDate": begin, "originalPurchaseDate": self.began,
            "expiresDate": end, "quantity": 1, "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
            "signedDate": signed, "environment": "Sandbox", "transactionReason": "RENEWAL" if period else "PURCHASE",
            "storefront": "USA", "storefrontId": "143441", "currency": "USD", "price": 4990,
            "appTransactionId": self.customer, **more}
        if self.has_token:
            fields["appAccountToken"] = self.token
        return fields

    def renewal(self, end, signed, product, status, **more):
        fields = {
            "originalTransactionId": str(self.original), "productId": product, "autoRenewProductId": product,
            "autoRenewStatus": status, "renewalDate": end, "signedDate": signed, "environment": "Sandbox",
            "recentSubscriptionStartDate": self.began, "appTransactionId": self.customer, **more}
        if self.has_token:
            fields["appAccountToken"] = self.token
        return fields

    def live(self, now):
        chance = self.chance
        length = chance.choice([7, 30]) * DAY
        periods = chance.randint(1, 7)
        # The last period that was paid ends hours after now, or ended hours before.
        last = now + chance.choice([-1, -1, 1, 1, 1]) * chance.randint(2 * HOUR, length - 2 * HOUR)
        self.began = begin = last - periods * length
        product, status = PRODUCTS[0], 1
        say = lambda *words: self.told.append(words)
        for period in range(periods):
            end = begin + length
            signed = begin + chance.randint(1, HOUR)
            more = {"period": period}
            if period == 0 and chance.random() < 0.4:
                more.update(offerType=1, offerDiscountType="FREE_TRIAL", price=0)
            transaction = lambda at, **extra: self.transaction(begin, end, at, product, **more, **extra)
            say("SUBSCRIBED" if period == 0 else "DID_RENEW", "INITIAL_BUY" if period == 0 else "",
                transaction(signed), self.renewal(end, signed, product, status))
            at = signed
            for _ in range(chance.randint(0, 2)):
                at += chance.randint(1, HOUR)
                what = chance.random()
                if what < 0.4:
                    status = 1 - status
                    say("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED" if status else "AUTO_RENEW_DISABLED",
                        transaction(at), self.renewal(end, at, product, status))
                elif what < 0.6:
                    say("REFUND", "", transaction(at, revocationDate=at - 1, revocationReason=0), None)
                    if chance.random() < 0.6:
                        at += 1_000
                        say("REFUND_REVERSED", "", transaction(at), None)
                elif what < 0.8:
                    say("CONSUMPTION_REQUEST", "", transaction(at), None)
                else:
                    say("PRICE_INCREASE", "PENDING", transaction(at),
                        self.renewal(end, at, product, status, priceIncreaseStatus=0))
            if period + 1 < periods and chance.random() < 0.15:
                product = PRODUCTS[1 - PRODUCTS.index(product)]
            if period + 1 == periods:
                self.end(end, at, product, status, transaction, now, say)
            elif status == 0:
                status = 1
                say("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", transaction(at + 5),
                    self.renewal(end, at + 5, product, 1))
            begin = end

    def end(self, end, at, product, status, transaction, now, say):
        if end > now:
            return
        at = max(end, at) + 1_000
        if status == 0:
            say("EXPIRED", "VOLUNTARY", transaction(at), self.renewal(end, at, product, 0, expirationIntent=1))
            return
        how = self.chance.choice(["grace", "retry", "gave up", "silence"])
        if how == "grace":
            say("DID_FAIL_TO_RENEW", "GRACE_PERIOD", transaction(at), self.renewal(
                end, at, product, 1, isInBillingRetryPeriod=True,
                gracePeriodExpiresDate=now + self.chance.choice([-1, 1]) * 2 * HOUR))
        elif how == "retry":
            say("DID_FAIL_TO_RENEW", "", transaction(at), self.renewal(end, at, product, 1, isInBillingRetryPeriod=True))
        elif how == "gave up":
            say("EXPIRED", "BILLING_RETRY", transaction(at), self.renewal(end, at, product, 1, expirationIntent=2))


def fold(told):
    """The newest report of each period, and the newest renewal information."""
    periods, renewal = {}, None
    for _, _, transaction, info in told:
        if transaction:
            key = transaction["webOrderLineItemId"]
            if key not in periods or periods[key]["signedDate"] < transaction["signedDate"]:
                periods[key] = transaction
        if info and (renewal is None or renewal["signedDate"] < info["signedDate"]):
            renewal = info
    return sorted(periods.values(), key=lambda one: (one["purchaseDate"], one["expiresDate"])), renewal


def truth(told, now, leeway=120_000):
    """The state of a line by the rules of appstore.md, written without a look at Perch's; None where no period is known."""
    periods, renewal = fold(told)
    begun = [one for one in periods if one["purchaseDate"] <= now]
    if not begun:
        return None
    head, end = begun[-1], begun[-1]["expiresDate"]
    if head.get("revocationDate", now + 1) <= now:
        return "REVOKED"
    if now < end:
        return "SUBSCRIBED"
    if renewal and renewal["renewalDate"] < end:
        renewal = None
    if renewal and now < renewal["renewalDate"]:
        return "SUBSCRIBED"
    boundary = max(end, renewal["renewalDate"]) if renewal else end
    if renewal:
        if now < renewal.get("gracePeriodExpiresDate", 0):
            return "IN_GRACE_PERIOD"
        if renewal.get("isInBillingRetryPeriod") and now < boundary + RETRY:
            return "IN_BILLING_RETRY_PERIOD"
        if renewal.get("expirationIntent") or not renewal["autoRenewStatus"]:
            return "EXPIRED"
    return "SUBSCRIBED" if now < boundary + leeway else "EXPIRED"


class Customers(Shop):
    """A server that asks for credentials."""

    def __init__(self, directory, chain):
        trust(directory, chain)
        keys = Keys(PERCH, directory)
        self.tokens = {scope: keys.text(scope, None if scope == "admin" else (BUNDLE, "sandbox"), expires="1d")
                       for scope in ("ingest", "read,ingest", "admin")}
        super().__init__(directory, "--token-keys", keys.public)
        self.app, self.kills = APP, 0
        self.start()

    def crash(self):
        self.kill()
        self.kills += 1
        self.start()

    def call(self, method, scope="admin", **request):
        return super().call(method, self.tokens[scope], **request)


class Delivery:
    """One order of everything, on a server of its own."""

    def __init__(self, directory, chain, chance, lives, kills, losing):
        self.chance, self.lives, self.chain = chance, lives, chain
        self.server = Customers(directory, chain)
        self.failures, self.sizes = [], []
        self.told = {life.number: [] for life in lives}
        steps = []
        for life in lives:
            steps += [(life, None)]
            for words in life.told:
                if losing and chance.random() < 0.25:
                    continue
                self.told[life.number].append(words)
                steps += [(life, words)] * 2
            if life.way == "claim" and not self.told[life.number]:
                # The claim alone says what it submits.
                self.told[life.number] = [(*life.told[0][:3], None)]
        chance.shuffle(steps)
        at = set(chance.sample(range(len(steps)), min(kills, len(steps))))
        for place, (life, words) in enumerate(steps):
            if place in at:
                self.send_and_kill(life, words)
            else:
                self.send(life, words)
            if self.failures:
                break

    def expect(self, condition, sentence):
        if not condition:
            self.failures.append(sentence)

    def send(self, life, words):
        status, answer = self.name(life) if words is None else self.notify(*words)
        self.expect(status == 200, f"{life.way} {words and words[0]}: {status} {str(answer)[:300]}")

    def send_and_kill(self, life, words):
        """Killed at any instant of the request, which is then made again, as the App Store does."""
        def try_it():
            try:
                self.send_quietly(life, words)
            except (OSError, http.client.HTTPException, ValueError):
                pass
        sender = threading.Thread(target=try_it)
        sender.start()
        time.sleep(self.chance.uniform(0, 0.008))
        self.server.crash()
        sender.join()
        self.send(life, words)

    def send_quietly(self, life, words):
        self.name(life) if words is None else self.notify(*words)

    def notify(self, kind, subtype, transaction, renewal):
        data = {"bundleId": BUNDLE, "environment": "Sandbox", "signedTransactionInfo": self.chain.sign(transaction)}
        if renewal:
            data["signedRenewalInfo"] = self.chain.sign(renewal)
        text = self.chain.sign({
            "notificationType": kind, **({"subtype": subtype} if subtype else {}), "version": "2.0",
            "notificationUUID": str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([kind, subtype, transaction, renewal]))),
            "signedDate": transaction["signedDate"], "data": data})
        self.sizes.append(len(text))
        if self.chance.random() < 0.7:
            return self.server.notify({"signedPayload": text})
        return self.server.call("SubmitNotification", "ingest", app=None, signedPayload=text)

    def name(self, life):
        """The customer's name becomes known."""
        call = self.server.call
        if life.way == "grant":
            return call("GrantEntitlement", account=life.token, name="goodwill")
        if life.way == "grant upper":
            return call("GrantEntitlement", account=life.token.upper(), name="goodwill")
        if life.way == "attach token":
            return call("AttachAlias", account=life.account, appAccountToken=life.token.upper())
        if life.way == "attach number":
            return call("AttachAlias", account=life.account, appTransactionId=life.customer)
        if life.way == "claim":
            told = self.told[life.number] or life.told
            value = told[0][2]
        else:
            value = {
                "transactionId": str(life.original + 900), "originalTransactionId": str(life.original + 900),
                "bundleId": BUNDLE, "productId": "app.perch.lifetime", "purchaseDate": life.began, "quantity": 1,
                "originalPurchaseDate": life.began, "type": "Non-Consumable", "signedDate": life.began + 1,
                "inAppOwnershipType": "PURCHASED", "environment": "Sandbox", "appTransactionId": life.customer,
                **({"appAccountToken": life.token} if life.has_token else {})}
        return call("SubmitTransaction", "read,ingest", account=life.account,
                    signedValues=[self.chain.sign(value)])

    def states(self, now):
        """What the server says of each customer, without positions and what orders give in different ways."""
        found = {}
        for life in self.lives:
            status, answer = self.server.call("GetSubscriptionStatus", "read,ingest",
                                              account=life.account, groupId="plus")
            statuses = answer.get("success", {}).get("statuses", []) if status == 200 else []
            lines = [(one["state"].removeprefix("RENEWAL_STATE_"), one["transaction"]["transaction"]["id"]) for one in statuses]
            expected = truth(self.told[life.number], now)
            self.expect([state for state, _ in lines] == ([expected] if expected else []),
                        f"life {life.number} ({life.way}) is {lines}, expected {expected}")
            history = self.server.call("ListTransactions", "read,ingest", account=life.account,
                                       pageSize=500, includeFinishedConsumables=True)[1].get("transactions", [])
            if self.told[life.number]:
                owner = self.server.call("FindAccount", transactionId=str(life.original))[1]
                self.expect(owner.get("account", "").lower() == life.account.lower() and not owner.get("unclaimed"),
                            f"life {life.number} ({life.way}) belongs to {owner}")
            found[life.number] = json.dumps([lines, [
                {**one["transaction"], "signedDateMs": one["transaction"].get("signedDateMs")} for one in history], [
                {name: value for name, value in one["renewalInfo"]["renewalInfo"].items()} for one in statuses]], sort_keys=True)
        unclaimed, token = [], ""
        while True:
            page = self.server.call("ListUnclaimed", **({"pageToken": token} if token else {}))[1]
            unclaimed += [one for one in page.get("purchases", []) if one.get("unclaimed")]
            token = page.get("nextPageToken", "")
            if not token:
                break
        self.expect(unclaimed == [], f"{len(unclaimed)} purchases belong to nobody, the first: {unclaimed[:1]}")
        return found


def main():
    options = trial.options(__doc__)
    options.add_argument("--lives", type=int, default=300)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--orders", type=int, default=3)
    options = options.parse_args()
    began = time.time()
    now = int(began * 1000)
    chance = random.Random(options.seed)
    chain = Chain.of_real_length()
    lives = [Life(number, random.Random(chance.random()), now) for number in range(options.lives)]
    first, told, kills, sizes = None, 0, 0, []
    for order in range(options.orders):
        losing = order == options.orders - 1
        with tempfile.TemporaryDirectory() as name:
            delivery = Delivery(pathlib.Path(name), chain, random.Random(chance.random()), lives,
                                options.kills // options.orders, losing)
            try:
                found = delivery.states(now) if not delivery.failures else {}
            finally:
                delivery.server.kill()
        told += len(delivery.sizes)
        kills += delivery.server.kills
        sizes += delivery.sizes
        if first is None:
            first = found
        elif not losing and found != first:
            other = next(number for number in found if found[number] != first[number])
            delivery.failures.append(f"life {other} has another state in order {order}:\n{first[other]}\n{found[other]}")
        if delivery.failures:
            print("\n".join(f"lives: FAILED: {one}" for one in delivery.failures[:5]), file=sys.stderr)
            sys.exit(f"lives: {len(delivery.failures)} failures; again: --seed {options.seed}")
    states = collections.Counter(truth(life.told, now) for life in lives)
    print(f"lives: {options.lives} lives in {options.orders} orders, the last with losses: {told} notifications of "
          f"{min(sizes)} to {max(sizes)} bytes, {kills} kills, one final state and the truth "
          f"({', '.join(f'{count} {state}' for state, count in states.most_common())}); {time.time() - began:.0f} s, "
          f"seed {options.seed}")


if __name__ == "__main__":
    main()
