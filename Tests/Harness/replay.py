"""Scenarios of the repository, played on a test store whose signed values another Perch is told: what both are compared by."""
import json
import re
import subprocess

from trial import PERCH, ROOT

DELETED = "deleted from the test store; the App Store does not take transactions back"
SHARED = "no signed value says when sharing began or ended"
RECOVERED = "a charge that succeeds in grace begins its period at the old end, and its report does not say when it succeeded"
# Scenarios that use what signed values cannot say, with the reason. These must differ, and every other one must agree.
EXCEPTIONS = {
    "catalogue-replaced-under-holders": "a test store sells nothing that its catalogue lost; the App Store goes on",
    "family-and-the-past": SHARED, "family-older-copy-and-refund": SHARED, "family-one-line-of-copies": SHARED,
    "other-non-consumable": SHARED,
    "purchases-that-wait": DELETED, "purchases-with-a-date": DELETED, "row40-cleared": DELETED, "row41-deleted": DELETED,
    "row41-deleted-renewal": DELETED,
    "row12-recovery-in-grace": RECOVERED, "several-failed-charges": RECOVERED,
}


def earlier(scenario, directory):
    """The scenario eight years earlier, so that its end is past for a store whose clock is the real one, and its catalogue."""
    text = re.sub(r"\b(20[0-9]{2})-([0-9]{2}-[0-9]{2})", lambda date: f"{int(date[1]) - 8}-{date[2]}", scenario.read_text())
    text = text.replace("../Samples", str(ROOT / "Tests" / "Samples"))
    if not re.search(r"^\s*start\b", text, re.MULTILINE | re.IGNORECASE):
        text = "start 2018-01-01T00:00:00Z\n" + text
    played, catalogue = directory / "earlier.scenario", directory / "Earlier.storekit"
    played.write_text(text)
    written = subprocess.run([PERCH, "scenario", "check", str(played), "--catalog", str(catalogue)], capture_output=True, text=True)
    if written.returncode:
        raise RuntimeError(f"{scenario.name}: {written.stdout}{written.stderr}")
    return played, catalogue


def shown(server, account, groups, instant):
    """The statuses and entitlements of an account as of an instant, without what a report need not say."""
    found = {}
    for group in groups:
        answer = server.call("GetSubscriptionStatus", account=account, groupId=group, asOf={"atMs": str(instant)})
        value = answer.get("success", answer)
        found[group] = sorted(
            (one["state"], one["transaction"]["transaction"]["productId"], one["transaction"]["transaction"]["purchaseDateMs"],
             one["transaction"]["transaction"].get("expirationDateMs"), one["transaction"]["transaction"].get("ownershipType"))
            for one in value.get("statuses", []))
    answer = server.call("ListCurrentEntitlements", account=account, asOf={"atMs": str(instant)})
    found["entitlements"] = sorted(
        (one["transaction"]["productId"], one["transaction"]["purchaseDateMs"]) for one in answer.get("transactions", []))
    return found


def boundaries(server, account, groups, instant):
    """Ends of periods and grace periods that are known of an account as of an instant."""
    for group in groups:
        answer = server.call("GetSubscriptionStatus", account=account, groupId=group, asOf={"atMs": str(instant)})
        for one in answer.get("success", {}).get("statuses", []):
            for end in [one["transaction"]["transaction"].get("expirationDateMs"),
                        one["renewalInfo"]["renewalInfo"].get("gracePeriodExpirationDateMs")]:
                if end:
                    yield int(end)


def changes(server):
    """The accounts of a store, each with the instants at which it changed."""
    # A change of the app itself, which is the last one.
    last = int(server.call("Configure", settings=[{"askToBuy": True}])["position"]["revision"])
    stream = server.connect()
    stream.request("GET", "/perch.v1.EntitlementService/AppChanges?fromOldest=true", headers={"accept": "text/event-stream"})
    events = stream.getresponse()
    found = {}
    for line in events.fp:
        if line.startswith(b"data: "):
            change = json.loads(line[6:])
            if change.get("account"):
                found.setdefault(change["account"], set()).add(int(change["position"]["asOfMs"]))
            elif "cause" in change and int(change["position"]["revision"]) == last:
                break
    stream.close()
    return found
