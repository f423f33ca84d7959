"""Runs the examples of "Call Perch from any client" in proto/README.md, as they stand on the page.

    page.py [EXAMPLE…]        without a name all

An example is a file, the commands that build it, and the command that runs it. It must show a purchase that is made while it
runs. The browser's page is opened by live.py.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import stubs
from checks import check, summary
from server import Server
from trial import PERCH, SAMPLE

PAGE = stubs.PROTO / "README.md"
PORT = 17447  # in place of 7447, which a server of the developer may have; the same each time, for it is compiled into programs
EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```\n(?:```sh\n(.*?)```\n)?", re.S)
LINES_MAX = 20  # of a program, about ten without imports and braces


def examples():
    """By name: the program, and its commands. An example without a program is its commands."""
    text = PAGE.read_text().replace("127.0.0.1:7447", f"127.0.0.1:{PORT}")
    return {name: (program, commands) if "." in name else ("", program) for name, program, commands in EXAMPLE.findall(text)}


def commands_of(script):
    """The commands of a script, each with its continued lines."""
    return [command for command in re.split(r"(?<!\\)\n", script) if command]


def swift(directory, program):
    """A package that depends on this one, as README.md says."""
    (directory / "Sources/live").mkdir(parents=True, exist_ok=True)
    (directory / "Sources/live/main.swift").write_text(program)
    (directory / "Package.swift").write_text(f"""// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "live", dependencies: [.package(name: "perch", path: "{stubs.ROOT}")], targets: [
    .executableTarget(name: "live", dependencies: [.product(name: "PerchClient", package: "perch")])])
""")
    return "swift build 2>&1\n.build/debug/live\n"


def built(name, program, script):
    """Builds an example if it has changed. Returns the command that runs it, and its directory."""
    directory = stubs.BUILD / "page" / name
    digest = hashlib.sha256(("\0".join([name, program, script])).encode())
    for path in sorted((stubs.PROTO / "perch/v1").glob("*.proto")):
        digest.update(path.read_bytes())
    stamp = directory / "stamp"
    is_new = not stamp.exists() or stamp.read_text() != digest.hexdigest()
    if is_new and name != "main.swift":
        shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    if name == "main.swift":
        script = swift(directory, program)
    elif is_new:
        (directory / "proto").symlink_to(stubs.PROTO)
        if program:
            (directory / name).write_text(program)
    *before, last = commands_of(script)
    if not program:
        return script, directory
    if is_new or name == "main.swift":
        stubs.run("bash", "-ec", "\n".join(before), cwd=directory, env=environment())
        stamp.write_text(digest.hexdigest())
    exports = [command for command in before if command.startswith("export ")]
    return "\n".join([*exports, f"exec stdbuf -oL {last}"]), directory


def environment():
    return os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "GOCACHE": stubs.GO["GOCACHE"]}


def stop(process):
    """Ends an example with what it started: it leads a process group of its own."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait()


def shows(name, program, script, buy):
    """An example shows the purchase that is made while it runs."""
    command, directory = built(name, program, script)
    process = subprocess.Popen(["bash", "-ec", command], cwd=directory, env=environment(), stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    lines, changed = [], threading.Condition()

    def read():
        for line in process.stdout:
            with changed:
                lines.append(line)
                changed.notify_all()

    threading.Thread(target=read, daemon=True).start()
    try:
        time.sleep(1)
        buy()
        with changed:
            changed.wait_for(lambda: re.search("subscribed", "".join(lines), re.I) or process.poll() is not None, 30)
        assert re.search("subscribed", "".join(lines), re.I), f"it showed only {''.join(lines)[-1500:]!r}"
        return "".join(lines)
    finally:
        stop(process)


def main(names):
    found = examples()
    assert len(found) >= 9, f"the page has only {sorted(found)}"
    for name in names or found:
        program, script = found[name]
        if name.endswith(".html"):
            continue
        with check(f"page: {name} shows a purchase"), tempfile.TemporaryDirectory() as work:
            used = len([line for line in program.splitlines() if line])
            assert used <= LINES_MAX, f"{used} lines"
            with Server(PERCH, SAMPLE, "memory", pathlib.Path(work) / "server.log", port=PORT) as server:
                server.start()
                shown = shows(name, program, script, lambda: server.run("store", "buy", "alice", "app.perch.plus.monthly"))
            if name == "curl":
                assert shown.count('"success"') >= 3, f"not every command answered: {shown!r}"
            if name == "grpcurl":
                assert "perch.v1.EntitlementService" in shown, shown


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.exit(summary("page"))
