"""Purchases of nobody and overdue subscriptions on two nodes of one PostgreSQL.

What one node takes, both list, count, show in `perch account unclaimed` and in `perch doctor`, and so they stop together when a name
comes. While the database is away nothing is counted. Ends only the processes that it started.
"""

import pathlib
import tempfile
import time
import uuid

from chains import Chain
from database import Database
from expectations import conclude, expect
from shop import APP, BUNDLE, DAY, Shop, trust
from waiting import PATIENCE_SECONDS


class Node(Shop):
    def __init__(self, directory, database, name):
        super().__init__(directory, store=database.url, http=True)
        self.app, self.log = APP, directory / f"{name}.log"
        self.start()

    def counted(self):
        metrics = self.metrics()
        return tuple(metrics.get(f"perch_{name}", -1) for name in ("unclaimed_purchases", "overdue_subscriptions"))

    def comes_to(self, wanted):
        """A count is made on request, and is good for 15 seconds."""
        deadline = time.time() + PATIENCE_SECONDS
        while self.counted() != wanted and time.time() < deadline:
            time.sleep(0.5)
        return self.counted()

    def run(self, *arguments):
        return super().run(*arguments, "--bundle-id", BUNDLE, "--environment", "sandbox")


def main():
    chain = Chain()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        trust(directory, chain)
        database = Database(directory / "database")
        database.start()
        nodes = []
        try:
            nodes += [Node(directory, database, "one")]
            nodes += [Node(directory, database, "two")]
            one, two = nodes
            now = int(time.time() * 1000)

            def transaction(original, begin, token):
                return {
                    "transactionId": str(original), "originalTransactionId": str(original), "webOrderLineItemId": f"{original}0",
                    "bundleId": BUNDLE, "productId": "app.perch.plus.monthly", "subscriptionGroupIdentifier": "21482145",
                    "purchaseDate": begin, "originalPurchaseDate": begin, "expiresDate": begin + 30 * DAY, "quantity": 1,
                    "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "signedDate": begin + 1,
                    "environment": "Sandbox", "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441",
                    "appAccountToken": token}

            for node in nodes:
                expect(node.comes_to((0, 0)) == (0, 0), f"both count nothing at first: {node.counted()}")
            token = str(uuid.uuid4())
            text = chain.sign({
                "notificationType": "SUBSCRIBED", "notificationUUID": str(uuid.uuid4()), "version": "2.0", "signedDate": now,
                "data": {"bundleId": BUNDLE, "environment": "Sandbox",
                         "signedTransactionInfo": chain.sign(transaction(1_000, now - DAY, token))}})
            status, answer = one.notify({"signedPayload": text})
            expect(status == 200, f"a notification is taken: {status} {answer}")
            late = transaction(2_000, now - 40 * DAY, str(uuid.uuid4()))
            renewal = {"originalTransactionId": "2000", "productId": "app.perch.plus.monthly", "autoRenewStatus": 1, "environment": "Sandbox",
                       "autoRenewProductId": "app.perch.plus.monthly", "renewalDate": now - 10 * DAY, "signedDate": now - 40 * DAY}
            status, answer = one.call("SubmitTransaction", account="olga", signedValues=[chain.sign(late), chain.sign(renewal)])
            expect(status == 200, f"a submission is taken: {status} {answer}")
            for node in (two, one):
                found = {each["originalTransactionId"]: each for each in node.call("ListUnclaimed")[1].get("purchases", [])}
                expect(found.get("1000", {}).get("unclaimed") and found.get("2000", {}).get("overdue") and len(found) == 2,
                       f"both nodes list them: {found}")
                expect(node.comes_to((1, 1)) == (1, 1), f"both nodes count them: {node.counted()}")
                said = node.run("account", "unclaimed").stdout
                expect("1000" in said and "2000" in said and "olga" in said, f"the command lists them: {said}")
                said = node.run("doctor").stdout
                expect("1 purchase belongs to no account" in said and "1 subscription is over" in said, f"the doctor warns: {said}")
            states = {key: value for key, value in two.metrics().items() if key.startswith("perch_subscriptions{")}
            expect(states.get('perch_subscriptions{state="subscribed"}') == 1
                   and states.get('perch_subscriptions{state="expired"}') == 1, f"subscriptions are counted by state: {states}")
            expect(two.call("AttachAlias", account="nina", appAccountToken=token)[1].get("movedCount") == 1, "a name brings it")
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"both nodes count it no longer: {node.counted()}")
            # A name beside another key is one account.
            two.call("MergeAccounts", account="nina", intoAccount="nora")
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"an account with two keys is counted once: {node.counted()}")
            database.kill()
            deadline = time.time() + PATIENCE_SECONDS
            while one.metrics().get("perch_ready") != 0 and time.time() < deadline:
                time.sleep(0.2)
            expect(one.metrics().get("perch_ready") == 0, "a node without its database is not ready")
            expect(one.counted()[1] in (1, -1), f"without the database the last count is shown: {one.counted()}")
            database.start()
            deadline = time.time() + PATIENCE_SECONDS
            while one.metrics().get("perch_ready") != 1 and time.time() < deadline:
                time.sleep(0.2)
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"and it goes on when it is back: {node.counted()}")
        finally:
            for node in nodes:
                node.kill()
            database.stop()


main()
conclude("two nodes")
