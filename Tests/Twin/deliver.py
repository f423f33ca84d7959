"""Deliveries of the twin: in order, retried on the app's clock, with mishaps, and across kills.

    deliver.py [--kills N] [--seed N] [--control]

With `--control` an old file of the outbox comes back at the end, so that the twin sends again what was delivered. The trial must notice:
it passes if that one check fails.
"""
import collections
import http.server
import json
import random
import sys
import threading
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2

from expectations import conclude, expect
from rehearsal import Twin, plain, refusal
from trial import SAMPLE, WORK, options
from waiting import PATIENCE_SECONDS, until

COINS = "app.perch.coins"
HOUR = 3_600_000


class Backend:
    """Takes notifications, and answers with what `status` says; `chance` refuses some."""

    def __init__(self):
        self.bodies, self.accepted, self.status, self.chance, self.lock = [], [], 200, None, threading.Lock()
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with backend.lock:
                    backend.bodies.append((json.loads(body)["signedPayload"], self.headers["content-type"]))
                    chance = backend.chance
                    status = 503 if chance and chance.random() < 0.2 else backend.status
                    pause = chance.random() * 0.03 if chance else 0
                    if status == 200:
                        backend.accepted.append(backend.bodies[-1][0])
                time.sleep(pause)  # So that kills meet attempts.
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/notifications"

    @property
    def taken(self):
        with self.lock:
            return [body for body, _ in self.bodies]

    def wait(self, count):
        """Until that many have come."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.taken) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.taken


def history(client, **fields):
    token, found = None, []
    while True:
        page = client.get_notification_history(token, NotificationHistoryRequest(startDate=0, endDate=4_000_000_000_000, **fields))
        found += page.notificationHistory
        if not page.hasMore:
            return found
        token = page.paginationToken


def attempts(client, count, **fields):
    """The history, once its notifications have so many attempts together."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = history(client, **fields)
        if sum(len(item.sendAttempts) for item in found) >= count or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def advance(twin, milliseconds):
    answer = twin.call("SetClock", advanceByMs=str(milliseconds))
    expect("code" not in answer, f"the clock goes on: {answer}")


def plainly(twin, backend):
    client, verifier = twin.client(Environment.LOCAL_TESTING), twin.verifier(online=False)
    token = client.request_test_notification().testNotificationToken
    (test,) = backend.wait(1)
    expect(verifier.verify_and_decode_notification(test).rawNotificationType == "TEST", "a test arrives")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (status := client.get_test_notification_status(token)).sendAttempts and time.monotonic() < deadline:
        time.sleep(1)  # Who asks more often is refused.
    expect(status.signedPayload == test and [one.rawSendAttemptResult for one in status.sendAttempts] == ["SUCCESS"], f"its status: {status}")
    expect(refusal(lambda: client.get_test_notification_status("f" * 36 + "_1")) == (404, 4040008), "another test is unknown")
    expect(refusal(lambda: client.get_test_notification_status("x")) == (400, 4000020), "no token")
    for _ in range(5):
        twin.buy("anna", COINS)
    taken = backend.wait(6)[1:]
    told = attempts(client, 5)
    expect([item.signedPayload for item in told] == taken, "five notifications arrive in order, with the bytes of the history")
    expect(all(kind == "application/json; charset=utf-8" for _, kind in backend.bodies), "as JSON")
    expect(all([one.rawSendAttemptResult for one in item.sendAttempts] == ["SUCCESS"] for item in told), "each at once")
    expect(history(client, onlyFailures=True) == [], "nothing failed")
    return client


