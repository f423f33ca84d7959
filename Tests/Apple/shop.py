"""A server with an app of the App Store, as the trials of this folder start and call it."""
import json

from server import Server
from trial import PERCH, SAMPLE

BUNDLE, DAY = "app.perch.sample", 86_400_000
APP = {"bundleId": BUNDLE, "environment": "ENVIRONMENT_SANDBOX"}


def trust(directory, *chains, bundle=BUNDLE, **more):
    """Writes apple.json, by which a server believes these chains."""
    names = [f"root{number}.pem" for number in range(len(chains))]
    for name, chain in zip(names, chains):
        (directory / name).write_bytes(chain.pem)
    (directory / "apple.json").write_text(json.dumps({"apps": [{"bundle_id": bundle, "environment": "sandbox", "roots": names, **more}]}))


class Shop(Server):
    """Its directory has an apple.json: see `trust`."""

    def __init__(self, directory, *more, store=None, catalog=SAMPLE, bundle=BUNDLE, **options):
        self.directory = directory
        super().__init__(PERCH, catalog, store or directory / "store.db", directory / "server.log", "--environment", "sandbox", "--apple-apps",
                         directory / "apple.json", *more, bundle=bundle, time_rate=None, apple=True, **options)

    def notify(self, body, path="/apple/notifications", method="POST", port=None, connection=None):
        """As Apple posts; status and answer."""
        return self.post(path, body, port or self.apple_port, method, {"content-type": "application/json; charset=utf-8"}, connection)
