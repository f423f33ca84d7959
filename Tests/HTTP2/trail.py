"""What stays of a call: the audit trail names who changed which account, and the log names no account, at level `debug` too."""
import json
import signal
import subprocess
import sys

from checks import check, equal, summary
from curl import curl
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import until
from web import BUY, CHANGES, OPERATE, STATUS, WATCH

SECRET = "somebody-whom-no-log-may-name"
ADMIN, TRANSACTIONS = "/perch.v1.AdminService/", "/perch.v1.TransactionService/"
PRODUCT = "com.example.monthly"


def ask(port, method, version="--http1.1", /, **request):
    status, _, body = curl(port, method, version, data=json.dumps(request))
    return status, json.loads(body) if body else {}


def entries(port):
    """Who changed what: method, what, and account."""
    status, answer = ask(port, ADMIN + "ListAudit")
    equal(status, 200, "the status of ListAudit")
    return [(each["method"].split("/")[-1], each.get("what", ""), each.get("account", "")) for each in answer.get("entries", [])]


def busy(port):
    """Calls of every kind about the account, taken and refused."""
    watch = json.dumps({"account": SECRET, "groupId": "premium"})
    for version in ("--http1.1", "--http2-prior-knowledge"):
        equal(ask(port, BUY, version, account=SECRET, order={"productId": PRODUCT})[0], 200, "a purchase")
        equal(ask(port, BUY, version, account=SECRET, order={"productId": "nothing"})[0], 400, "a purchase of nothing")
        equal(ask(port, STATUS, version, account=SECRET, groupId="premium")[0], 200, "a read")
        equal(ask(port, STATUS, version, account=SECRET)[0], 400, "a read without a field")
        equal(ask(port, STATUS, version, **{SECRET: SECRET})[0], 400, "a read with a strange field")
        equal(curl(port, f"{STATUS}?account={SECRET}&groupId=premium", version)[0], 200, "a read as GET")
        equal(curl(port, f"{STATUS}?account={SECRET}&account={SECRET}", version)[0], 400, "a read with a field twice")
        equal(curl(port, f"/{SECRET}", version)[0], 404, "a path that there is not")
        curl(port, f"{WATCH}?account={SECRET}&groupId=premium", version, "-H", "accept: text/event-stream",
             until=lambda body: b"success" in body)
        curl(port, CHANGES, version, "-H", "accept: text/event-stream", until=lambda body: b"data: " in body)
        curl(port, WATCH, version, "-H", "connect-timeout-ms: 50", data=b"\0\0\0\0" + bytes([len(watch)]) + watch.encode(),
             kind="application/connect+json")
        equal(curl(port, STATUS, version, "-H", f"authorization: Bearer {SECRET}", data="{}")[0] >= 400, True, "a bad token")
    for words in (("store", "buy", SECRET, PRODUCT), ("store", "refund", SECRET, PRODUCT), ("status", SECRET), ("get", "nothing")):
        subprocess.run([PERCH, *words, "--server", f"127.0.0.1:{port}"], capture_output=True, stdin=subprocess.DEVNULL)


def main():
    server = Server(PERCH, CATALOG, WORK / "trail-store", WORK / "trail.log", "--log-level", "debug")
    server.start()
    try:
        port = server.port
        with check("audit: a test's change has its account"):
            for account in (SECRET, "ben"):
                equal(ask(port, BUY, account=account, order={"productId": PRODUCT})[0], 200, "the purchase")
            refund = {"refund": {"target": {"productId": PRODUCT}}}
            equal(ask(port, OPERATE, account=SECRET, operation=refund)[0], 200, "the refund")
            equal(ask(port, "/perch.v1.TestStoreService/SetClock", freeze={})[0], 200, "the clock")
            equal(entries(port), [("Operate", "refund", SECRET), ("SetClock", "freeze", "")], "the entries")
        with check("audit: revocations, backups and reloads"):
            equal(ask(port, ADMIN + "RevokeToken", tokenId="stolen")[0], 200, "the revocation")
            equal(ask(port, ADMIN + "Backup", path=str(WORK / "copy.db"))[0], 200, "the backup")
            until(lambda: len(entries(port)) == 4, "the backup is in the trail")
            server.signal(signal.SIGHUP)
            until(lambda: ("SIGHUP", "reload", "") in entries(port), "the reload is in the trail")
            found = entries(port)[2:4]
            equal([each[:2] for each in found], [("RevokeToken", "stolen"), ("Backup", str(WORK / "copy.db"))], "the entries")
        with check("audit: an account that is erased has no name in it"):
            equal(ask(port, ADMIN + "EraseAccount", account="ben")[0], 200, "the erasure")
            equal([each for each in entries(port) if each[0] == "EraseAccount"], [("EraseAccount", "", "")], "the entry")
        with check("log: at level debug it names no account"):
            busy(port)
    finally:
        equal(server.stop(), 0, "the exit status")
    with check("log: at level debug it has the calls"):
        lines = server.log.read_text().splitlines()
        assert sum("a call began" in line for line in lines) > 10, "\n".join(lines[-20:])
        equal([line for line in lines if SECRET in line], [], "the lines that name the account")


if __name__ == "__main__":
    main()
    sys.exit(summary("trail"))
