"""Calls of Python's grpcio whose deadlines expire, beside a hundred watches on the same HTTP/2 connection: no watch ends.

    deadlines.py                  1,000 calls, and some through nginx where there is one
    deadlines.py --calls 10000    at length

The server is stopped (SIGSTOP) while calls are in flight, for a second at first, so that each of them expires however fast the
machine is. grpcio resets the streams, and the server reads call and reset in one go. Then it must answer, and each watch must get
a purchase.
"""
import collections
import sys
import time

from clients import Stream, buy, entitlement, entitlement_grpc, grpc, transaction_grpc

import proxy
import trial
from checks import check, equal, summary
from freezing import frozen
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS

WATCHES, ACCOUNTS, STALL_SECONDS, DEADLINE_SECONDS = 100, 10, 1, 0.2
GROUP, PRODUCT = "premium", "com.example.monthly"


def expire(service, server, count, seconds):
    """Sends calls to a server that stands still until all have expired, and at least for `seconds`."""
    with frozen(server.pid):
        began = time.monotonic()
        calls = [service.GetSubscriptionStatus.future(
            entitlement.GetSubscriptionStatusRequest(account=f"caller-{number}", group_id=GROUP), timeout=DEADLINE_SECONDS)
            for number in range(count)]
        ends = collections.Counter(call.code() for call in calls)
        time.sleep(max(0, began + seconds - time.monotonic()))
    equal(dict(ends), {grpc.StatusCode.DEADLINE_EXCEEDED: count}, "the ends of the calls")


def play(name, server, port, calls, at_once):
    with check(f"deadlines: {calls} calls expire beside {WATCHES} watches {name}"), grpc.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        service = entitlement_grpc.EntitlementServiceStub(channel)
        store = transaction_grpc.TransactionServiceStub(channel)
        accounts = [f"watched {name} {number}" for number in range(ACCOUNTS)]
        watches = [Stream(service.SubscriptionStatusTask(entitlement.SubscriptionStatusTaskRequest(
            account=accounts[number % ACCOUNTS], group_id=GROUP), wait_for_ready=True)) for number in range(WATCHES)]
        for watch in watches:
            watch.until(lambda message: message.WhichOneof("state") == "success")
        for start in range(0, calls, at_once):
            expire(service, server, min(at_once, calls - start), STALL_SECONDS if start == 0 else 0)
            service.GetSubscriptionStatus(
                entitlement.GetSubscriptionStatusRequest(account="caller", group_id=GROUP), timeout=PATIENCE_SECONDS)
        for account in accounts:
            buy(store, account, PRODUCT)
        for watch in watches:
            watch.until(lambda message: len(message.success.statuses) == 1)
        equal([watch.error for watch in watches if watch.error], [], "the watches that ended")


if __name__ == "__main__":
    parser = trial.options(__doc__)
    parser.add_argument("--calls", type=int, default=1_000)
    options = parser.parse_args()
    with Server(PERCH, CATALOG, "memory", WORK / "deadlines.log") as server:
        server.start()
        play("on one connection", server, server.port, options.calls, 500)
        if proxy.is_here("nginx"):
            with proxy.Proxy("nginx", server.port, speaks="h2") as front:
                # Each call through nginx takes two of its 512 connections.
                play("through nginx", server, front.port, 100, 100)
        equal(server.stop(), 0, "the exit status")
    sys.exit(summary("deadlines"))
