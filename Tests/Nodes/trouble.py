"""What goes wrong between nodes and their database, one thing at a time.

    trouble.py [NAME…] [--full]

cuts      Between a node and PostgreSQL a proxy loses each message of a commit in turn, in both directions. The call is asked for
          again with its key: it has one answer, on every node, and was done once.
at-once   One key goes to two nodes at the same time, also for a request that changes nothing: one answer.
network   The network of a node is cut after each message of a batch in turn: another node writes on after a few seconds, and
          the call that was cut has one answer. Needs root, for a network namespace.
due       Many renewals become due at once, and the node that settles them is killed: each is settled once.
cut-off   A node loses its network: after 3 s it answers no read and sends no heartbeat, after 10 s its clients leave for another
          node, where their tokens are answered `unchanged`. Later it goes on by itself. A node without others keeps its clients.
standby   The primary is killed, and a synchronous standby is promoted: nothing acknowledged is lost, and the epoch stays. Then an
          asynchronous one lacks what was acknowledged: the epoch rises once.
alike     No node can do more than the others: the database is frozen, or no standby confirms its commits. Every read is answered within
          3 s, `/readyz` says what helps, no client is sent to the other node, and no text names the database's address.
hosts     A node goes on with the host whose history has what it has shown, though a promoted standby writes too. An old primary
          is refused, by a node at work and by one that starts.

Without names all of them run, in a short form unless --full is given.
"""
import collections
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import trial
from client import BEAT, DRAIN, MESSAGE, STATUS
from database import Database
from network import Network
from proxy import CUT, SILENCE, TO_CLIENT, TO_SERVER, Proxy
from server import Server
from trial import CATALOG, PERCH, WORK
from waiting import PATIENCE_SECONDS, until
from wire import ADMIN, APP, READS, STORE, TRANSACTIONS, Caller
from writers import COINS, LIFETIME, MONTHLY, PURCHASE, order


class Broken(Exception):
    pass


def check(is_so, what):
    Trouble.checks += 1
    if not is_so:
        raise Broken(what)


