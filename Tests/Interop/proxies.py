"""An idle stream through nginx, HAProxy and Envoy lives, thanks to bookmarks.

    proxies.py                 15 s, with the proxies' timeouts shortened to 12 s
    proxies.py --minutes 10    with the timeouts that each has by default

The stream says nothing for that time, and then a purchase must come through. With short timeouts a stream whose bookmarks come
too rarely is the control: each proxy must cut it. Envoy's route timeout is off: it would end every stream after 15 s.
"""
import contextlib
import sys
import threading
import time

import stubs
import trial
from checks import check, equal, summary
from proxy import PROXIES, Proxy
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import until

sys.path.insert(0, str(stubs.python()))
import grpc  # noqa: E402
from perch.v1 import entitlement_service_pb2 as pb  # noqa: E402
from perch.v1.entitlement_service_pb2_grpc import EntitlementServiceStub  # noqa: E402

SHORT = 12  # seconds; the shortest heartbeat of a client is 10 s
GROUP, PRODUCT = "premium", "com.example.monthly"


class Stream:
    """A watch, read on a thread of its own."""

    def __init__(self, port, account, heartbeat):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = EntitlementServiceStub(self.channel).SubscriptionStatusTask(
            pb.SubscriptionStatusTaskRequest(account=account, group_id=GROUP), wait_for_ready=True,
            metadata=[("perch-heartbeat", str(heartbeat))])
        self.statuses, self.bookmarks, self.error, self.ended = None, 0, None, threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for message in self.call:
                if message.HasField("bookmark"):
                    self.bookmarks += 1
                elif message.WhichOneof("state") == "success":
                    self.statuses = len(message.success.statuses)
        except grpc.RpcError as error:
            self.error = f"{error.code().name}: {error.details()}"
        self.ended.set()

    def until(self, statuses):
        until(lambda: self.statuses == statuses or self.ended.is_set(), f"{statuses} statuses")
        equal((self.statuses, self.error), (statuses, None), "the statuses and the error")


def main():
    parser = trial.options(__doc__)
    parser.add_argument("--minutes", type=float, help="so long, with default timeouts")
    options = parser.parse_args()
    timeout = None if options.minutes else SHORT
    seconds = options.minutes * 60 if options.minutes else 15
    heartbeat = 30 if options.minutes else 10
    streams, controls = {}, {}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(PERCH, CATALOG, "memory", WORK / "proxies.log"))
        server.start()
        # The control has a proxy of its own, because a proxy shares one connection among clients, and so its bookmarks.
        proxies = {name: stack.enter_context(Proxy(name.removesuffix("-control"), server.port, "h2", timeout))
                   for name in [*PROXIES, *(f"{name}-control" for name in PROXIES if timeout)]}
        for name in PROXIES:
            with check(f"{name}: a stream begins"):
                streams[name] = Stream(proxies[name].port, name, heartbeat)
                if timeout:
                    controls[name] = Stream(proxies[f"{name}-control"].port, f"{name}-control", 600)
                streams[name].until(0)
        time.sleep(seconds)
        for name, stream in streams.items():
            with check(f"{name}: a stream that was idle for {seconds:.0f} s gets a purchase"):
                equal(server.run("store", "buy", name, PRODUCT).returncode, 0, f"the exit status, with {proxies[name].lines[-5:]}")
                stream.until(1)
                assert stream.bookmarks >= seconds // heartbeat, f"only {stream.bookmarks} bookmarks came"
        for name, control in controls.items():
            with check(f"{name}: without bookmarks the proxy cuts the stream"):
                assert control.ended.wait(SHORT), f"it lives after {seconds + SHORT} s, with {control.bookmarks} bookmarks"
    return summary("proxies")


if __name__ == "__main__":
    sys.exit(main())
