"""What long queues of the App Store cost. A measurement, and no test: `run --long [--customers N] [--seconds N]`.

Each customer has a subscription whose end was not reported, and an account token that the App Store is to be told. Measured are the memory, the
processor time of the store's thread and of the reconciler's, and pushes of a test app beside it: without a key, while the settings hold
the tokens back, and while the App Store answers. Ends only what it started.
"""
import json
import multiprocessing
import pathlib
import signal
import tempfile
import threading
import time
import uuid

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from appstore import DAY, AppStore, now
from beside import APP, app_store, measured, p99
from chains import Chain
from expectations import expect
from server import Server
from shop import BUNDLE, trust
from trial import PERCH, SAMPLE, options
from waiting import PATIENCE_SECONDS, until

ASKED = {"bundleId": BUNDLE, "environment": "ENVIRONMENT_SANDBOX"}
TICKS = 100


def processor_seconds(server):
    """Of each thread, by its name."""
    found = {}
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        words = (task / "stat").read_text().rpartition(")")[2].split()
        name = (task / "comm").read_text().strip()
        found[name] = found.get(name, 0) + (int(words[11]) + int(words[12])) / TICKS
    return found


def fill(server, apple, count):
    began, wrong, lock = time.time(), [], threading.Lock()
    numbers = iter(range(count))

    def work():
        connection = server.connect()
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            value = apple.transaction(1_000_000 + 10 * number, begin=now() - 40 * DAY, signed=now() - 40 * DAY)
            status, answer = server.post("/perch.v1.IngestService/SubmitTransaction", {
                "app": ASKED, "account": str(uuid.UUID(int=number + 1)), "signedValues": [apple.sign(value)]}, connection=connection)
            if status != 200:
                wrong.append(answer)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expect(not wrong, f"{len(wrong)} were refused, the first: {wrong[:1]}")
    print(f"apple: {count} customers in {time.time() - began:.0f} s", flush=True)


def main():
    parser = options(__doc__)
    parser.add_argument("--customers", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--pushes", type=int, default=500)
    given = parser.parse_args()
    port, counted, answers = multiprocessing.Queue(), multiprocessing.Value("Q", 0), multiprocessing.Event()
    store = multiprocessing.Process(target=app_store, args=(port, counted, answers), daemon=True)
    store.start()
    answers.set()
    url = f"http://127.0.0.1:{port.get(timeout=PATIENCE_SECONDS)}"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        chain = Chain()
        apple = AppStore(BUNDLE, chain=chain)
        key = directory / "AuthKey.p8"
        key.write_bytes(ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        key.chmod(0o600)
        api = {"key": "AuthKey.p8", "key_id": "KEY", "issuer_id": "issuer", "base_url": url}
        with Server(PERCH, SAMPLE, directory / "store.db", directory / "server.log", "--environment", "sandbox", bundle=BUNDLE, time_rate=None) as made:
            made.start()
            made.stop()
        trust(directory, chain, leeway_minutes=2, server_api=api | {"set_account_tokens": True, "base_url": "http://127.0.0.1:1"})
        with Server(PERCH, SAMPLE, directory / "store.db", directory / "server.log", "--environment", "xcode", "--add-app", "--allow-mixed-environments",
                    "--apple-apps", directory / "apple.json", bundle=APP["bundleId"], http=True) as server:
            server.start()
            fill(server, apple, given.customers)
            updates = lambda state: server.metrics().get(f'perch_app_store_updates{{state="{state}"}}', 0)
            for kind, more in (("without a key", None), ("held back", {}), ("told", {"set_account_tokens": True})):
                trust(directory, chain, leeway_minutes=2, **({"server_api": api | more} if more is not None else {}))
                began = time.time()
                server.signal(signal.SIGHUP)
                if kind == "held back":
                    until(lambda: updates("held") == given.customers, lambda: f"all {given.customers} are found, not {updates('held')}")
                    print(f"apple: all {given.customers} were found after {time.time() - began:.1f} s", flush=True)
                time.sleep(2)
                before, requests, began = processor_seconds(server), counted.value, time.time()
                times = measured(server, kind.replace(" ", "-"), given.pushes)
                time.sleep(max(0, given.seconds - (time.time() - began)))
                took, spent = time.time() - began, processor_seconds(server)
                share = {name: 100 * (spent[name] - before.get(name, 0)) / took for name in ("perch-store", "perch-reconcile", "perch-sender") if name in spent}
                print(f"apple: {kind}: " + ", ".join(f"{name} {value:.1f} %" for name, value in share.items())
                      + f" of a core, {server.memory() >> 20} MiB, {(counted.value - requests) / took:.1f} requests a second, p50 {times[len(times) // 2]:.2f} ms, "
                      f"p99 {p99(times):.2f} ms of {given.pushes} pushes, {updates('waiting'):.0f} are known to wait", flush=True)
    store.terminate()


if __name__ == "__main__":
    main()
