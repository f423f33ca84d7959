"""What an operator does with an app of the App Store, on a server with TLS and tokens.

The file of named entitlements is refused, goes and comes back. A token that may only submit for one account is tried at every method.
The keys of passes change. A bad value of a submission is refused alone. `perch ingest` takes an account a line. Ends only the server
that it started.
"""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import jwt

from certificates import Authority
from chains import Chain
from expectations import conclude, expect
from machine import Machine
from shop import APP, BUNDLE, DAY, Shop, trust
from tokens import Keys
from trial import PERCH, ROOT, SAMPLE
from waiting import until

HOUR_SECONDS = 3_600


class Site(Shop):
    """A server with TLS and tokens, and the files that it reads."""

    def __init__(self, directory):
        self.directory, self.chain, self.app, self.host = pathlib.Path(directory), Chain(), APP, "localhost"
        authority = Authority(self.directory)
        certificate, key = authority.sign("server", "localhost", "DNS:localhost,IP:127.0.0.1")
        self.authority = authority.pem("authority")
        self.catalogue = self.directory / "shop.storekit"
        shutil.copy(SAMPLE, self.catalogue)
        self.entitlements = self.directory / "shop.entitlements.json"
        shutil.copy(ROOT / "deploy" / "sample.entitlements.json", self.entitlements)
        trust(self.directory, self.chain)
        self.keys, self.tokens, self.machine = Keys(PERCH, self.directory), {}, Machine(self.directory / "machine")
        super().__init__(self.directory, "--tls-certificate", certificate, "--tls-key", key, "--token-keys", self.keys.public, "--log-format", "json",
                         catalog=self.catalogue, variables=self.machine.variables)
        self.start()

    def token(self, scope, account=None):
        if (scope, account) not in self.tokens:
            self.tokens[scope, account] = self.keys.token(scope, None if scope == "admin" else (BUNDLE, "sandbox"), account, expires="1d")
        return self.tokens[scope, account]

    def start(self, ahead=0):
        """`ahead`: by so many seconds its clock is."""
        self.machine.give(ahead)
        super().start()

    def reload(self, says):
        """SIGHUP, and the line of the log that has all the words."""
        since = len(self.lines)
        self.signal(signal.SIGHUP)
        return until(lambda: next((line for line in self.lines[since:] if all(word in line for word in says)), None), f"the log says {says}")

    def client(self, *arguments, scope="admin", account=None, text=None):
        """A command of `perch` against the server."""
        return self.run(*arguments, "--tls-ca", self.authority, "--credentials-file", self.token(scope, account), "--bundle-id", BUNDLE,
                        "--environment", "sandbox", text=text)

    def call(self, method, scope, holder=None, **request):
        return super().call(method, self.token(scope, holder).read_text().strip(), **request)

    def transaction(self, original, **more):
        now = int(time.time() * 1000)
        return {
            "transactionId": str(original), "originalTransactionId": str(original), "webOrderLineItemId": f"{original}0",
            "bundleId": BUNDLE, "productId": "app.perch.plus.monthly", "subscriptionGroupIdentifier": "21482145",
            "purchaseDate": now - DAY, "originalPurchaseDate": now - DAY, "expiresDate": now + 29 * DAY, "quantity": 1,
            "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "signedDate": now, "environment": "Sandbox",
            "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441", "appTransactionId": f"70{original}", **more}

    def notification(self, transaction):
        return self.chain.sign({
            "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY", "notificationUUID": str(uuid.uuid4()), "version": "2.0",
            "signedDate": transaction["signedDate"], "data": {
                "bundleId": BUNDLE, "environment": "Sandbox", "signedTransactionInfo": self.chain.sign(transaction)}})


def entitlement_file(site):
    """A mistake in the file, and its absence, change nothing and are reported."""
    shown = lambda: site.client("entitlements", "list", "eve", "-o", "json")
    site.call("IngestService/SubmitTransaction", "read,ingest", account="eve", signedValues=[site.chain.sign(site.transaction(1_000))])
    tiers = lambda: [(one["name"], one.get("tier"), one.get("active")) for one in json.loads(shown().stdout).get("entitlements", [])]
    expect(tiers() == [("plus", "plus", True)], f"the file names what the customer has: {shown()}")
    good = site.entitlements.read_text()
    site.entitlements.write_text(good.replace('"level": 2', '"level": 9'))
    line = site.reload(["level 9", "no product"])
    expect(line is not None, f"a level that no product has is refused and named: {site.lines[-3:]}")
    expect(tiers() == [("plus", "plus", True)], "and the names stay")
    told = site.client("doctor").stdout
    expect("level 9" in told, f"the doctor repeats it: {told}")
    checked = subprocess.run([PERCH, "catalog", "check", site.catalogue], capture_output=True, text=True)
    expect(checked.returncode != 0 and "level 9" in checked.stdout + checked.stderr, f"so does the check of the catalogue: {checked}")
    site.entitlements.unlink()
    line = site.reload(["named entitlements stay as they were"])
    expect(line is not None, f"a file that is gone is reported: {site.lines[-3:]}")
    expect(tiers() == [("plus", "plus", True)], "and the last good one counts")
    expect("their file is gone" in site.client("doctor").stdout, "the doctor warns")
    site.restart()
    expect(tiers() == [("plus", "plus", True)], "after a restart too")
    expect("their file is gone" in site.client("doctor").stdout, f"and the doctor still warns: {site.client('doctor').stdout}")
    site.entitlements.write_text('{"entitlements": []}')
    site.reload(["the catalogue is that of its file"])
    expect(tiers() == [], "an empty list has no names")
    site.entitlements.write_text(good)
    site.reload(["the catalogue is that of its file"])
    expect(tiers() == [("plus", "plus", True)], "and the file brings them back")
    expect("their file is gone" not in site.client("doctor").stdout, "the warning ends")


