"""The backend of deploy/rehearsal.md, as it stands on the page, and the commands of the page."""
import re
import shlex
import sys
import time

from expectations import conclude, expect
from rehearsal import BUNDLE, Twin, plain
from server import Process
from trial import ROOT, WORK
from waiting import PATIENCE_SECONDS, free_port

PAGE = (ROOT / "deploy/rehearsal.md").read_text()


def main():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    lines = [line for line in code.splitlines() if line.strip()]
    expect(len(lines) <= 45, f"the backend has {len(lines)} lines")
    (WORK / "backend.py").write_text(code)
    commands = re.findall(r"^perch (store .*)$", PAGE, re.M)
    spoils = [command for command in commands if command.startswith("store mishap")]
    clock = [command for command in commands if command.startswith("store clock")]
    commands = [command for command in commands if command not in spoils + clock]
    expect((len(commands), len(clock), len(spoils)) == (3, 2, 6), f"the page has {commands} {clock} {spoils}")
    (scenario,) = re.findall(r"```\n(catalog .*?)```", PAGE, re.S)
    (WORK / "mishaps.scenario").write_text(scenario)
    (WORK / "Shop.storekit").write_bytes((ROOT / "deploy/sample.storekit").read_bytes())
    port = free_port()
    with Twin(WORK, "--twin-notify", f"http://127.0.0.1:{port}/notifications") as twin:
        twin.start()
        settings = dict(re.findall(r"^export (\w+)=(.*)$", twin.run_here("twin", WORK / "twin", "--app", BUNDLE).stdout, re.M))
        named = set(re.findall(r"`((?:HTTPS_PROXY|REQUESTS_CA_BUNDLE|APPLE_\w+))`", PAGE))
        expect(named == set(settings), f"the page names {named}, the command prints {set(settings)}")
        backend = Process([sys.executable, WORK / "backend.py"], WORK / "backend.log",
                          {name: shlex.split(value)[0] for name, value in settings.items()} | {"PORT": str(port)})
        backend.spawn()
        try:
            def states():
                return twin.post("/states", None, port=port, method="GET", headers={})[1]

            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                try:
                    found = states()
                    break
                except ConnectionRefusedError:
                    expect(backend.runs and time.monotonic() < deadline, f"the backend ended: {backend.lines[-5:]}")
                    if not backend.runs:
                        return conclude("the page")
                    time.sleep(0.1)
            expect(found == {}, f"nobody bought: {found}")
            wanted = ["ACTIVE", "ACTIVE", "REVOKED"]
            for command, state in zip(commands, wanted):
                said = twin.run(*shlex.split(command))
                expect(said.returncode == 0, f"{command}: {said.stdout}{said.stderr}")
                found = states()
                expect(list(found.values()) == [state], f"after {command}: {found}, {backend.lines[-5:]}")
            for command in clock + spoils:
                said = twin.run(*shlex.split(command))
                expect(said.returncode == 0, f"{command}: {said.stdout}{said.stderr}")
            said = twin.run("scenario", "run", str(WORK / "mishaps.scenario"))
            expect(said.returncode == 0, f"the scenario of the page: {said.stdout}{said.stderr}")
            orders = re.findall(r"-d '(.*?)' http://127.0.0.1:7450/mishaps", PAGE)
            expect(len(orders) == 2, f"the page has {orders}")
            for order in orders:
                answer = plain("POST", twin.twin_port, "/mishaps", data=order, headers={"content-type": "application/json"})
                expect(answer.status_code == 202, f"{order}: {answer.text}")
        finally:
            backend.kill()
    conclude("the page")


main()
