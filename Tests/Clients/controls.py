"""Defects of the Python client, each with the row of the table that must fail with it: `Tests/Clients/run --control`."""
import pathlib
import shutil
import sys
import tempfile
import threading

import cases
import copies

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "proto" / "clients" / "python" / "src"
FIRST = "a call is answered before the story"
# File, text, the text in its place, story, row.
DEFECTS = [
    ("_streams.py", "self.request.replace(resume_token=self.info.resume_token, at_least=None)", "self.request",
     cases.restarts, "kill -9: a value that has not changed is not repeated"),
    ("_streams.py", "            return None\n        changed = False", "        changed = False",
     cases.restarts, "kill -9: values that agree come together"),
    ("_streams.py", "self.cursor, self._pending = self._pending, None", "self._pending = None",
     cases.restarts, "kill -9: no event is left out or repeated"),
    ("_core.py", "request = request.replace(idempotency_key=secrets.token_bytes(16))", "pass",
     cases.lost_answers, "a purchase whose answer is lost is repeated with its key, and happens once"),
    ("_core.py", "if is_doubtful and changes and not method.is_keyed:", "if False:",
     cases.lost_answers, "a change without a key is sent once: `may_have_happened`"),
    ("_core.py", "if not isinstance(error, TransientError) or attempt", "if attempt",
     cases.calls, "a final error has its reason and its details, and is not repeated"),
    ("_http.py", "is_passing = code == Code.UNAVAILABLE or status >= 500", "is_passing = False",
     cases.lost_answers, "the 502 of a proxy is repeated"),
    ("credentials.py", "if self._read[0] != mark:", "if self._read[0] is None:",
     cases.credentials, "renewed credentials: the file is read again, and a watch goes on without a repeated value"),
    ("_entries.py", "> (ms + offset if runs else offset)\n", "> (ms + offset if runs else offset) - 500\n",
     copies.copies_by_time, "copy: a segment ends by itself while the network is cut, within 100 ms"),
    ("_entries.py", "            self._set_clock(batch.clock, ms)", "            pass",
     copies.copies_by_time, "copy: the app's clock was moved forward and stands still"),
    ("_entries.py", "if alias not in kept and aliases.get(alias) == key:", "if False:",
     copies.copies_of_the_app_store, "copy: an alias that is attached is a key of the account, a UUID in any case"),
    ("_entries.py", "if count > 1 and (found := shard_of(account, count)) != index:", "if (found := 0):",
     copies.copies, "copy: two shards have each account once"),
    ("_entries.py", "            raise unknown_name(name, sorted(table.names), \"the copy\")", "            return set()",
     copies.copies, "copy: an unknown name is an error with the names that there are"),
    ("_entries.py", "offset, runs, ms + int(self._deny_after * 1_000)", "offset, runs, NEVER",
     copies.copies_in_files, "copy: `deny_after`: without a word for too long, every answer is no"),
]


class Rows(dict):
    """Ends the agent when the wanted row has failed, so that what would wait for ever does not."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.trial, self.is_found = wanted, None, False

    def __setitem__(self, row, held):
        super().__setitem__(row, held)
        if row == self.wanted and held != "holds":
            self.is_found = self.get(FIRST) == "holds" and self.trial.agent.process.poll() is None
            self.trial.agent.process.kill()


def control(perch, catalog, prepare, defect, kind):
    """Whether the row fails with the defect, and not because nothing works: a call was answered before, and the agent runs."""
    file, text, planted, story, row = defect
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCES, pathlib.Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
        path = pathlib.Path(folder) / "src" / "perch" / file
        source = path.read_text()
        assert source.count(text) == 1, f"{file} has {text!r} {source.count(text)} times"
        path.write_text(source.replace(text, planted))
        rows = Rows(row)
        command = ["env", f"PYTHONPATH={folder}/src", sys.executable, HERE / "agent.py", kind, "installed"]
        trial = rows.trial = cases.Trial(perch, catalog, folder, command)
        prepare(trial, rows)
        try:
            trial.server.start()
            with trial.row(FIRST):
                trial.client().call("GetClock")
            story(trial)
        except Exception as error:  # Where the row has failed, the agent was ended in the middle of the story.
            if not rows.is_found:
                print(f"{story.__name__}, {kind}: {type(error).__name__}: {error}", flush=True)
        finally:
            trial.agent.process.kill()
            trial.server.kill()
    return rows.is_found


def play(perch, catalog, prepare):
    """All defects, two at a time. Answers those that no row found."""
    waiting, missed, lock = [(defect, kind) for kind in ("threads", "asyncio") for defect in DEFECTS], [], threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                defect, kind = waiting.pop(0)
            found = False
            try:
                found = control(perch, catalog, prepare, defect, kind)
            finally:
                print(f"{'found ' if found else 'MISSED'}  {kind}, {defect[0]}: {defect[1].strip()[:60]!r}: {defect[4]}", flush=True)
                if not found:
                    missed.append(defect)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return missed
