"""See the script `drain`."""
import signal
import sys
import time

import trial
from crowd import Crowd, Peer, change
from figures import Figures
from server import Server
from trial import CATALOG, PERCH, WORK
from wire import Caller, contract

TOLD_S, EXIT_S, RESUMED_S = 2, 10, 15


class Drain:
    def __init__(self, arguments):
        self.arguments, self.figures = arguments, Figures(not arguments.without_limits)
        self.server = Server(PERCH, CATALOG, WORK / "store.db", WORK / "server.log", http=True)

    def account(self, peer):
        return f"view-{peer.number % self.arguments.views}"

    def run(self):
        a, crowd = self.arguments, Crowd(contract())
        self.server.start()
        try:
            writer = Caller(self.server.address, client_name="drain")
            for number in range(a.views):
                change(writer, f"view-{number}")
            peers = [Peer(number) for number in range(a.streams)]
            self.connect(crowd, peers, {})
            self.figures.expect(all(peer.first for peer in peers), f"{a.streams} streams of {a.views} views are open")
            self.go_away(crowd, peers, writer)
            writer.socket.close()
            writer.input.close()
            self.told(crowd, peers)
            self.resume(crowd, peers)
        finally:
            self.server.kill()
        return self.figures.end()

    def connect(self, crowd, peers, tokens):
        for start in range(0, len(peers), 400):
            for peer in peers[start:start + 400]:
                fields = {"resume_token": tokens[peer.number]} if tokens else {}
                crowd.connect(peer, self.server.address, crowd.request(self.account(peer), **fields))
            crowd.until(lambda: all(peer.welcomed for peer in peers[start:start + 400]), 60)
        crowd.until(lambda: all(peer.message and self.has_value(crowd, peer) for peer in peers), 60)

    def has_value(self, crowd, peer):
        """Whether the message has a value; `loading` has none, `unchanged` has one."""
        return crowd.decode(peer.message).WhichOneof("state") != "loading"

    def go_away(self, crowd, peers, writer):
        """Closes half of the peers at once; the others must get a change as fast as before."""
        stay, go = peers[::2], peers[1::2]
        quiet = self.spread(crowd, stay, writer)
        began = time.perf_counter()
        for peer in go:
            crowd.let_go(peer)
        busy = self.spread(crowd, stay, writer)
        print(f"      a change reaches {len(stay) // self.arguments.views} readers of a view in {quiet * 1e3:.0f} ms, and in "
              f"{busy * 1e3:.0f} ms just after {len(go)} others closed at once")
        self.figures.expect(busy <= 1, "closing half of them at once delays no reader by a second", True)
        self.connect(crowd, go, {})
        self.figures.expect(all(peer.first for peer in go), "and the closed ones reconnect")

    def spread(self, crowd, peers, writer):
        """Seconds from requesting a change to its value's arrival at all of its watchers."""
        looking = [peer for peer in peers if self.account(peer) == "view-0"]
        counts = [peer.values for peer in looking]
        began = time.perf_counter()
        change(writer, "view-0")
        if not crowd.until(lambda: all(p.values > n for p, n in zip(looking, counts)), 30):
            raise RuntimeError("a change did not reach its readers")
        return time.perf_counter() - began

    def told(self, crowd, peers):
        self.tokens = {}
        for peer in peers:
            info = crowd.decode(peer.message).info
            self.tokens[peer.number] = info.resume_token
        began = time.perf_counter()
        self.server.signal(signal.SIGTERM)
        crowd.until(lambda: all(peer.ended_at for peer in peers), 30)
        told = [peer.told_at - began for peer in peers if peer.told_at]
        reasons = {crowd.status(peer) for peer in peers}
        self.figures.expect(len(told) == len(peers) and reasons == {"SHUTTING_DOWN"},
                    f"SIGTERM: {len(told)} of {len(peers)} are told {', '.join(map(str, reasons))}")
        self.figures.expect(max(told, default=99) <= TOLD_S, f"the last after {max(told, default=99):.2f} s, at most {TOLD_S}", True)
        self.server.process.wait(30)
        took = time.perf_counter() - began
        self.figures.expect(self.server.process.returncode == 0 and took <= EXIT_S,
                    f"the process ends with {self.server.process.returncode} after {took:.2f} s, at most {EXIT_S}", True)

    def resume(self, crowd, peers):
        self.server.start()
        began = time.perf_counter()
        before = self.server.metric("perch_store_reads_total")
        self.connect(crowd, peers, self.tokens)
        took = max((peer.value_at or 1e9) for peer in peers) - began
        states = {crowd.decode(peer.message).WhichOneof("state") for peer in peers if peer.message}
        reads = self.server.metric("perch_store_reads_total") - before
        self.figures.expect(all(peer.first for peer in peers) and took <= RESUMED_S,
                    f"{len(peers)} resume within {took:.2f} s of the start, at most {RESUMED_S}; they are told "
                    f"{', '.join(sorted(map(str, states)))}", True)
        loops = 2
        self.figures.expect(reads <= 2 * loops * self.arguments.views,
                    f"{reads:.0f} reads of the store for {self.arguments.views} views on {loops} loops")


if __name__ == "__main__":
    parser = trial.options(__doc__)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--views", type=int, default=100)
    parser.add_argument("--without-limits", action="store_true", help="show what is measured, judge only what was told")
    sys.exit(Drain(parser.parse_args()).run())