def shown_keys(site):
    return site.post("/.well-known/jwks.json", None, method="GET")[1]


def pass_of(site, account):
    """A pass, and the ID of its key."""
    passed = max(site.client("entitlements", "pass", account).stdout.split(), key=len)
    return passed, jwt.get_unverified_header(passed)["kid"]


def verified(passed, kid, keys):
    return jwt.decode(passed, jwt.PyJWKSet.from_dict(keys)[kid].key, algorithms=["ES256"], audience=BUNDLE,
                      leeway=2 * HOUR_SECONDS)


def pass_keys(site):
    """A pass is verified with the keys at the well-known path, which the key of tomorrow is among. When the present key has signed for
    its life, the next start signs with that one, and what the present one signed stays good."""
    passed, kid = pass_of(site, "eve")
    keys = shown_keys(site)
    expect(len(keys["keys"]) == 2 and not any("d" in one for one in keys["keys"]), f"the present key and the next are shown: {keys}")
    said = verified(passed, kid, keys)
    expect(all(one.get("until", said["exp"]) > said["iat"] for one in said["entitlements"]), f"what is active ends in the future: {said}")
    site.restart()
    expect(shown_keys(site) == keys, "a restart keeps the keys")
    # Another store, whose key began to sign an hour less than 90 days ago.
    site.stop()
    kept, site.store = site.store, site.directory / "keys.db"
    site.start(ahead=HOUR_SECONDS - 90 * 24 * HOUR_SECONDS)
    keys = shown_keys(site)
    site.stop()
    site.start()
    expect(shown_keys(site) == keys, "an hour before the end of its life it is the same")
    passed, kid = pass_of(site, "eve")
    said = verified(passed, kid, keys)
    site.stop()
    site.start(ahead=HOUR_SECONDS + 60)
    later = shown_keys(site)
    newer, newer_kid = pass_of(site, "eve")
    expect(newer_kid != kid, f"after its life another one signs: {newer_kid}")
    expect(newer_kid in [one["kid"] for one in keys["keys"]], f"which was shown before: {newer_kid}, {keys}")
    expect(verified(passed, kid, later) == said, f"the pass of before is verified with the keys of now: {later}")
    expect(verified(newer, newer_kid, keys)["sub"] == "eve", f"the pass of now is verified with the keys of before: {keys}")
    expect(len(later["keys"]) == 3, f"the former, the present and the next key are shown: {later}")
    site.stop()
    site.store = kept
    site.start()


def limited_ingest(site):
    """A token that may submit for one account, at every method of the contract."""
    methods = []
    for path in sorted((ROOT / "proto" / "perch" / "v1").glob("*_service.proto")):
        text = path.read_text()
        service = re.search(r"^service (\w+)", text, re.M)
        methods += [(f"{service.group(1)}/{name}", bool(stream)) for name, stream in re.findall(
            r"^  rpc (\w+)\(\w+\) returns \((stream )?\w+\)", text, re.M)]
    expect(len(methods) > 50, f"the contract has methods: {len(methods)}")
    value = site.chain.sign(site.transaction(2_000))
    for path, streams in methods:
        if streams or path in ("IngestService/SubmitTransaction", "AdminService/RedeemConsoleCode"):
            continue
        # A member that a request does not have is a mistake in its text, which is read first.
        answers = [site.call(path, "ingest", "alice", **request) for request in (
            {"account": "alice"}, {}, {"app": None, "account": "alice"}, {"app": None})]
        expect(all(status in (400, 403) for status, _ in answers) and 403 in [status for status, _ in answers],
               f"{path} is refused: {answers}")
    status, answer = site.call("IngestService/SubmitTransaction", "ingest", "alice", account="alice", signedValues=[value])
    expect(status == 200, f"alice submits for herself: {status} {answer}")
    for path in ("EntitlementService/GetEntitlements", "EntitlementService/GetPass", "TransactionService/ListTransactions"):
        status, answer = site.call(path, "ingest", "alice", account="alice")
        expect(status == 403, f"{path} is not for ingest: {status} {answer}")
        status, answer = site.call(path, "read,ingest", "alice", account="alice")
        expect(status == 200, f"{path} is for read,ingest: {status} {answer}")
        status, answer = site.call(path, "read,ingest", "alice", account="bob")
        expect(status == 403, f"{path} is not for another account: {status} {answer}")
    for scope in ("ingest", "read,ingest"):
        for request in ({"account": "bob"}, {"account": "ALICE"}, {}):
            status, answer = site.call("IngestService/SubmitTransaction", scope, "alice", signedValues=[value], **request)
            expect(status == 403, f"{scope} for alice does not submit with {request}: {status} {answer}")
        status, answer = site.call(
            "IngestService/SubmitNotification", scope, "alice", app=None, signedPayload=site.notification(site.transaction(2_100)))
        expect(status == 403, f"{scope} for alice submits no notification, which may be about anybody: {status} {answer}")
    done = site.client("ingest", "--account", "alice", "-", scope="ingest", account="alice", text=value + "\n")
    expect(done.returncode == 0, f"perch ingest works with it: {done}")
    done = site.client("ingest", "--account", "bob", "-", scope="ingest", account="alice", text=value + "\n")
    expect(done.returncode != 0, f"and not for another: {done}")