class Trouble:
    checks = 0

    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.databases, self.servers = [], []

    # What the tests stand on

    def database(self, name, **options):
        database = Database(WORK / name, **options)
        self.databases.append(database)
        database.start()
        return database

    def node(self, name, url, time_rate=0, perch=None):
        node = Server(perch or PERCH, CATALOG, url, WORK / f"{name}.log", time_rate=time_rate, loops=1, http=True)
        self.servers.append(node)
        node.start()
        return node

    def caller(self, node):
        return Caller(node.address, client_name="trouble", heartbeat_seconds=10)

    def answered(self, node, path, **request):
        """The answer, however often it has to be asked for; and the attempts and seconds that took."""
        began, attempts = time.monotonic(), 0
        while time.monotonic() < began + PATIENCE_SECONDS:
            attempts += 1
            try:
                caller = self.caller(node)
                answer, status = caller.ask(path, **request)
                caller.close()
            except OSError:
                time.sleep(0.02)
                continue
            if status.code == 0:
                return answer, attempts, time.monotonic() - began
            check(status.code == 14, f"{path} is refused: {status.reason}: {status.message}")
            time.sleep(0.02)
        raise Broken(f"{path} had no answer within {PATIENCE_SECONDS} s; the node said {node.lines[-3:]}")

    def buy(self, node, account, key, product=LIFETIME, **more):
        return self.answered(node, PURCHASE, app=APP, idempotency_key=key.encode(), **order(account, product, **more))

    def metric(self, node, name):
        answer, _, _ = self.answered(node, ADMIN + "GetServerStatus")
        return next(each.value for each in answer.metrics if each.name == name)

    def transactions(self, node, account):
        found, page = [], b""
        while True:
            answer, _, _ = self.answered(node, TRANSACTIONS + "ListTransactions", app=APP, account=account, page_token=page)
            found += [each.transaction.id for each in answer.transactions]
            page = answer.next_page_token
            if not page:
                return found

    def readiness(self, node):
        """What `/readyz` says; nothing before it listens."""
        status, text = node.page("/readyz")
        return text if status else ""

    def close(self):
        for server in self.servers:
            if server.process and server.process.poll() is None:
                server.kill()
        for database in self.databases:
            database.stop()

    # The tests

    def cuts(self):
        database = self.database("cuts")
        proxy = Proxy(WORK / "proxy-cuts", database)
        a, b = self.node("cuts-a", proxy.url), self.node("cuts-b", database.url)
        proxy.arm(TO_SERVER, 1 << 30)
        self.buy(a, "counted", "counted")
        counts = dict(proxy.counts)
        proxy.disarm()
        places = [(direction, place, CUT) for direction in (TO_SERVER, TO_CLIENT) for place in range(counts[direction])]
        # A session that falls silent within a batch of messages keeps the lock for as long as its socket is open; see `network`.
        silences = [(direction, place, SILENCE) for direction, place, _ in places if direction == TO_CLIENT]
        if self.arguments.full:
            places += silences
        else:
            places = self.random.sample(places, min(10, len(places))) + self.random.sample(silences, 1)
        longest, again, keys, answers, last = 0, 0, {}, {}, 0
        for number, (direction, place, how) in enumerate(places):
            account, key = f"account-{number % 5}", f"key-{number}"
            proxy.arm(direction, place, how)
            answer, attempts, seconds = self.buy(a, account, key, product=COINS, quantity=1 + number % 9)
            proxy.disarm()
            longest, again = max(longest, seconds), again + (attempts > 1)
            where = f"{how} {direction} at message {place}"
            check(answer.position.revision > last, f"{where}: revision {answer.position.revision} after {last}")
            last = answer.position.revision
            answers[key] = answer.transaction.transaction.id
            keys.setdefault(account, []).append(answers[key])
            other, _, _ = self.buy(b, account, key, product=COINS, quantity=1 + number % 9)
            check(other.transaction == answer.transaction and other.position == answer.position,
                  f"{where}: the other node answers {other.position.revision}, this one {last}")
        check(len(set(answers.values())) == len(answers), "two keys have one transaction")
        for account, expected in keys.items():
            for node in (a, b):
                found = self.transactions(node, account)
                check(sorted(found) == sorted(expected), f"{account} has {found}, acknowledged were {expected}")
        rows = database.ask("SELECT count(*), max(revision) FROM perch.commits").split("|")
        check(rows[0] == rows[1], f"{rows[0]} commits up to revision {rows[1]}")
        return (f"{proxy.blows} of {len(places)} messages lost ({counts[TO_SERVER]} to the server and {counts[TO_CLIENT]} back in a "
                f"purchase), {again} asked again; longest {longest:.1f} s")

    def network(self):
        try:
            network = Network()
        except (OSError, subprocess.CalledProcessError):
            return "SKIPPED: this machine does not let us make a network namespace"
        try:
            database = self.database("network", address=network.address)
            proxy = Proxy(WORK / "proxy-network", database, network)
            a, b = self.node("network-a", proxy.url), self.node("network-b", database.url)
            proxy.arm(TO_SERVER, 1 << 30)
            self.buy(a, "counted", "counted")
            count = proxy.counts[TO_SERVER]
            proxy.disarm()
            places = range(count) if self.arguments.full else self.random.sample(range(count), 2)
            longest, slow = 0, 0
            for place in places:
                proxy.arm(TO_SERVER, place, SILENCE)
                cut = []

                def ask():
                    cut.append(self.buy(a, "alice", f"cut-{place}", product=COINS)[0])
                thread = threading.Thread(target=ask)
                thread.start()
                came = time.monotonic()
                while proxy.plan is not None and time.monotonic() < came + 30:
                    time.sleep(0.002)
                network.cut()
                _, _, seconds = self.buy(b, "bob", f"beside-{place}", product=COINS)
                longest, slow = max(longest, seconds), slow + (seconds > 1)
                network.mend()
                proxy.disarm()
                thread.join(PATIENCE_SECONDS)
                check(cut != [], f"the purchase that was cut at message {place} had no answer")
                again, _, _ = self.buy(b, "alice", f"cut-{place}", product=COINS)
                check(again.transaction == cut[0].transaction, f"message {place}: {again} after {cut[0]}")
            for account in ("alice", "bob"):
                check(len(self.transactions(b, account)) == len(places), f"{account} has {self.transactions(b, account)}")
            return (f"cut at {len(places)} of {count} messages: the other node waited for at most {longest:.1f} s, "
                    f"{slow} times for over 1 s")
        finally:
            network.mend()
            network.close()

    def at_once(self):
        database = self.database("at-once")
        nodes = [self.node(f"at-once-{name}", database.url) for name in "ab"]
        self.buy(nodes[0], "alice", "subscribed", product=MONTHLY)
        rounds = 100 if self.arguments.full else 15
        for number in range(rounds):
            changing = (PURCHASE, {"app": APP, "idempotency_key": f"both-{number}".encode(), **order("bob", COINS)})
            # It is on already: an answer without a change, which is kept all the same.
            idle = (STORE + "Operate", {"app": APP, "idempotency_key": f"idle-{number}".encode(), "operation": {
                "set_auto_renew": {"target": {"product_id": MONTHLY}, "enabled": True}}, "account": "alice"})
            for path, request in (changing, idle):
                found = [None, None]

                def ask(index):
                    found[index] = self.answered(nodes[index], path, **request)[0]
                threads = [threading.Thread(target=ask, args=(index,)) for index in (0, 1)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                check(None not in found and found[0] == found[1], f"{path} {number}: {found}")
        bought = self.transactions(nodes[0], "bob")
        check(len(set(bought)) == rounds, f"{len(bought)} purchases for {rounds} keys")
        return f"{rounds} purchases and {rounds} requests without a change, each on two nodes at once: one answer each"

    def due(self):
        count = 10_000 if self.arguments.full else 1_000
        database = self.database("due")
        nodes = [self.node(f"due-{name}", database.url) for name in "abc"]
        caller = self.caller(nodes[0])
        start = caller.get(STORE + "SetClock", app=APP, freeze={}).clock
        for first in range(0, count, 50):
            streams = [caller.call(PURCHASE, app=APP, idempotency_key=f"due-{number}".encode(), **order(f"due-{number}", MONTHLY))
                       for number in range(first, min(first + 50, count))]
            self.ended(caller, streams)
        # The clock stands at the first renewal of all, and the one who was asked to move it is killed in the middle of it.
        began = time.monotonic()
        mover = self.caller(nodes[0])
        mover.call(STORE + "SetClock", app=APP, advance_by_ms=32 * 86_400_000)
        settled = "SELECT count(*) - {0} FROM perch.transactions".format(count)
        while int(database.ask(settled)) < count // 10:
            check(time.monotonic() < began + PATIENCE_SECONDS, "renewals do not begin")
            time.sleep(0.005)
        nodes[0].kill()
        at = int(database.ask(settled))
        while (done := int(database.ask(settled))) < count:
            check(time.monotonic() < began + PATIENCE_SECONDS, f"{done} of {count} are settled, and no more")
            time.sleep(0.02)
        seconds = time.monotonic() - began
        # A write of each node that is left comes after whatever it settled.
        for number, node in enumerate(nodes[1:]):
            self.buy(node, f"after-{number}", f"after-{number}", product=COINS)
        many = database.ask("SELECT count(*) FROM "
                            "(SELECT account FROM perch.transactions GROUP BY account HAVING count(*) <> 2) AS odd")
        check(many == "2", f"{many} accounts have not one purchase and one renewal, beside the two of the last purchases")
        for number in self.random.sample(range(count), 20):
            check(len(self.transactions(nodes[1], f"due-{number}")) == 2, f"due-{number}")
        rows = database.ask("SELECT count(*), max(revision) FROM perch.commits").split("|")
        check(rows[0] == rows[1], f"{rows[0]} commits up to revision {rows[1]}")
        return f"{count} renewals due at once, killed after {at}: each settled once, in {seconds:.1f} s"

    def ended(self, caller, streams):
        open_streams = set(streams)
        while open_streams:
            frame = caller.read()
            check(frame is not None, "the server closed the connection")
            if frame.kind == STATUS and frame.stream in open_streams:
                check(frame.message.code == 0, frame.message.message)
                open_streams.discard(frame.stream)

    def cut_off(self):
        database = self.database("cut-off")
        proxy = Proxy(WORK / "proxy-cut-off", database)
        a, b = self.node("cut-off-a", proxy.url), self.node("cut-off-b", database.url)
        alone_proxy = Proxy(WORK / "proxy-alone", self.database("alone"))
        alone = self.node("alone", alone_proxy.url)
        left, left_frames = self.caller(alone), []
        left.call(READS + "CurrentEntitlementTask", app=APP, account="alice", product_id=LIFETIME)
        threading.Thread(target=self.note, args=(left, left_frames), daemon=True).start()
        self.buy(a, "alice", "one")
        for number in range(10):
            until(lambda: self.metric(a, "perch_nodes") == 2, "a heartbeat shows the node the other one")
            if said := self.cut(a, b, proxy, alone_proxy, left_frames, number):
                return said
        raise Broken("of ten cuts none was followed by a heartbeat")

    def cut(self, a, b, proxy, alone_proxy, left_frames, number):
        """One cut. Answers nothing where no heartbeat came after it, as where the machine stood still for the three seconds."""
        watch = dict(app=APP, account="alice", product_id=LIFETIME)
        frames, watcher = [], self.caller(a)
        stream = watcher.call(READS + "CurrentEntitlementTask", **watch)

        thread = threading.Thread(target=self.note, args=(watcher, frames), daemon=True)
        thread.start()
        until(lambda: any(each and each.kind == MESSAGE and each.message.WhichOneof("state") == "success" for _, each in frames),
              "the watch has its value")
        # Their heartbeats are due from 1 to 6 s after the cut.
        beating_frames, beating, ahead = [], [], 0.0
        for _ in range(11):
            beating.append(self.caller(a))
            # A node whose first look at the database's clock took long is ahead of it for a while.
            ahead = max(ahead, beating[-1].welcome.server_time_ms - time.time() * 1000)
            beating[-1].call(READS + "CurrentEntitlementTask", **watch)
            threading.Thread(target=self.note, args=(beating[-1], beating_frames), daemon=True).start()
            time.sleep(0.5)
        time.sleep(3.5)
        asker, before = self.caller(a), time.monotonic()
        self.answered(a, READS + "GetCurrentEntitlement", **watch)
        proxy.cut_off(True)
        alone_proxy.cut_off(True)
        # No heartbeat passes from here on, so the node's own three seconds began before. What it sends has its own time.
        cut, cut_ms = time.monotonic(), time.time() * 1000 + ahead
        refused, last_answer = None, before - cut
        while time.monotonic() < cut + 6 or refused is None:
            began = time.monotonic()
            try:
                answer, status = asker.ask(READS + "GetCurrentEntitlement", **watch)
            except OSError:
                # This trial stood still until the node's clients were sent away.
                refused = refused or time.monotonic() - cut
                break
            if status.code:
                check(status.reason == "STORE_UNREACHABLE", f"a read is refused for {status.reason}")
                refused = refused or time.monotonic() - cut
            else:
                last_answer = began - cut
            check(last_answer < 3.3, f"a read was answered that began {last_answer:.1f} s after the cut")
            time.sleep(0.05)
        # While it is cut off, others go on.
        other, _, _ = self.buy(b, "bob", f"two-{number}")
        thread.join(PATIENCE_SECONDS)
        drains = [(at - cut, frame.message) for at, frame in frames if frame and frame.kind == DRAIN]
        beats = [(frame.message.server_time_ms - cut_ms) / 1000 for _, frame in beating_frames if frame and frame.kind == BEAT]
        late = [at for at in beats if at > 3.1]
        check([drain.reason for _, drain in drains] == ["STORE_UNREACHABLE"] and drains[0][1].final, f"DRAIN: {drains}")
        # It answered within three seconds of its last heartbeat, and sends clients away ten seconds after that.
        check(drains[0][0] >= last_answer + 7, f"DRAIN at {drains[0][0]:.1f} s after the cut, an answer at {last_answer:.1f} s")
        check(late == [], f"heartbeats {late} s after the cut")
        # By their arrival: the server's clock follows the database's and may be behind this one's.
        after = sum(at > cut for at, frame in beating_frames if frame and frame.kind == BEAT)
        time.sleep(max(0, cut + 14 - time.monotonic()))
        check(all(frame is not None and frame.kind != DRAIN for _, frame in left_frames), "a node without others sent its clients away")
        token, request = watcher.tokens[stream], (READS + "CurrentEntitlementTask", watch)
        found = until(lambda: self.first_state(b, request, token), "the other node answers the token")
        check(found.WhichOneof("state") == "unchanged", f"the token is answered {found}")
        proxy.cut_off(False)
        alone_proxy.cut_off(False)
        _, _, seconds = self.answered(a, READS + "GetCurrentEntitlement", **watch, at_least=other.position)
        return after and (
            f"{after} heartbeats within 3 s of the cut and none later; last read answered {last_answer:.1f} s after the cut, "
            f"refused from {refused:.1f} s, DRAIN after {drains[0][0]:.1f} s, "
            f"the token `unchanged` on the other node; {seconds:.1f} s after the network's return it answers again")

    def first_state(self, node, request, token):
        """What a watch with a token is answered first; nothing while the node cannot reach the store."""
        path, fields = request
        with contextlib.suppress(OSError), contextlib.closing(self.caller(node)) as caller:
            stream = caller.call(path, **fields, resume_token=token)
            while frame := caller.read():
                if frame.stream == stream and frame.kind == MESSAGE and frame.message.WhichOneof("state") != "failure":
                    return frame.message
                if frame.stream == stream and frame.kind in (MESSAGE, STATUS):
                    return None
        return None

    def note(self, caller, frames):
        """Every frame with its time, and at last None for the end."""
        try:
            while frame := caller.read():
                frames.append((time.monotonic(), frame))
        except OSError:
            pass
        frames.append((time.monotonic(), None))

    def standby(self):
        primary = self.database("primary")
        standby = primary.standby(WORK / "standby")
        self.databases.append(standby)
        standby.start()
        primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
        primary.ask("SELECT pg_reload_conf()", "postgres")
        while primary.ask("SELECT sync_state FROM pg_stat_replication", "postgres") != "sync":
            time.sleep(0.02)
        url = f"postgres://perch@/perch?host={primary.directory},{standby.directory}"
        nodes = [self.node(f"standby-{name}", url) for name in "ab"]
        epoch = self.caller(nodes[0]).welcome.epoch
        acknowledged, stopping, breaks, are_kept = [], threading.Event(), [], threading.Event()

        def write(index):
            number = 0
            while not stopping.is_set():
                number += 1
                key = f"{index}-{number}"
                try:
                    answer, _, _ = self.buy(nodes[index % 2], f"account-{index}", key, COINS)
                except Broken as broken:
                    breaks.append(str(broken))
                    return
                acknowledged.append((f"account-{index}", key, answer.transaction.transaction.id, answer.position.revision))
        restarts = []

        def keep():
            """As a service manager does: a node that had read what no standby has ends, and begins with what is there."""
            while not are_kept.is_set():
                for node in nodes:
                    if node.process.poll() is not None:
                        node.hear_out()
                        restarts.append([line for line in node.lines if "history" in line] or node.lines[-5:])
                        node.start()
                time.sleep(0.02)
        writers = [threading.Thread(target=write, args=(index,)) for index in range(4)]
        keeper = threading.Thread(target=keep, daemon=True)
        for thread in writers + [keeper]:
            thread.start()
        until(lambda: len(acknowledged) >= 20 or breaks, "writes are acknowledged")
        primary.kill(signal.SIGKILL)
        before = len(acknowledged)
        standby.promote()
        # It is a primary without a standby now.
        standby.ask("ALTER SYSTEM SET synchronous_standby_names = ''", "postgres")
        standby.ask("SELECT pg_reload_conf()", "postgres")
        promoted = time.monotonic()
        until(lambda: len(acknowledged) >= before + 4 or breaks, "a write is acknowledged after the promotion")
        seconds = time.monotonic() - promoted
        until(lambda: len(acknowledged) >= before + 20 or breaks, "writes go on after the promotion")
        stopping.set()
        for writer in writers:
            writer.join(PATIENCE_SECONDS)
        # A writer may wait for a node that has yet to begin anew.
        are_kept.set()
        keeper.join(PATIENCE_SECONDS)
        check(not breaks, f"{breaks}")
        check(all("nobody was shown" in str(said) for said in restarts), f"nodes ended: {restarts}")
        check(len(acknowledged) >= before + 4, "no write was acknowledged after the promotion")
        for account in {each[0] for each in acknowledged}:
            expected = sorted(each[2] for each in acknowledged if each[0] == account)
            found = sorted(self.transactions(nodes[0], account))
            check(found == expected, f"{account} has {len(found)} transactions, {len(expected)} were acknowledged")
        check(self.caller(nodes[1]).welcome.epoch == epoch, "the epoch rose without a loss")
        kept = f"{len(acknowledged)} writes acknowledged, {before} before the promotion, none lost; the next after {seconds:.1f} s, "
        kept += f"{len(restarts)} nodes began anew"
        return kept + "; " + self.lost(standby, nodes)

    def lost(self, primary, nodes):
        """An asynchronous standby that stopped receiving is promoted."""
        late = primary.standby(WORK / "late")
        self.databases.append(late)
        late.start()
        for node in nodes:
            node.stop()
        url = f"postgres://perch@/perch?host={primary.directory},{late.directory}"
        nodes = [self.node(f"late-{name}", url) for name in "ab"]
        epoch = self.caller(nodes[0]).welcome.epoch
        watch = dict(app=APP, account="lost", product_id=LIFETIME)
        cursor_caller = self.caller(nodes[0])
        first, _, _ = self.buy(nodes[0], "kept", "kept")
        while int(late.ask("SELECT max(revision) FROM perch.commits")) < first.position.revision:
            time.sleep(0.02)
        late.pause_receiving()
        answer, _, _ = self.buy(nodes[0], "lost", "lost")
        stream = cursor_caller.call(READS + "CurrentEntitlementTask", **watch)
        while stream not in cursor_caller.tokens:
            cursor_caller.read()
        token = cursor_caller.tokens[stream]
        for node in nodes:  # Both have shown it.
            self.answered(node, READS + "GetCurrentEntitlement", **watch, at_least=answer.position)
        primary.kill(signal.SIGKILL)
        late.promote()
        ends = []
        for node in nodes:
            try:
                ends.append(node.process.wait(PATIENCE_SECONDS))
            except subprocess.TimeoutExpired:
                raise Broken(f"a node goes on with a history that lost what it had shown: {node.lines[-3:]}") from None
        check(all(end != 0 for end in ends), f"the nodes ended with {ends}")
        again = [self.node(f"again-{name}", url) for name in "ab"]
        epochs = [self.caller(node).welcome.epoch for node in again]
        check(epochs == [epoch + 1] * 2, f"epochs {epochs} after {epoch}")
        check(self.transactions(again[0], "kept") != [], "what the standby had is lost")
        caller = self.caller(again[1])
        caller.call(READS + "CurrentEntitlementTask", **watch, resume_token=token)
        while (frame := caller.read()) and frame.kind not in (MESSAGE, STATUS):
            pass
        refused = frame.kind == STATUS and frame.message.reason == "TOKEN_OTHER_STORE"
        check(refused, f"a token of the lost history is answered {frame}")
        check(answer.position.revision > first.position.revision, "the lost write had no revision")
        return f"a loss raised the epoch from {epoch} to {epochs[0]}, and its tokens are refused"


    def alike(self):
        """Both at once, since both mostly wait."""
        found = {}

        def one(name, *words):
            try:
                found[name] = self.in_one_boat(name, *words)
            except Exception as broken:
                found[name] = broken
        frozen, alone = (self.database(name, address="127.0.0.1") for name in ("frozen", "no-standby"))

        def confirm(names):
            alone.ask(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'", "postgres")
            alone.ask("SELECT pg_reload_conf()", "postgres")
        threads = [
            threading.Thread(target=one, args=(
                "frozen", frozen, frozen.freeze, frozen.thaw, "start the database")),
            threading.Thread(target=one, args=(
                "no-standby", alone, lambda: confirm("nobody"), lambda: confirm(""), "synchronous_standby_names"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name in ("frozen", "no-standby"):
            check(isinstance(found.get(name), str), f"{name}: {found.get(name)}")
        return "; ".join(f"{name}: {said}" for name, said in found.items())

    def in_one_boat(self, name, database, begin, end, advice):
        url = f"postgres://perch@127.0.0.1:{database.port}/perch"
        nodes = [self.node(f"{name}-{letter}", url) for letter in "ab"]
        self.buy(nodes[0], "alice", "one")
        watch = dict(app=APP, account="alice", product_id=LIFETIME)
        for node in nodes:
            until(lambda node=node: self.metric(node, "perch_nodes") == 2, "a heartbeat shows the node the other one")
        frames, texts, slowest, refused, counts, is_over = [], [], [], set(), collections.Counter(), threading.Event()
        for node in nodes:
            watcher = self.caller(node)
            watcher.call(READS + "CurrentEntitlementTask", **watch)
            threading.Thread(target=self.note, args=(watcher, frames), daemon=True).start()

        def read(node):
            asker, number = self.caller(node), 0
            while not is_over.is_set():
                began, number = time.monotonic(), number + 1
                # Of another account each time, so that none is in a cache.
                _, status = asker.ask(READS + "GetCurrentEntitlement", app=APP, account=f"reader-{number}", product_id=LIFETIME)
                slowest.append(time.monotonic() - began)
                counts[node.port] += 1
                if status.code:
                    refused.add((node.port, status.reason))
                    texts.append(status.message)
                time.sleep(0.02)
        readers = [threading.Thread(target=read, args=(node,)) for node in nodes]

        def write(node):
            asker, number = self.caller(node), 0
            while not is_over.is_set():
                number += 1
                _, status = asker.ask(PURCHASE, app=APP, idempotency_key=f"{node.port}-{number}".encode(), **order("bob", COINS))
                texts.append(status.message)
                time.sleep(0.1)
        writers = [threading.Thread(target=write, args=(node,), daemon=True) for node in nodes]
        for thread in readers + writers:
            thread.start()
        begin()
        began = time.monotonic()
        for node in nodes:
            until(lambda node=node: advice in self.readiness(node), f"{name}: /readyz of {node.port} advises {advice}")
            texts.append(self.readiness(node))
        until(lambda: len(refused) == 2, f"{name}: reads are refused on both nodes")
        # A node that sends its clients away does so ten seconds after its last heartbeat.
        time.sleep(max(0, began + 13 - time.monotonic()))
        before = dict(counts)
        for node in nodes:
            until(lambda node=node: counts[node.port] >= before[node.port] + 3,
                  f"{name}: reads on {node.port} are answered before the end")
        end()
        for node in nodes:
            self.answered(node, READS + "GetCurrentEntitlement", **watch)
            until(lambda node=node: self.readiness(node).startswith("ready"), f"{name}: /readyz of {node.port}")
        is_over.set()
        for thread in readers:
            thread.join()
        check({reason for _, reason in refused} == {"STORE_UNREACHABLE"}, f"{name}: reads were refused for {refused}")
        # Three seconds, and what a quiet machine adds.
        check(not self.arguments.full or max(slowest) < 10, f"{name}: a read was answered after {max(slowest):.1f} s")
        drains = [frame.message for _, frame in frames if frame and frame.kind == DRAIN]
        check(drains == [], f"{name}: clients were sent away: {drains}")
        leaks = {text for text in texts for word in (str(database.port), "127.0.0.1", str(database.directory)) if word in text}
        check(not leaks, f"{name}: texts name the database's address: {leaks}")
        return f"{len(slowest)} reads, the slowest answered after {max(slowest):.1f} s"

    def hosts(self):
        old = self.database("hosts-old")
        new = old.standby(WORK / "hosts-new")
        self.databases.append(new)
        new.start()
        url = f"postgres://perch@/perch?host={old.directory},{new.directory}"
        node = self.node("hosts", url)
        watch = dict(app=APP, account="alice", product_id=LIFETIME)
        first, _, _ = self.buy(node, "first", "first")
        while int(new.ask("SELECT max(revision) FROM perch.commits")) < first.position.revision:
            time.sleep(0.02)
        new.pause_receiving()
        self.buy(node, "alice", "one")
        epoch = self.caller(node).welcome.epoch
        new.promote()
        # Both write. The later timeline lacks what was shown.
        old.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'perch' AND pid <> pg_backend_pid()", "postgres")
        answer, _, _ = self.buy(node, "bob", "two")
        check(self.answered(node, READS + "GetCurrentEntitlement", **watch)[0].success.ListFields() != [], "what was shown is lost")
        check(old.ask("SELECT max(revision) FROM perch.commits") == str(answer.position.revision), "it went to the other history")
        check(self.caller(node).welcome.epoch == epoch, "the epoch rose")
        # The old one is gone: the later timeline has taken over, without what was shown.
        old.kill()
        check(node.process.wait(PATIENCE_SECONDS) != 0, "the node goes on with a history that lacks what it has shown")
        node.start()
        check(self.caller(node).welcome.epoch == epoch + 1, "a loss did not raise the epoch")
        self.buy(node, "carl", "three")
        until(lambda: self.remembered(new), "the node notes what it has shown")
        # The new one is gone, and the old one is back.
        new.kill()
        old.start()
        count = old.ask("SELECT count(*) FROM perch.commits")
        asker = self.caller(node)
        until(lambda: any("old primary" in line for line in self.losses(node)), "the node refuses the old primary")
        _, status = asker.ask(PURCHASE, app=APP, idempotency_key=b"four", **order("dora", COINS))
        check(status.reason == "STORE_UNREACHABLE", f"a write beside an old primary is answered {status.reason or 'with success'}")
        node.kill()
        node.spawn()
        until(lambda: "lacks what was shown" in self.readiness(node), "a node that starts refuses the old primary")
        node.signal(signal.SIGTERM)
        check(node.process.wait(PATIENCE_SECONDS) == -signal.SIGTERM, "a node that waits for its database goes on when it is told to stop")
        node.spawn()
        until(lambda: "lacks what was shown" in self.readiness(node), "a node that starts again refuses the old primary, too")
        check(old.ask("SELECT count(*) FROM perch.commits") == count and old.ask("SELECT epoch FROM perch.store") == str(epoch),
              "the old primary was written to")
        new.start()
        check(node.serving.wait(PATIENCE_SECONDS) and node.process.poll() is None, f"the node did not start: {node.lines[-3:]}")
        self.buy(node, "dora", "four", COINS)
        check(self.caller(node).welcome.epoch == epoch + 1 and old.ask("SELECT count(*) FROM perch.commits") == count, "the epoch rose again")
        return "the host with what was shown was taken of two that write, and an old primary refused at work and at a start"

    def remembered(self, database):
        """Whether the file on this machine has the newest revision."""
        newest = database.ask("SELECT max(revision) FROM perch.commits")
        path = pathlib.Path(os.environ["STATE_DIRECTORY"]) / ("shown-" + database.ask("SELECT encode(identity, 'hex') FROM perch.store"))
        return path.exists() and path.read_text().split()[3:4] == [newest]

    def losses(self, node):
        """Why the connection was lost last, as operators see it."""
        return node.page("/status")[1].splitlines()


TESTS = {"cuts": Trouble.cuts, "network": Trouble.network, "at-once": Trouble.at_once, "due": Trouble.due,
         "cut-off": Trouble.cut_off, "standby": Trouble.standby, "alike": Trouble.alike, "hosts": Trouble.hosts}
# What runs beside each other.
LANES = [("cuts", "network", "at-once", "due"), ("standby", "hosts"), ("cut-off",), ("alike",)]


def main():
    parser = trial.options(__doc__, "--full")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in TESTS]:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(TESTS)}")
    trial.ends_what_it_began()
    # What nodes have shown, as this machine remembers it.
    os.environ["STATE_DIRECTORY"] = str(WORK / "state")
    print(f"seed {arguments.seed}", flush=True)
    failed, troubles = [], []

    def run(name):
        trouble, began = Trouble(arguments), time.monotonic()
        troubles.append(trouble)
        try:
            said = TESTS[name](trouble)
            print(f"trouble: {name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
        except Exception as error:  # Of any kind: one that ended its thread would leave the trial green.
            failed.append(name)
            print(f"BROKEN {name}: {type(error).__name__}: {error}", flush=True)
        finally:
            trouble.close()
    names = arguments.names or list(TESTS)

    def run_all(lane):
        for name in lane:
            if name in names:
                run(name)
    # They mostly wait, each for databases and nodes of its own.
    beside = [threading.Thread(target=run_all, args=(lane,), daemon=True) for lane in LANES]
    try:
        for thread in beside:
            thread.start()
        for thread in beside:
            thread.join()
    finally:
        # Where the trial is told to end, those of the threads too.
        for trouble in troubles:
            trouble.close()
    print(f"trouble: {len(failed)} failures in {Trouble.checks} checks")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
