"""What several nodes on PostgreSQL cost, against one server on SQLite, in turns.

    figures.py [--rounds N] [--seconds S] [--accounts N [--clients N]] [--only crossings] [--old PERCH]
               [--filled N [--expiries N]]

rates     Changes a second of 16 writers that each wait for their answer: on SQLite, on one node, and on four nodes with 16 each.
lag       Milliseconds from the answer of a purchase on one node to its value on another, at 50 purchases a second.
crossings Small writes a second and bytes of PostgreSQL's log for a purchase, while subscriptions expire and readers of all changes on two
          nodes wait for that, against the same without readers. --old names an earlier `perch` to compare a first subscription with.
many      With --filled N: the same among N accounts, which are filled in by SQL, against a store of a few in turns; small writes a second
          by pg_stat_statements, and the CPU time and log of a purchase.
sync      What the disk of both takes for one fdatasync.
scale     With --accounts N: a store of so many accounts moves from SQLite, a node starts on it, and --clients N connect at once
          to a second node, each with a stream.
"""
import json
import os
import pathlib
import statistics
import subprocess
import threading
import time
from types import SimpleNamespace

import trial
from client import MESSAGE
from database import Database
from order import EXPIRY, Ender
from server import cpu_seconds
from trial import CATALOG, PERCH, WORK
from trouble import Trouble
from waiting import until
from wire import APP, READS
from writers import COINS, MONTHLY, PURCHASE, order

SEASON = "com.example.season"
WRITERS = 16
PURCHASES = 500
HALF_MINUTES = 15  # A month lasts half a minute.
# Adds accounts, from the number `first` on. Indexes are built behind the rows.
MONTH = 2_592_000_000
SPREAD = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 21600000 + (n * 7919) % " + str(MONTH)
FILL = (
    "ALTER TABLE perch.facts DROP CONSTRAINT facts_pkey; DROP INDEX perch.facts_by_revision; DROP INDEX perch.accounts_by_due; "
    "ALTER TABLE perch.transactions DROP CONSTRAINT transactions_pkey; DROP INDEX perch.transactions_by_date; "
    "ALTER TABLE perch.crossings DROP CONSTRAINT crossings_pkey; DROP INDEX perch.aliases_by_account",
    "INSERT INTO perch.accounts SELECT {first} + n, t.app, " + SPREAD + ", t.blob FROM generate_series(1::bigint, {count}) AS n, "
    "(SELECT * FROM perch.accounts LIMIT 1) AS t",
    "INSERT INTO perch.facts SELECT {first} + n, t.revision, t.ordinal, t.is_event, t.blob FROM generate_series(1::bigint, {count}) AS n, "
    "(SELECT * FROM perch.facts LIMIT 1) AS t",
    "INSERT INTO perch.transactions SELECT t.app, {first} + n, {first} + n, t.purchase_date, t.state, t.spends, t.product, t.revision, "
    "t.ordinal, t.blob FROM generate_series(1::bigint, {count}) AS n, (SELECT * FROM perch.transactions LIMIT 1) AS t",
    "INSERT INTO perch.aliases SELECT t.app, convert_to('user-' || n, 'UTF8'), {first} + n FROM generate_series(1::bigint, {count}) AS n, "
    "(SELECT * FROM perch.aliases LIMIT 1) AS t",
    "INSERT INTO perch.crossings SELECT a.app, a.due - CASE WHEN a.account % 2 = 0 THEN 0 ELSE " + str(MONTH + 25_200_000) + " END, a.account "
    "FROM perch.accounts AS a WHERE a.account > {first}",
    "ALTER TABLE perch.facts ADD PRIMARY KEY (account, revision, ordinal)",
    "CREATE INDEX facts_by_revision ON perch.facts (revision, ordinal)",
    "CREATE INDEX accounts_by_due ON perch.accounts (app, due, account) WHERE due IS NOT NULL",
    "ALTER TABLE perch.transactions ADD PRIMARY KEY (app, id)",
    "CREATE INDEX transactions_by_date ON perch.transactions (account, state, purchase_date, id)",
    "ALTER TABLE perch.crossings ADD PRIMARY KEY (app, instant, account)",
    "CREATE INDEX aliases_by_account ON perch.aliases (account)",
)
FAST = 1005  # A week lasts two seconds.


