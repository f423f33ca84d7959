"""A test store's own signed values: Apple's library verifies them, and another Perch that gets them shows the same.

    twin.py [--all | SCENARIO…]

Signing: every method that fills `jws`. Twin: each scenario is played on a test store. At each instant at which an account changed,
its signed values are submitted to a second Perch, which knows the app as one of Apple's sandbox and trusts the store's root. Both
must then give equal statuses and entitlements as of each of these instants, but for what no signed value says (EXCEPTIONS). The
script ends only the servers that it started, by their number.
"""
import base64
import json
import pathlib
import sys
import tempfile

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives import serialization

import expectations
from expectations import expect
from replay import EXCEPTIONS, boundaries, changes, earlier, shown
from server import SERVICE_OF, Server
from trial import PERCH, ROOT, SAMPLE

BUNDLE = "com.example.twin"
# The ones that CI plays; the others on request, as `run --twin`.
IN_CI = ["row09*", "row2[0-5]*", "row35*", "family-w*", "refunds-in-parts*", "billed-monthly-l*", "grace-of-t*"]


class Store(Server):
    """A server with a store in memory, which serves."""

    def __init__(self, catalogue, *more):
        self.directory = tempfile.TemporaryDirectory()
        super().__init__(PERCH, catalogue, "memory", pathlib.Path(self.directory.name) / "server.log", *more, bundle=BUNDLE, time_rate=None)
        self.start()
        self.connection = self.connect()

    def call(self, method, **request):
        """The answer of a unary call; an error is its JSON, with `code`."""
        return self.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", request, connection=self.connection)[1]

    def pages(self, method, field, **request):
        """All entries of a list."""
        token = ""
        while True:
            page = self.call(method, **request, **({"pageToken": token} if token else {}))
            yield from page.get(field, [])
            token = page.get("nextPageToken")
            if not token:
                return

    def first(self, path, query):
        """The first event with a value, of a stream as server-sent events."""
        stream = self.connect()
        stream.request("GET", f"{path}?{query}", headers={"accept": "text/event-stream"})
        events = stream.getresponse()
        while line := events.fp.readline().decode():
            if line.startswith("data: ") and ("success" in line or "transaction" in line):
                stream.close()
                return json.loads(line[6:])

    def stop(self):
        self.connection.close()
        super().stop()
        self.directory.cleanup()


def texts(value):
    """Every `jws` in an answer."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "jws":
                yield inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def payload(text):
    part = text.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def signing():
    """What Perch signs, as Apple's library sees it."""
    server = Store(SAMPLE, "--time-rate", 0)  # A trial of a week lasts ten seconds at the rate of the sample.
    root = x509.load_pem_x509_certificate(server.call("GetServerStatus")["appleRootPem"].encode())
    verifier = SignedDataVerifier([root.public_bytes(serialization.Encoding.DER)], False, Environment.SANDBOX, BUNDLE)
    verifier._chain_verifier.enable_strict_checks = True
    product, group = "app.perch.plus.monthly", "plus"
    bought = server.call("Purchase", account="anna", order={"productId": product}, includeJws=True)["transaction"]
    expect(verifier.verify_and_decode_signed_transaction(bought["jws"]).transactionId == bought["transaction"]["id"],
           "the answer of a purchase is signed")
    account = {"account": "anna", "includeJws": True}
    lists = {
        "GetSubscriptionStatus": {"groupId": group}, "GetCurrentEntitlement": {"productId": product}, "ListCurrentEntitlements": {},
        "ListTransactions": {}, "ListUnfinished": {}, "GetLatestTransaction": {"productId": product},
    }
    for method, more in lists.items():
        expect(list(texts(server.call(method, account="anna", **more))) == [], f"{method} signs nothing that is not asked for")
        found = list(texts(server.call(method, **account, **more)))
        expect(len(found) == (2 if method == "GetSubscriptionStatus" else 1), f"{method} signs {len(found)} values")
        for text in found:
            said = payload(text)
            decode = verifier.verify_and_decode_renewal_info if "autoRenewStatus" in said else \
                verifier.verify_and_decode_signed_transaction
            expect(decode(text).originalTransactionId == "1", f"{method}: Apple's library verifies it")
        expect(list(texts(server.call(method, **account, **more))) == found, f"{method}: read again, a value keeps its bytes")
    app = server.call("GetAppTransaction", **account)["jws"]
    expect(verifier.verify_and_decode_app_transaction(app).bundleId == BUNDLE, "an app transaction is verified")
    path = "/perch.v1.EntitlementService/"
    for method, query in [("SubscriptionStatusTask", f"groupId={group}"), ("CurrentEntitlementTask", f"productId={product}")]:
        signed = list(texts(server.first(path + method, f"account=anna&{query}&includeJws=true")))
        expect(len(signed) == (2 if "Status" in method else 1), f"{method} streams signed values")
        verifier.verify_and_decode_signed_transaction(signed[0])
        expect(list(texts(server.first(path + method, f"account=anna&{query}"))) == [], f"{method} streams none unasked")
    event = server.first("/perch.v1.TransactionService/TransactionUpdates", "account=anna&includeJws=true")
    expect(verifier.verify_and_decode_signed_transaction(event["transaction"]["jws"]).transactionId == "1", "events are signed")
    # Renewal information is dated: of two states the later one has the later date, though the contents come back.
    dates = []
    for state in ["off", "on", "off"]:
        answer = server.call("Operate", account="anna", operation={"setAutoRenew": {
            "target": {"productId": product}, "enabled": state == "on"}})
        expect("code" not in answer, f"renewal is switched {state}: {answer}")
        answer = server.call("GetSubscriptionStatus", groupId=group, **account)["success"]["statuses"][0]["renewalInfo"]
        dates.append(payload(answer["jws"])["signedDate"])
        expect(answer["renewalInfo"]["signedDateMs"] == str(dates[-1]), "the field says when it was signed")
    expect(dates == sorted(set(dates)), f"each change of the renewal is signed later: {dates}")
    # A page of signed values is short, whatever was asked for.
    for _ in range(60):
        server.call("Purchase", account="bert", order={"productId": "app.perch.coins"})
    page = server.call("ListTransactions", account="bert", pageSize=500, includeJws=True)
    expect(len(page.get("transactions", [])) in (0, 50), f"a page has {len(page.get('transactions', []))} signed values")
    # A store whose verification is to fail signs wrongly.
    server.run("store", "fail", "verification", "invalidSignature")
    wrong = server.call("GetCurrentEntitlement", productId=product, **account)
    for text in texts(wrong):
        try:
            verifier.verify_and_decode_signed_transaction(text)
            expect(wrong["success"]["transaction"].get("verificationError") is None, "an unverified value is verified")
        except VerificationException:
            expect("verificationError" in json.dumps(wrong), "a value without an error is not verified")
    server.stop()


