"""Counts the encodings of a change for many watchers. See the script `views`.

    views.py WATCHERS
"""
import sys
import time

from client import MESSAGE
from figures import Figures
from server import Server
from trial import CATALOG, PERCH, WORK
from wire import ADMIN, APP, READS, TRANSACTIONS, Caller

ENTITLEMENT, STATUSES = READS + "CurrentEntitlementTask", READS + "SubscriptionStatusTask"


def encodings(client):
    """The server's counter, over all its loops."""
    return sum(m.value for m in client.get(ADMIN + "GetServerStatus").metrics if m.name == "perch_views_encoded_total")


def pushed(watcher):
    """The next value of a watcher."""
    while not (frame := watcher.read()).kind == MESSAGE or not frame.message.HasField("success"):
        pass
    return frame.message


def main(count):
    count, figures = int(count), Figures()
    for loops in (1, 2):
        for views in (1, 2):
            server = Server(PERCH, CATALOG, "memory", WORK / "log", loops=loops)
            server.start()
            watchers = []
            try:
                writer = Caller(server.address, client_name="writer")
                while len(watchers) < count:
                    watcher = Caller(server.address, client_name="watcher")
                    if views == 2 and len(watchers) % 2:
                        watcher.call(STATUSES, app=APP, account="one", group_id="premium")
                    else:
                        watcher.call(ENTITLEMENT, app=APP, account="one", product_id="com.example.monthly")
                    pushed(watcher)
                    watchers.append(watcher)
                # Read on a connection without watches; nothing else happens in between.
                before = encodings(writer)
                began = time.perf_counter()
                writer.get(TRANSACTIONS + "Purchase", app=APP, account="one",
                           order={"product_id": "com.example.monthly"})
                revisions = {pushed(watcher).info.position.revision for watcher in watchers}
                took = time.perf_counter() - began
                grown = encodings(writer) - before
                figures.holds(
                    f"{count} sockets, {loops} loop(s), {views} view(s): all were told, at one revision "
                    f"({len(revisions)}), in {took * 1000:.0f} ms; encodings grew by {grown:.0f}",
                    len(revisions) == 1 and grown == views * loops)
            finally:
                for watcher in watchers:
                    watcher.close()
                server.kill()
    return figures.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
