"""Counts the encodings of a change for many watchers. See the script `views`.

    views.py PERCH CONTRACT CATALOG DIRECTORY WATCHERS
"""
import pathlib
import sys
import time

from client import MESSAGE, STATUS, Client, Contract
from figures import Figures
from server import Server

ENTITLEMENT = "/perch.v1.EntitlementService/CurrentEntitlementTask"
STATUSES = "/perch.v1.EntitlementService/SubscriptionStatusTask"
APP = {"bundle_id": "com.example.app"}


def answered(client, path, **fields):
    """The answer of a unary call."""
    stream, answer = client.call(path, app=APP, **fields), None
    while (frame := client.read()).kind != STATUS or frame.stream != stream:
        answer = frame.message if frame.stream == stream else answer
    if frame.message.code != 0:
        raise RuntimeError(f"{path}: {frame.message.reason}: {frame.message.message}")
    return answer


def encodings(client):
    """The server's counter, over all its loops."""
    stream = client.call("/perch.v1.AdminService/GetServerStatus")
    while (frame := client.read()).kind != MESSAGE or frame.stream != stream:
        pass
    return sum(m.value for m in frame.message.metrics if m.name == "perch_views_encoded_total")


def pushed(watcher):
    """The next value of a watcher."""
    while not (frame := watcher.read()).kind == MESSAGE or not frame.message.HasField("success"):
        pass
    return frame.message


def main(perch, contract, catalog, directory, count):
    contract, count, figures = Contract(contract), int(count), Figures()
    for loops in (1, 2):
        for views in (1, 2):
            server = Server(perch, catalog, "memory", pathlib.Path(directory) / "log", loops=loops)
            server.start()
            watchers = []
            try:
                writer = Client(server.address, contract)
                writer.hello(client_name="writer")
                while len(watchers) < count:
                    watcher = Client(server.address, contract)
                    watcher.hello(client_name="watcher")
                    if views == 2 and len(watchers) % 2:
                        watcher.call(STATUSES, app=APP, account="one", group_id="premium")
                    else:
                        watcher.call(ENTITLEMENT, app=APP, account="one", product_id="com.example.monthly")
                    pushed(watcher)
                    watchers.append(watcher)
                # Read on a connection without watches; nothing else happens in between.
                before = encodings(writer)
                began = time.perf_counter()
                answered(writer, "/perch.v1.TransactionService/Purchase", account="one",
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
                    watcher.input.close()
                    watcher.socket.close()
                server.kill()
    return figures.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
