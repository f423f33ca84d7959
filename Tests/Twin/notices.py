"""Notification history of the twin: what another Perch learns from it alone equals what the test store says, at each instant.

    notices.py [--all | SCENARIO…]

Each scenario is played on a test store. Its notification history is read to the end, and each notification is verified by Apple's
library, with online checks and strict. What the library decodes of every transaction, renewal information and app transaction equals
what the test store says. Another Perch, which knows the app as one of Apple's sandbox, takes the notifications in a random order and some twice. Both
must then give equal statuses and entitlements as of each instant, but for what no notification says (see replay.py and UNTOLD).
"""
import json
import pathlib
import random
import sys
import tempfile

from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.Environment import Environment

from decoded import compared as decoded_as_stored
from expectations import conclude, expect
from rehearsal import BUNDLE, Twin
from replay import DELETED, EXCEPTIONS, boundaries, changes, earlier, shown
from server import SERVICE_OF, Server
from trial import PERCH, ROOT

# Scenarios of which notifications tell less than all signed values, with the reason.
UNTOLD = {"other-codes": DELETED}
# Scenarios of which notifications tell more than the signed values of an account's changes.
TOLD = {"catalogue-replaced-under-holders": "EXPIRED with PRODUCT_NOT_FOR_SALE comes when the line ends"}
IN_CI = ["row06*", "row09-*", "row17-upgrade.*", "row25-reversal.*", "row35-extension.*"]
types = {}
LATER = 500  # Milliseconds after a change at which it is compared.


class Backend(Server):
    """The other Perch: what it knows comes from Apple's notifications."""

    def __init__(self, directory, catalogue, root):
        (directory / "root.pem").write_text(root)
        (directory / "apple.json").write_text(json.dumps({"apps": [
            {"bundle_id": BUNDLE, "environment": "sandbox", "roots": ["root.pem"]}]}))
        super().__init__(PERCH, catalogue, "memory", directory / "backend.log", "--environment", "sandbox", "--apple-apps",
                         str(directory / "apple.json"), apple=True, bundle=BUNDLE, time_rate=None)
        self.start()
        self.connection, self.intake = self.connect(), self.connect(self.apple_port)

    def call(self, method, **request):
        return self.post(f"/perch.v1.{SERVICE_OF[method]}/{method}", request, connection=self.connection)[1]

    def notify(self, text):
        return self.post("/apple/notifications", {"signedPayload": text}, connection=self.intake)


def history(client, **fields):
    """All pages of the notification history."""
    request = NotificationHistoryRequest(startDate=0, endDate=4_000_000_000_000, **fields)
    token, found = None, []
    while True:
        page = client.get_notification_history(token, request)
        found += [item.signedPayload for item in page.notificationHistory]
        expect(len(page.notificationHistory) <= 20 and page.hasMore == (page.paginationToken is not None), f"a page: {page.hasMore}")
        if not page.hasMore:
            return found
        token = page.paginationToken


def replayed(scenario, directory, seed):
    name = scenario.name.removesuffix(".scenario")
    played, catalogue = earlier(scenario, directory)
    compared, values, differ = 0, 0, []
    with Twin(directory, "--clock", "2010-01-01", catalogue=catalogue, time_rate=None) as twin:
        twin.start()
        twin.run("scenario", "run", str(played), "--quiet")
        twin.run("store", "reset")
        client, verifier = twin.client(Environment.LOCAL_TESTING), twin.verifier()
        told = history(client)
        again = history(client)
        expect(told == again, f"{name}: read again, each notification keeps its bytes")
        decoded = [verifier.verify_and_decode_notification(text) for text in told]
        expect(len({one.notificationUUID for one in decoded}) == len(told), f"{name}: each has its own identifier")
        for one in decoded:
            label = " ".join(filter(None, (one.rawNotificationType, one.rawSubtype)))
            types[label] = types.get(label, 0) + 1
            verifier.verify_and_decode_signed_transaction(one.data.signedTransactionInfo)
            if one.data.signedRenewalInfo:
                verifier.verify_and_decode_renewal_info(one.data.signedRenewalInfo)
        groups = twin.call("GetCatalog").get("groupIds", [])
        accounts = changes(twin)
        for account in accounts:
            count, wrong = decoded_as_stored(twin, client, verifier, account, groups)
            values += count
            expect(not wrong, f"{name}: " + "\n    ".join(wrong[:3]))
        with Backend(directory, catalogue, twin.call("GetServerStatus")["appleRootPem"]) as backend:
            for account in accounts:
                id = twin.call("GetAppTransaction", account=account)["appTransactionId"]
                answer = backend.call("AttachAlias", account=account, appTransactionId=id)
                expect("code" not in answer, f"{name}: {account} is named: {answer}")
            chance = random.Random(seed)
            order = told + chance.sample(told, len(told) // 4)
            chance.shuffle(order)
            for text in order:
                status, answer = backend.notify(text)
                expect(status == 200, f"{name}: a notification is answered {status} {answer}")
            for account, instants in accounts.items():
                asked, last = set(), max(instants)
                while instants - asked:
                    new, asked = instants - asked, set(instants)
                    instants |= {end for change in new for end in boundaries(twin, account, groups, change) if end <= last}
                # While a clock stands still, each change is signed a millisecond after the one before.
                for instant in sorted({instant + LATER for instant in instants} | {instant - 1 for instant in instants}):
                    here, there = shown(twin, account, groups, instant), shown(backend, account, groups, instant)
                    compared += 1
                    if here != there:
                        differ.append(f"{name}: {account} as of {instant}:\n    store {here}\n    other {there}")
    if name in EXCEPTIONS and name not in TOLD or name in UNTOLD:
        expect(differ, f"{name} agrees; take its exception out")
    else:
        expect(not differ, "\n".join(differ[:3]))
    return compared, values


def main():
    scenarios = ROOT / "Tests" / "Scenarios"
    seed = random.SystemRandom().randrange(1 << 31)
    words = sys.argv[1:]
    if "--seed" in words:
        seed = int(words.pop(words.index("--seed") + 1))
        words.remove("--seed")
    names = [pathlib.Path(name) for name in words if name != "--all"]
    patterns = ["*"] if "--all" in words else IN_CI
    names = names or sorted(name for pattern in patterns for name in scenarios.glob(pattern) if name.suffix == ".scenario")
    compared = values = 0
    for scenario in names:
        with tempfile.TemporaryDirectory() as directory:
            found = replayed(scenario, pathlib.Path(directory), seed)
            compared, values = compared + found[0], values + found[1]
    print(f"twin: {len(names)} scenarios, {values} signed values and {compared} instants of accounts compared, seed {seed}; notifications: "
          + ", ".join(f"{count} {name}" for name, count in sorted(types.items())))
    conclude("notifications")


main()
