"""Purchases of nobody and overdue subscriptions on two nodes of one PostgreSQL. Usage: shared.py PERCH

What one node takes, both list, count, show in `perch account unclaimed` and in `perch doctor`, and so they stop together when a name
comes. While the database is away nothing is counted. Ends only the processes that it started.
"""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from chains import Chain
from expectations import conclude, expect

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interop"), str(HERE.parent / "Nodes")]
from database import Database  # noqa: E402
from waiting import PATIENCE_SECONDS, free_port  # noqa: E402

BUNDLE, DAY = "app.perch.sample", 86_400_000
APP = {"bundleId": BUNDLE, "environment": "ENVIRONMENT_SANDBOX"}
perch = os.path.abspath(sys.argv[1])


class Node:
    def __init__(self, directory, database):
        self.port, self.apple, self.http = free_port(), free_port(), free_port()
        self.process = subprocess.Popen([
            perch, "serve", "--store", database.url, "--bundle-id", BUNDLE, "--environment", "sandbox", "--catalog",
            HERE.parents[1] / "deploy" / "sample.storekit", "--listen", f"127.0.0.1:{self.port}", "--apple-listen",
            f"127.0.0.1:{self.apple}", "--http", f"127.0.0.1:{self.http}", "--apple-apps", directory / "apple.json", "--with-parent"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.lstrip().startswith("http:"):
                break
        else:
            sys.exit(f"shared: a node did not start:\n" + "".join(said))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def post(self, path, request, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE_SECONDS)
        connection.request("POST", path, json.dumps(request), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text[:1] == b"{" else text

    def call(self, method, **request):
        service = "IngestService" if method == "SubmitTransaction" else "AdminService"
        return self.post(f"/perch.v1.{service}/{method}", {"app": APP, **request})

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=PATIENCE_SECONDS)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def counted(self):
        metrics = self.metrics()
        return tuple(float(metrics.get(f"perch_{name}", -1)) for name in ("unclaimed_purchases", "overdue_subscriptions"))

    def comes_to(self, wanted):
        """A count is made on request, and is good for 15 seconds."""
        deadline = time.time() + PATIENCE_SECONDS
        while self.counted() != wanted and time.time() < deadline:
            time.sleep(0.5)
        return self.counted()

    def run(self, *arguments):
        return subprocess.run([perch, *arguments, "--server", f"127.0.0.1:{self.port}", "--bundle-id", BUNDLE, "--environment", "sandbox"],
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def stop(self):
        self.process.kill()
        self.process.wait()


def main():
    chain = Chain()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "root.der").write_bytes(chain.root.der)
        (directory / "apple.json").write_text(json.dumps({"apps": [
            {"bundle_id": BUNDLE, "environment": "sandbox", "roots": ["root.der"]}]}))
        database = Database(directory / "database")
        database.start()
        database.ask("CREATE DATABASE perch", "postgres")
        nodes = []
        try:
            nodes += [Node(directory, database)]
            nodes += [Node(directory, database)]
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
            status, answer = one.post("/apple/notifications", {"signedPayload": text}, one.apple)
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
                expect("1 purchases belong to no account" in said and "1 subscriptions are over" in said, f"the doctor warns: {said}")
            states = {key: value for key, value in two.metrics().items() if key.startswith("perch_subscriptions{")}
            expect(states.get('perch_subscriptions{state="subscribed"}') == "1"
                   and states.get('perch_subscriptions{state="expired"}') == "1", f"subscriptions are counted by state: {states}")
            expect(two.call("AttachAlias", account="nina", appAccountToken=token)[1].get("movedCount") == 1, "a name brings it")
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"both nodes count it no longer: {node.counted()}")
            # A name beside another key is one account.
            two.call("MergeAccounts", account="nina", intoAccount="nora")
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"an account with two keys is counted once: {node.counted()}")
            database.kill()
            deadline = time.time() + PATIENCE_SECONDS
            while one.metrics().get("perch_ready") != "0" and time.time() < deadline:
                time.sleep(0.2)
            expect(one.metrics().get("perch_ready") == "0", "a node without its database is not ready")
            expect(one.counted()[1] in (1, -1), f"without the database the last count is shown: {one.counted()}")
            database.start()
            deadline = time.time() + PATIENCE_SECONDS
            while one.metrics().get("perch_ready") != "1" and time.time() < deadline:
                time.sleep(0.2)
            for node in nodes:
                expect(node.comes_to((0, 1)) == (0, 1), f"and it goes on when it is back: {node.counted()}")
        finally:
            for node in nodes:
                node.stop()
            database.stop()


main()
conclude("two nodes")