class Figures(Trouble):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.enders = []

    def rate(self, nodes, seconds):
        """Changes a second of all nodes together."""
        benches = [subprocess.Popen([PERCH, "bench", "buy", "--writers", str(WRITERS), "--product", SEASON, "--connect",
                                     "%s:%d" % node.address, "--pid", str(node.pid), "--duration", f"{seconds}s", "-o", "json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for node in nodes]
        found = []
        for bench in benches:
            said, error = bench.communicate()
            if bench.returncode != 0:
                raise RuntimeError(f"perch bench ended with {bench.returncode}: {error}")
            found.append(json.loads(said)["targets"][0]["figures"]["changes_per_second"])
        return sum(found)

    def rates(self):
        database = self.database("rates")
        one = [self.node("rates-1", database.url)]
        found = {"SQLite": [], "one node": [], "four nodes": []}
        for number in range(self.arguments.rounds):
            sqlite = self.node("sqlite", WORK / f"sqlite-{number}")
            found["SQLite"].append(self.rate([sqlite], self.arguments.seconds))
            sqlite.stop()
            found["one node"].append(self.rate(one, self.arguments.seconds))
            others = [self.node(f"rates-{index}", database.url) for index in (2, 3, 4)]
            found["four nodes"].append(self.rate(one + others, self.arguments.seconds))
            for node in others:
                node.stop()
        for name, values in found.items():
            print(f"rates: {name}: {statistics.median(values):,.0f} changes a second (from {min(values):,.0f} to {max(values):,.0f})")
        ratios = [pair[0] / pair[1] for pair in zip(found["one node"], found["SQLite"])]
        print(f"rates: one node is {statistics.median(ratios):.2f} of SQLite; must 0.5, aim 0.8")
        ratios = [pair[0] / pair[1] for pair in zip(found["four nodes"], found["one node"])]
        print(f"rates: four nodes are {statistics.median(ratios):.2f} of one; must 0.6, aim 0.8", flush=True)

    def lag(self):
        database = self.database("lag")
        a, b = self.node("lag-a", database.url), self.node("lag-b", database.url)
        buyer, watcher = self.caller(a), self.caller(b)
        stream = watcher.call(READS + "CurrentEntitlementTask", app=APP, account="alice", product_id=SEASON)
        seen, ready = {}, threading.Event()

        def watch():
            while frame := watcher.read():
                if frame.kind == MESSAGE and frame.stream == stream and frame.message.HasField("info"):
                    seen[frame.message.info.position.revision] = time.perf_counter()
                    ready.set()
        threading.Thread(target=watch, daemon=True).start()
        ready.wait()
        answers, waits = {}, []
        next_due = time.perf_counter()
        for number in range(50 * self.arguments.seconds):
            next_due += 0.02
            time.sleep(max(0, next_due - time.perf_counter()))
            began = time.perf_counter()
            answer = buyer.get(PURCHASE, app=APP, idempotency_key=f"lag-{number}".encode(), **order("alice", SEASON))
            answers[answer.position.revision] = time.perf_counter()
            waits.append((answers[answer.position.revision] - began) * 1000)
        time.sleep(1)
        # A value may stand for several changes; each push is compared with the answer of its own revision.
        lags = sorted((seen[revision] - at) * 1000 for revision, at in answers.items() if revision in seen)
        at = lambda values, part: sorted(values)[min(len(values) - 1, int(len(values) * part))]
        commit = statistics.median(waits)
        print(f"lag: {len(lags)} of {len(answers)} purchases pushed by the other node; a commit takes {commit:.1f} ms (median answer); from "
              f"answer to push median {at(lags, 0.5):.1f} ms, p99 {at(lags, 0.99):.1f} ms; must {commit + 10:.1f}, aim {commit + 5:.1f}",
              flush=True)

    def scale(self):
        count, store = self.arguments.accounts, WORK / "big.db"
        subprocess.run([PERCH, "store", "generate", store, "--accounts", str(count), "--catalog",
                        CATALOG, "--bundle-id", APP["bundle_id"]], check=True, stdout=subprocess.DEVNULL)
        database = self.database("scale")
        began = time.perf_counter()
        subprocess.run([PERCH, "store", "migrate", "--from", store, "--to", database.url], check=True,
                       stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        print(f"scale: {count:,} accounts moved in {seconds:.1f} s, {count / seconds:,.0f} a second", flush=True)
        first, second = self.node("scale-a", database.url), self.node("scale-b", database.url)
        print(f"scale: a node is ready {first.ready_after:.2f} s after its start, a second one {second.ready_after:.2f} s", flush=True)
        clients = self.arguments.clients
        began = time.perf_counter()
        bench = subprocess.run([PERCH, "bench", "storm", "--watchers", str(clients), "--closed", str(clients), "--product",
                                SEASON, "--connect", "%s:%d" % second.address, "--pid", str(second.pid), "-o", "json"],
                               capture_output=True, text=True)
        if bench.returncode != 0:
            raise RuntimeError(f"perch bench ended with {bench.returncode}: {bench.stderr}")
        figures = json.loads(bench.stdout)["targets"][0]["figures"]
        for node in (first, second):
            node.stop()
        print(f"scale: {clients:,} clients come at once: {figures['opens_per_second']:,.0f} a second, so all of them in "
              f"{clients / figures['opens_per_second']:.1f} s; must 15 s", flush=True)
        self.crossings(database)

    def crossings(self, database=None):
        """On the database of `scale`, or on an empty one."""
        database = database or self.database("crossings")
        # Else the first change of a page after a checkpoint writes all of it, and hides the rest.
        database.ask("ALTER SYSTEM SET full_page_writes = off", "postgres")
        database.ask("SELECT pg_reload_conf()", "postgres")
        nodes = [self.node(f"crossings-{name}", database.url, time_rate=FAST) for name in "ab"]
        caller = self.caller(nodes[0])

        def purchases(count, prefix):
            """Bytes of the log for one."""
            before = database.ask("SELECT pg_current_wal_insert_lsn()")
            for number in range(count):
                caller.get(PURCHASE, app=APP, idempotency_key=f"{prefix}-{number}".encode(), **order(f"{prefix}-{number % 50}", COINS))
            return int(database.ask(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{before}')")) / count
        purchases(200, "first")
        alone = [purchases(200, f"alone-{index}") for index in range(3)]
        readers = [self.caller(node) for node in nodes]
        seen = []
        for reader in readers:
            reader.call(READS + "AppChanges", app=APP)
            threading.Thread(target=self.note, args=(reader, seen), daemon=True).start()
        watched = [purchases(200, f"watched-{index}") for index in range(3)]
        # Each expires two seconds later.
        ender = Ender(SimpleNamespace(next_cycle=lambda: nodes[0]), self.arguments.expiries, self.arguments.seconds * 4)
        rows = lambda: int(database.ask("SELECT n_tup_upd FROM pg_stat_all_tables WHERE schemaname = 'perch' AND relname = 'store'"))
        before, began = rows(), time.monotonic()
        ender.start()
        ender.join()
        expired = lambda: sum(frame.message.cause == EXPIRY for _, frame in seen if frame and frame.kind == MESSAGE and frame.message.account)
        until(lambda: expired() >= 2 * ender.made, "both readers have every expiry")
        time.sleep(1.5)  # PostgreSQL counts once a second.
        seconds = time.monotonic() - began
        writes = rows() - before
        accounts = int(database.ask("SELECT count(*) FROM perch.accounts"))
        print(f"crossings: {ender.made} expiries, to 2 readers, in {seconds:.0f} s on {accounts:,} accounts: {writes / seconds:.1f} small writes a "
              f"second; must 10", flush=True)
        print(f"crossings: a purchase writes {statistics.median(alone):,.0f} bytes of the log, and {statistics.median(watched):,.0f} with readers "
              f"of all changes", flush=True)
        for node in nodes:
            node.stop()
        own, earlier = (self.subscription(perch) if perch else 0 for perch in (PERCH, self.arguments.old))
        compared = f", {own / earlier - 1:+.1%} of what the earlier version writes; must +2 %" if earlier else ""
        print(f"crossings: a first subscription writes {own:,.0f} bytes of the log{compared}", flush=True)

    def subscription(self, perch):
        """Bytes of the log for the first purchase of an account, whose end is a crossing."""
        name = f"subscription-{len(self.databases)}"
        database = self.database(name)
        database.ask("ALTER SYSTEM SET full_page_writes = off", "postgres")
        database.ask("SELECT pg_reload_conf()", "postgres")
        own, self.arguments.perch = PERCH, perch
        node = self.node(name, database.url)
        self.arguments.perch = own
        caller, found = self.caller(node), []
        for attempt in range(4):
            before = database.ask("SELECT pg_current_wal_insert_lsn()")
            for number in range(200):
                caller.get(PURCHASE, app=APP, idempotency_key=f"{attempt}-{number}".encode(), **order(f"{attempt}-{number}", MONTHLY))
            found.append(int(database.ask(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{before}')")) / 200)
        node.stop()
        # The first fill empty pages.
        return statistics.median(found[1:])

    def many(self):
        """Crossings and purchases among `--filled` accounts, against a store of a few, in turns."""
        big, small = (self.filled(name, count) for name, count in (("many", self.arguments.filled), ("few", 0)))
        seen = {}
        for store in (big, small):
            store.nodes = [self.node(f"{store.directory.name}-{name}", store.url, time_rate=HALF_MINUTES) for name in "ab"]
            store.caller, seen[store] = self.caller(store.nodes[0]), []
            for node in store.nodes:
                reader = self.caller(node)
                reader.call(READS + "AppChanges", app=APP)
                threading.Thread(target=self.note, args=(reader, seen[store]), daemon=True).start()
        print(f"many: a node is ready {big.nodes[0].ready_after:.2f} s after its start on {self.arguments.filled:,} accounts, and "
              f"{small.nodes[0].ready_after:.2f} s on a few", flush=True)
        expired = lambda: sum(frame.message.cause == EXPIRY for _, frame in seen[big] if frame and frame.kind == MESSAGE and frame.message.account)
        self.quiet_crossings(big, expired)
        quiet, beside, few = [], [], []
        for number in range(self.arguments.rounds):
            few.append(self.cost(small, f"few-{number}"))
            quiet.append(self.cost(big, f"quiet-{number}"))
            before, ender = expired(), self.ender(big, 200, 20)
            until(lambda: expired() > before, "the first of them expire")
            beside.append(self.cost(big, f"beside-{number}"))
            until(lambda: expired() >= before + 2 * ender.made, "both readers have every expiry")
        for name, found in (("on a store of a few accounts", few), ("among many accounts", quiet),
                            ("among many accounts, while ten a second expire", beside)):
            cpu, log = ([each[place] for each in found] for place in (0, 1))
            print(f"many: a purchase {name}: {statistics.median(cpu) * 1000:.2f} ms of CPU in nodes and database ({min(cpu) * 1000:.2f} to "
                  f"{max(cpu) * 1000:.2f}), {statistics.median(log):,.0f} bytes of the log", flush=True)
        more = [statistics.median(own[place] / other[place] for own, other in zip(beside, quiet)) - 1 for place in (0, 1)]
        print(f"many: a purchase while others expire, against none that do: {more[0]:+.1%} CPU, {more[1]:+.1%} log; must +2 %", flush=True)

    def cost(self, store, prefix):
        """CPU seconds and bytes of the log of one purchase: of a window with purchases, less one without, with all that goes on beside them."""
        used = [self.window(store, prefix, count) for count in (0, PURCHASES)]
        return [(more - less) / PURCHASES for less, more in zip(*used)]

    def window(self, store, prefix, count, seconds=6):
        backends = store.ask("SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE backend_type = 'client backend' "
                             "AND datname = 'perch' AND application_name <> 'psql'").split()
        cpu = lambda: sum(map(cpu_seconds, backends)) + sum(cpu_seconds(node.pid) for node in store.nodes)
        end = lambda: store.ask("SELECT pg_current_wal_insert_lsn()")
        log, before, began = end(), cpu(), time.monotonic()
        for number in range(count):
            time.sleep(max(0, began + number * seconds / count - time.monotonic()))
            store.caller.get(PURCHASE, app=APP, idempotency_key=f"{self.arguments.seed}-{prefix}-{number}".encode(),
                             **order(f"buyer-{number % 50}", COINS))
        time.sleep(max(0, began + seconds - time.monotonic()))
        return cpu() - before, int(store.ask(f"SELECT pg_wal_lsn_diff('{end()}', '{log}')"))

    def ender(self, store, count, seconds):
        """Buys subscriptions that expire half a minute later."""
        ender = Ender(SimpleNamespace(next_cycle=lambda: store.nodes[0]), count, seconds, product=MONTHLY,
                      prefix=f"ending-{self.arguments.seed}-{len(self.enders)}")
        self.enders.append(ender)
        ender.start()
        ender.join()
        return ender

    def quiet_crossings(self, store, expired):
        """While nothing but time passes: what the database has to write."""
        before = expired()
        ender = self.ender(store, self.arguments.expiries, 20)
        until(lambda: expired() > before, "the first of them expire")
        store.ask("SELECT pg_stat_statements_reset()")
        commits = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'perch'"
        first, began, crossed = int(store.ask(commits)), time.monotonic(), expired()
        until(lambda: expired() >= before + 2 * ender.made, "both readers have every expiry")
        seconds, crossed = time.monotonic() - began, expired() - crossed
        calls = dict(line.rsplit("|", 1) for line in store.ask(
            "SELECT left(query, 24), sum(calls) FROM pg_stat_statements WHERE query ~ '^(INSERT|UPDATE|DELETE)' GROUP BY 1").splitlines())
        time.sleep(1.5)  # PostgreSQL counts once a second.
        commits = int(store.ask(commits)) - first
        passed = sum(int(count) for query, count in calls.items() if query.startswith("UPDATE store SET passed"))
        print(f"many: {crossed / 2 / seconds:.1f} expiries a second for {seconds:.0f} s, to two readers: {passed / seconds:.1f} small writes a second; "
              f"must 10. All writes: " + "; ".join(f"{query}… {int(count) / seconds:.1f} a second" for query, count in calls.items())
              + f". Commits, reads included: {commits / (seconds + 1.5):.0f} a second", flush=True)

    def filled(self, name, count):
        """A store to which `count` accounts are added by SQL, each a copy of one that bought a subscription, under another number.

        Nobody reads their blobs. Half of them crossed in the last month, half cross in the next one, and all renew in the next one.
        """
        database = Database(WORK / name, settings=(
            "shared_preload_libraries=pg_stat_statements", "full_page_writes=off", "max_wal_size=8GB", "shared_buffers=1GB",
            "maintenance_work_mem=1GB"))
        self.databases.append(database)
        database.start()
        if database.is_kept:
            return database
        database.ask("CREATE EXTENSION pg_stat_statements")
        node = self.node(f"{name}-template", database.url, time_rate=HALF_MINUTES)
        self.buy(node, "template", "template", MONTHLY)
        node.stop()
        began = time.perf_counter()
        for statement in FILL if count else ():
            if database.ask(statement.format(count=count, first=1 << 40)) is None:
                raise RuntimeError(f"the database refused {statement}")
        database.ask("VACUUM ANALYZE")
        database.ask("CHECKPOINT", "postgres")
        if count:
            size = int(database.ask("SELECT pg_database_size('perch')")) / (1 << 30)
            print(f"many: {count:,} accounts filled in {time.perf_counter() - began:.0f} s, {size:.1f} GiB", flush=True)
        return database

    def sync(self):
        path, times = WORK / "sync", []
        with path.open("wb", buffering=0) as file:
            for _ in range(200):
                file.write(os.urandom(4096))
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                times.append((time.perf_counter() - began) * 1000)
        path.unlink()
        print(f"sync: median {statistics.median(times):.2f} ms, p99 {sorted(times)[197]:.2f} ms", flush=True)


def main():
    parser = trial.options(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--accounts", type=int, default=0)
    parser.add_argument("--clients", type=int, default=10_000)
    parser.add_argument("--expiries", type=int, default=400)
    parser.add_argument("--old", type=pathlib.Path)
    parser.add_argument("--only", choices=["crossings"])
    parser.add_argument("--filled", type=int, default=0)
    arguments = parser.parse_args()
    arguments.full = True
    figures = Figures(arguments)
    try:
        if arguments.filled:
            figures.many()
            return
        if arguments.only:
            figures.crossings()
            return
        figures.sync()
        if arguments.accounts:
            figures.scale()
            return
        figures.lag()
        figures.rates()
        figures.crossings()
    finally:
        figures.close()


if __name__ == "__main__":
    main()