def twin(scenario, directory):
    """Plays a scenario on a test store, and compares it with the twin."""
    name = scenario.name
    scenario, catalogue = earlier(scenario, directory)
    store = Store(catalogue, "--clock", "2010-01-01")
    store.run("scenario", "run", str(scenario), "--quiet")
    store.run("store", "reset")
    (directory / "root.pem").write_text(store.call("GetServerStatus")["appleRootPem"])
    (directory / "apple.json").write_text(json.dumps({"apps": [
        {"bundle_id": BUNDLE, "environment": "sandbox", "roots": ["root.pem"]}]}))
    other = Store(catalogue, "--environment", "sandbox", "--apple-apps", str(directory / "apple.json"), "--apple-listen", "127.0.0.1:0")
    groups = store.call("GetCatalog").get("groupIds", [])
    compared, differ = 0, []
    for account, instants in changes(store).items():
        # The App Store also tells what happens at the end of a period and of a grace period.
        asked, last = set(), max(instants)
        while instants - asked:
            new, asked = instants - asked, set(instants)
            instants |= {end for change in new for end in boundaries(store, account, groups, change) if end <= last}
        values = {}
        for instant in sorted(instants):
            for group in groups:
                answer = store.call("GetSubscriptionStatus", account=account, groupId=group, includeJws=True,
                                    asOf={"atMs": str(instant)})
                values.update(dict.fromkeys(texts(answer)))
            values.update(dict.fromkeys(texts(store.call(
                "ListCurrentEntitlements", account=account, includeJws=True, asOf={"atMs": str(instant)}))))
        for entry in store.pages("ListTransactions", "transactions", account=account, includeFinishedConsumables=True, includeJws=True):
            values[entry["jws"]] = None
        values = list(values)
        for begin in range(0, len(values), 50):
            answer = other.call("SubmitTransaction", account=account, signedValues=values[begin:begin + 50])
            expect("code" not in answer, f"{name}: {account}: a submission is refused: {answer}")
        for instant in sorted(instants | {instant - 1 for instant in instants}):
            here, there = shown(store, account, groups, instant), shown(other, account, groups, instant)
            compared += 1
            if here != there:
                differ.append(f"{name}: {account} as of {instant}:\n    store {here}\n    twin  {there}")
    if name.removesuffix(".scenario") in EXCEPTIONS:
        expect(differ, f"{name} agrees; take its exception out")
    else:
        expect(not differ, "\n".join(differ[:3]))
    store.stop()
    other.stop()
    return compared


def main():
    signing()
    scenarios = ROOT / "Tests" / "Scenarios"
    names = [pathlib.Path(name) for name in sys.argv[1:] if name != "--all"]
    patterns = ["*"] if "--all" in sys.argv else IN_CI
    names = names or sorted(name for pattern in patterns for name in scenarios.glob(f"{pattern}.scenario"))
    compared = 0
    with tempfile.TemporaryDirectory() as directory:
        for scenario in names:
            compared += twin(scenario, pathlib.Path(directory)) or 0
    print(f"apple: {expectations.count} checks of signing and of the twin: {len(names)} scenarios, {compared} instants of accounts compared")
    if expectations.failures:
        sys.exit(f"apple: {len(expectations.failures)} failed")


main()