def retries(twin, backend, client):
    backend.status, before = 500, len(backend.taken)
    twin.buy("anna", COINS)
    for number, hours in enumerate([0, 1, 12, 24, 48, 72]):
        if hours:
            advance(twin, hours * HOUR - 1)
            advance(twin, 1)
        expect(len(backend.wait(before + number + 1)) == before + number + 1, f"attempt {number + 1}")
        (failed,) = attempts(client, number + 1, onlyFailures=True)
        expect([one.rawSendAttemptResult for one in failed.sendAttempts] == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"] * (number + 1), f"{failed.sendAttempts}")
    expect(len(set(backend.taken[before:])) == 1, "each attempt has the same bytes")
    dates = [one.attemptDate for one in failed.sendAttempts]
    expect([late - early for early, late in zip(dates, dates[1:])] == [hours * HOUR for hours in (1, 12, 24, 48, 72)], f"Apple's hours: {dates}")
    advance(twin, 1000 * HOUR)
    backend.status = 200
    twin.buy("anna", COINS)
    expect(len(backend.wait(before + 7)) == before + 7, "a seventh attempt does not come, the next notification does")


def mishaps(twin, backend, client):
    def order(**fields):
        expect(plain("POST", twin.twin_port, "/mishaps", json=fields).status_code == 202, f"{fields}")

    before = len(backend.taken)
    order(deliver="lose")
    order(deliver="delay", milliseconds=5 * HOUR)
    order(deliver="double")
    order(deliver="reorder", times=3)
    for _ in range(7):
        twin.buy("bert", COINS)
    found = backend.wait(before + 6)[before:]
    a, b, c, d, e, f, g = [item.signedPayload for item in history(client)][-7:]
    expect(found == [c, c, f, e, d, g], f"lost, delayed, doubled, reordered: {[[a, b, c, d, e, f, g].index(one) for one in found]}")
    advance(twin, 5 * HOUR)
    expect(b in backend.wait(before + 7)[before:] and a not in backend.taken, "the delayed one comes, the lost one never")


def orders(twin, backend):
    """Mishaps as operations of the test store, and as steps of a scenario. What has happened before is no part of them."""
    client, before = twin.client(Environment.LOCAL_TESTING), len(backend.taken)
    twin.buy("carl", COINS)
    answer = twin.call("OrderMishap", kind="MISHAP_KIND_LOSE")
    expect(answer == {"waiting": 1}, f"a mishap waits: {answer}")
    twin.buy("carl", COINS)
    said = twin.run("store", "mishap", "double")
    expect(said.returncode == 0 and "one mishap waits" in said.stdout, f"{said.stdout}{said.stderr}")
    twin.buy("carl", COINS)
    found = backend.wait(before + 3)[before:]
    a, b, c = [item.signedPayload for item in history(client)][-3:]
    expect(found == [a, c, c], f"the second is lost, the third doubled: {[[a, b, c].index(one) for one in found]}")
    for fields, word in [
        ({}, "FIELD_MISSING"), ({"kind": "MISHAP_KIND_LOSE", "times": 1_000_001}, "FIELD_INVALID"), ({"kind": "MISHAP_KIND_REORDER", "times": 1_001}, "FIELD_INVALID"),
        ({"kind": "MISHAP_KIND_DELAY"}, "FIELD_INVALID"), ({"kind": "MISHAP_KIND_LOSE", "delayMs": "1"}, "FIELD_INVALID"),
        ({"kind": "MISHAP_KIND_LOSE", "path": "/inApps"}, "FIELD_INVALID"), ({"kind": "MISHAP_KIND_RATE_LIMIT", "path": "inApps"}, "FIELD_INVALID"),
    ]:
        answer = twin.call("OrderMishap", **fields)
        expect(word in json.dumps(answer), f"{fields}: {answer}")
    id = next(iter(twin.transactions("carl")))
    said = twin.run("store", "mishap", "answer-503", "--times", "2", "--path", "/inApps/v1/transactions")
    expect(said.returncode == 0, f"{said.stdout}{said.stderr}")
    asked = [refusal(lambda: client.get_all_subscription_statuses(id))] + [refusal(lambda: client.get_transaction_info(id)) for _ in range(3)]
    expect(asked == [(200, None), (503, None), (503, None), (200, None)], f"two requests of one path fail: {asked}")
    said = twin.run("store", "mishap", "delay")
    expect(said.returncode == 2 and "--by" in said.stderr, f"a delay needs a length: {said.stderr}")


SCENARIO = """start 2027-01-01
catalog "{catalogue}"
lose notification
buy app.perch.coins
double next notification
delay notification by 5h
reorder 3 notifications
buy app.perch.coins
buy app.perch.coins
buy app.perch.coins
buy app.perch.coins
buy app.perch.coins
answer 503 2 times to "/inApps/v1/transactions"
answer 429 to "/inApps/v1/subscriptions"
"""


def scenario(backend):
    """A scenario spoils what its backend gets."""
    directory = WORK / "scenario"
    directory.mkdir()
    (directory / "mishaps.scenario").write_text(SCENARIO.format(catalogue=SAMPLE))
    with Twin(directory, "--clock", "2026-12-01", "--twin-notify", backend.url, time_rate=None) as twin:
        twin.start()
        before = len(backend.taken)
        said = twin.run("scenario", "run", str(directory / "mishaps.scenario"))
        expect(said.returncode == 0, f"{said.stdout}{said.stderr}")
        found = backend.wait(before + 5)[before:]
        client = twin.client(Environment.LOCAL_TESTING)
        a, b, c, d, e, f = [item.signedPayload for item in history(client, notificationType=NotificationTypeV2.ONE_TIME_CHARGE)]
        expect(found == [b, b, f, e, d], f"lost, doubled, delayed, reordered: {[[a, b, c, d, e, f].index(one) for one in found]}")
        advance(twin, 5 * HOUR)
        expect(backend.wait(before + 6)[before + 5:] == [c], "the delayed one comes")
        id = verifier_id(twin, a)
        calls = [client.get_transaction_info] * 3 + [client.get_all_subscription_statuses] * 2
        asked = [refusal(lambda: call(id)) for call in calls]
        expect(asked == [(503, None), (503, None), (200, None), (429, 4290000), (200, None)], f"its requests: {asked}")
    with Twin(directory, time_rate=None) as twin:
        twin.start()
        said = twin.run("scenario", "run", str(directory / "mishaps.scenario"))
        expect(said.returncode == 1 and "NO_TWIN" in said.stdout + said.stderr and "--twin-notify" in said.stdout + said.stderr,
               f"without deliveries it is refused: {said.stdout}{said.stderr}")


def verifier_id(twin, notification):
    verifier = twin.verifier(online=False)
    decoded = verifier.verify_and_decode_notification(notification)
    return verifier.verify_and_decode_signed_transaction(decoded.data.signedTransactionInfo).transactionId


def starts(twin, backend):
    """A start that nothing went wrong before sends nothing again, and what waits keeps its hour."""
    backend.status, before = 503, len(backend.taken)
    twin.buy("emma", COINS)
    refused = backend.wait(before + 1)[before]
    backend.status = 200
    client = twin.client(Environment.LOCAL_TESTING)
    until(lambda: any(item.signedPayload == refused and item.sendAttempts for item in history(client, onlyFailures=True)),
          "its attempt is noted")
    twin.connection.close()
    twin.restart()
    twin.buy("emma", COINS)
    expect(len(backend.wait(before + 2)) == before + 2 and backend.taken[-1] != refused, "after a start the next one comes alone")
    advance(twin, HOUR)
    expect(backend.wait(before + 3)[before + 2:] == [refused], "an hour later what was refused, with its bytes")


def delivered(twin, backend, client, purchases):
    """Buys, waits until the last purchase has come, and says how many. One notification is tried at a time: what was on its way
    before has had its attempt then, and one that was refused has the hour of its next one."""
    for _ in range(purchases):
        twin.buy("dora", COINS)
    last = history(client)[-1].signedPayload
    until(lambda: last in backend.taken, "a purchase that nothing refuses arrives")
    return purchases


def kills(twin, backend, number, seed, control):
    """Killed at random moments, the twin loses no notification and no request for consumption information, and signs none anew."""
    chance = backend.chance = random.Random(seed)
    client = twin.client(Environment.LOCAL_TESTING)
    wanted, asked, killed, first = len(history(client)), 0, number, len(backend.accepted)
    outbox = max((twin.directory / "twin").glob("outbox-*"), key=lambda path: path.stat().st_mtime)
    old = outbox.read_bytes()
    for _ in range(number):
        for _ in range(chance.randrange(1, 4)):
            bought = twin.buy("dora", COINS)
            wanted += 1
            if chance.random() < 0.3:
                answer = twin.call("RequestRefund", account="dora", transactionId=bought["id"])
                expect(answer.get("approved"), f"a refund: {answer}")
                asked, wanted = asked + 1, wanted + 2
        time.sleep(chance.random() * 0.1)
        twin.connection.close()
        twin.kill()
        if chance.random() < 0.3:
            # Also while it starts, where it writes the outbox anew.
            twin.spawn()
            time.sleep(chance.random() * 0.3)
            twin.kill()
            killed += 1
        twin.start()
    backend.chance = None
    wanted += delivered(twin, backend, client, 1)
    if control:
        # So many that their second deliveries are more than the kills may cost.
        wanted += delivered(twin, backend, client, killed + 1)
        twin.stop()
        outbox.write_bytes(old)
        twin.start()
        wanted += delivered(twin, backend, client, 1)
    advance(twin, 2 * HOUR)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = history(client)
        lost = {item.signedPayload for item in told} - set(backend.accepted)
        if len(lost) <= LOST or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    # What else was on its way has come before this one.
    delivered(twin, backend, client, 1)
    accepted = backend.accepted[first:]
    expect(len(told) == wanted, f"{len(told)} of {wanted} notifications, seed {seed}")
    verifier = twin.verifier(online=False)
    bytes_of, kinds = collections.defaultdict(set), collections.Counter()
    for text in [item.signedPayload for item in told] + backend.taken:
        one = verifier.verify_and_decode_notification(text)
        bytes_of[one.notificationUUID].add(text)
    for text in set(accepted):
        kinds[verifier.verify_and_decode_notification(text).rawNotificationType] += 1
    expect(all(len(every) == 1 for every in bytes_of.values()), "no notification is signed twice with other bytes")
    expect(len(lost) == LOST, f"{len(lost)} notifications never came, {LOST} were to be lost, seed {seed}")
    expect(kinds["CONSUMPTION_REQUEST"] == asked, f"{kinds['CONSUMPTION_REQUEST']} of {asked} requests for consumption information, seed {seed}")
    # A kill between an attempt and its note costs a second delivery.
    twice = len(accepted) - len(set(accepted))
    if control:
        expect(twice > killed, f"the old outbox came back, and {twice} of the accepted came twice after {killed} kills, seed {seed}")
    else:
        expect(twice <= killed, f"{twice} notifications were accepted twice after {killed} kills, seed {seed}")
    print(f"twin: {killed} kills, {len(accepted)} accepted, {twice} of them twice, {asked} requests for consumption information, seed {seed}")


# Notifications of `retries`, `mishaps` and `orders` that never come: the one of six refusals, and the lost ones.
LOST = 3


def main():
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    backend = Backend()
    with Twin(WORK, "--clock", "2026-01-01", "--twin-notify", backend.url) as twin:
        # Another store in the same directory has an outbox of its own. What a server is asked as soon as it runs is delivered.
        twin.start()
        twin.buy("zoe", COINS)
        expect(len(backend.wait(1)) == 1, "a purchase of another store arrives")
    backend.bodies.clear()
    with Twin(WORK, "--clock", "2026-01-01", "--twin-notify", backend.url, store=WORK / "deliveries.db") as twin:
        twin.start()
        client = plainly(twin, backend)
        retries(twin, backend, client)
        mishaps(twin, backend, client)
        orders(twin, backend)
        starts(twin, backend)
        kills(twin, backend, given.kills, given.seed, given.control)
    scenario(backend)
    conclude("deliveries")


main()
