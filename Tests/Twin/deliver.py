"""Deliveries of the twin: in order, retried on the app's clock, with mishaps, and across kills.

    deliver.py [--kills N] [--seed N]
"""
import http.server
import json
import random
import sys
import threading
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest

from expectations import conclude, expect
from rehearsal import Twin, plain, refusal
from trial import WORK, options
from waiting import PATIENCE_SECONDS

COINS = "app.perch.coins"
HOUR = 3_600_000


class Backend:
    """Takes notifications, and answers with what `status` says."""

    def __init__(self):
        self.bodies, self.status, self.lock = [], 200, threading.Lock()
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with backend.lock:
                    backend.bodies.append((json.loads(body)["signedPayload"], self.headers["content-type"]))
                    status = backend.status
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
        time.sleep(0.02)
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


def kills(twin, backend, number, seed):
    """Killed at random moments, the twin loses no notification, and signs none anew."""
    chance = random.Random(seed)
    client = twin.client(Environment.LOCAL_TESTING)
    before = {item.signedPayload for item in history(client)}
    wanted = len(before)
    for _ in range(number):
        for _ in range(chance.randrange(1, 4)):
            twin.buy("dora", COINS)
            wanted += 1
        time.sleep(chance.random() * 0.1)
        twin.connection.close()
        twin.kill()
        twin.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = [item.signedPayload for item in history(client)]
        missing = [one for one in told if one not in before and one not in set(backend.taken)]
        if not missing or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    expect(len(told) == wanted and not missing, f"{len(told)} of {wanted} notifications, {len(missing)} missing, seed {seed}")
    expect(set(backend.taken[1:]) <= set(told), "whatever came stands in the history with its bytes")


def main():
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=3)
    given = parser.parse_args()
    backend = Backend()
    with Twin(WORK, "--clock", "2026-01-01", "--twin-notify", backend.url) as twin:
        # Another store in the same directory: what it noted is no place in the next one.
        twin.start()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not backend.taken and time.monotonic() < deadline:
            twin.buy("zoe", COINS)
            time.sleep(0.05)
        expect(backend.taken, "a purchase of another store arrives")
    backend.bodies.clear()
    with Twin(WORK, "--clock", "2026-01-01", "--twin-notify", backend.url, store=WORK / "deliveries.db") as twin:
        twin.start()
        client = plainly(twin, backend)
        retries(twin, backend, client)
        mishaps(twin, backend, client)
        kills(twin, backend, given.kills, given.seed)
    conclude("deliveries")


main()
