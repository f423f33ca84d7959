"""Random lives of customers: whatever the test store signs about them, Apple's library decodes to what the test store says.

    lives.py [--lives N] [--seed N]

`modelcheck` draws what happens to the customers of a store: purchases, renewals, failures, refunds, sharing, settings. A customer who bought
something is a life. Its values come from the App Store Server API, and are verified with online checks and strict.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from appstoreserverlibrary.models.Environment import Environment

import expectations
from decoded import compared
from expectations import conclude, expect
from rehearsal import Twin
from replay import earlier
from trial import PERCH, options

ACTIONS = 40


def drawn(number, scenario):
    """Writes a random scenario, without what the language refuses, such as buying nothing."""
    program = os.environ.get("MODELCHECK") or pathlib.Path(PERCH).with_name("modelcheck")
    lines = subprocess.run([program, "write", str(number), str(ACTIONS)], check=True, capture_output=True, text=True).stdout.splitlines()
    while True:
        scenario.write_text("\n".join(lines) + "\n")
        said = subprocess.run([PERCH, "scenario", "check", str(scenario)], capture_output=True, text=True)
        wrong = {int(line) for line in re.findall(r"\.scenario:(\d+):\d+: error", said.stdout + said.stderr)}
        if not wrong:
            return
        lines = [line for place, line in enumerate(lines, 1) if place not in wrong]


def live(number, directory):
    scenario = directory / f"life-{number}.scenario"
    drawn(number, scenario)
    played, catalogue = earlier(scenario, directory)
    with Twin(directory, "--clock", "2010-01-01", catalogue=catalogue, time_rate=None) as twin:
        twin.start()
        said = twin.run("scenario", "run", str(played), "--quiet")
        expect(said.returncode == 0, f"life {number}: {said.stdout}{said.stderr}")
        expect("code" not in twin.call("Configure", settings=[{"reset": True}]), "settings are reset")
        client, verifier = twin.client(Environment.LOCAL_TESTING), twin.verifier()
        groups = twin.call("GetCatalog").get("groupIds", [])
        count = accounts = 0
        for account in twin.call("ListAccounts").get("accounts", []):
            values, wrong = compared(twin, client, verifier, account, groups)
            count, accounts = count + values, accounts + (values > 0)
            expect(not wrong, f"life {number}: " + "\n    ".join(wrong[:3]))
        return accounts, count


def main():
    parser = options(__doc__)
    parser.add_argument("--lives", type=int, default=5)
    given = parser.parse_args()
    lives = values = stores = 0
    while lives < given.lives and len(expectations.failures) < 20:
        with tempfile.TemporaryDirectory() as directory:
            found = live(given.seed + stores, pathlib.Path(directory))
            lives, values, stores = lives + found[0], values + found[1], stores + 1
    print(f"twin: {lives} random lives in {stores} stores, {values} signed values compared, seed {given.seed}")
    conclude("lives")


main()