def submissions(site):
    """One bad value is refused alone; the answer and the command say which."""
    stranger = Chain()
    good = [site.chain.sign(site.transaction(3_000 + number)) for number in range(3)]
    values = [good[0], "a.b.c", good[1], stranger.sign(site.transaction(3_900)), good[2],
              site.chain.sign(site.transaction(2**63 - 1)), site.chain.sign(site.transaction(3_901, bundleId="com.other"))]
    status, answer = site.call("IngestService/SubmitTransaction", "ingest", account="paul", signedValues=values)
    refused = [(one.get("index", 0), one["reason"]) for one in answer.get("refused", [])]
    expect(status == 200 and answer.get("newsCount") == 3 and [index for index, _ in refused] == [1, 3, 5, 6],
           f"the bad values are refused alone, by their places: {status} {answer}")
    expect(all(one.get("message") for one in answer.get("refused", [])), f"each with a sentence: {answer}")
    held = site.call("TransactionService/ListTransactions", "read,ingest", account="paul")[1].get("transactions", [])
    expect(sorted(one["transaction"]["id"] for one in held) == ["3000", "3001", "3002"], f"the good ones are held: {held}")
    status, answer = site.call("IngestService/SubmitTransaction", "ingest", account="paul", signedValues=["a.b.c", "d.e.f"])
    expect(status in (400, 403) or len(answer.get("refused", [])) == 2, f"where all are bad, nothing is taken: {status} {answer}")
    # An account a line, and lines as Apple posts them.
    lines = [
        json.dumps({"account": "quinn", "signedPayload": site.chain.sign(site.transaction(4_000))}),
        json.dumps({"account": "rosa", "signedPayload": site.notification(site.transaction(4_001))}),
        json.dumps({"signedPayload": site.chain.sign(site.transaction(4_002))}),
        site.chain.sign(site.transaction(4_003)),
    ]
    file = site.directory / "history.ndjson"
    file.write_text("\n".join(lines) + "\n")
    done = site.client("ingest", "--account", "sven", file, scope="ingest")
    expect(done.returncode == 0, f"a file with an account a line is taken: {done}")
    for original, account in [(4_000, "quinn"), (4_002, "sven"), (4_003, "sven")]:
        found = site.call("AdminService/FindAccount", "admin", transactionId=str(original))[1]
        expect(found.get("account") == account, f"{original} is {account}'s: {found}")
    for bad in (json.dumps({"account": "", "signedPayload": lines[3]}), json.dumps({"account": 7, "signedPayload": lines[3]}), "{", "{}"):
        file.write_text("\n".join([lines[0], "", bad, lines[2]]) + "\n")
        done = site.client("ingest", file, scope="ingest")
        expect(done.returncode != 0 and "history.ndjson:3: " in done.stderr, f"a line that is none is named: {done}")
    file.write_text("\n".join([lines[0], "", "a.b.c", site.chain.sign(site.transaction(4_100))]) + "\n")
    done = site.client("ingest", file, scope="ingest")
    expect(done.returncode != 0 and "history.ndjson:3: APPLE_MALFORMED" in done.stderr, f"a value that is refused is named: {done}")
    done = site.client("ingest", "--keep-going", file, scope="ingest")
    expect(done.returncode != 0 and "history.ndjson:3: APPLE_MALFORMED" in done.stdout and "1 refused" in done.stdout,
           f"with --keep-going the others are taken: {done}")
    expect(site.call("AdminService/FindAccount", "admin", transactionId="4100")[0] == 200, "also those behind it")


def main():
    with tempfile.TemporaryDirectory() as directory:
        site = Site(directory)
        try:
            entitlement_file(site)
            pass_keys(site)
            limited_ingest(site)
            submissions(site)
        finally:
            site.kill()


main()
conclude("an operator's work")
