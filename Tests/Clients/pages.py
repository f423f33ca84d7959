"""The Python client as its users get it: its package in empty environments, and its page pasted and run."""
import contextlib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from certificates import Authority
from server import Server
from waiting import PATIENCE_SECONDS, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "proto" / "clients" / "python"
BUILD = ROOT / ".build" / "clients"
WHEEL = BUILD / "perch_client-0.1.0-py3-none-any.whl"
# The versions of protobuf that a backend may have beside it.
BESIDE = {"protobuf 4": "protobuf==4.25.8", "protobuf 6": "protobuf==6.33.5", "protobuf 7": "protobuf==7.36.2"}
PIP = [ROOT / ".build" / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
BLOCK = re.compile(r"(?:<!-- (\w+) -->\n)?```(python|sh)\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.S)


def run(*command, **options):
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE_SECONDS, **options)
    assert ended.returncode == 0, f"{' '.join(map(str, command))[:200]} ended with {ended.returncode}: {ended.stderr[-2_000:]}"
    return ended.stdout


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def packages(row):
    """Builds the package in each way."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with row("the wheel and the source distribution are built offline, with the same bytes in each way"):
        run("make", "-s", "-C", ROOT, "clients")
        with tempfile.TemporaryDirectory() as folder:
            run(*PIP, "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", folder, PYTHON)
            assert digest(f"{folder}/{WHEEL.name}") == digest(WHEEL), "pip wheel makes other bytes than make clients"
            sdist = BUILD / "perch_client-0.1.0.tar.gz"
            run(*PIP, "wheel", "-q", "--no-index", "--no-deps", "-w", f"{folder}/of-sdist", sdist)
            assert digest(f"{folder}/of-sdist/{WHEEL.name}") == digest(WHEEL), "the source distribution makes another wheel"


def unit_tests(row):
    with row("its unit tests pass"):
        run(sys.executable, "-W", "error::ResourceWarning", "-m", "unittest", "-b", cwd=PYTHON,
            env={**os.environ, "PYTHONPATH": "src"})


def environment(beside):
    """An environment with the wheel and one other package."""
    package = BESIDE[beside]
    folder = BUILD / f"venv-{beside.replace(' ', '-')}"
    python = folder / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", "--without-pip", folder)
    if not list(folder.glob(f"lib/*/site-packages/{package.replace('==', '-')}.dist-info")):
        run(*PIP, "--python", python, "install", "-q", package)
    run(*PIP, "--python", python, "install", "-q", "--no-index", "--no-deps", "--force-reinstall", WHEEL)
    names = run(python, "-c", "import importlib.metadata as m; print(sorted(d.name for d in m.distributions()))").strip()
    assert names == str(["perch-client", package.split("==")[0]]), f"the environment has {names}"
    return python


def page(row, perch, beside=None):
    """Each block of README.md, in its order. Beside another package, that environment stands for the one of the page."""
    with row("each block of its page runs" + (f" beside {beside}" if beside else "")), tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        python = environment(beside) if beside else work / "venv" / "bin" / "python"
        # As .ci/serve: the app is that of the sample. Time is real, so that no trial renews between two programs of the page.
        server = Server(perch, ROOT / "deploy" / "sample.storekit", work / "store", work / "server.log", bundle=None, loops=1)
        server.start()
        with contextlib.ExitStack() as stack:
            stack.callback(server.kill)
            followed = None
            for mark, language, text, expected in BLOCK.findall((PYTHON / "README.md").read_text()):
                if mark == "server":
                    continue
                if language == "sh":
                    if not beside:
                        install(text, work)
                    continue
                name = re.match(r"# (\w+\.py)\n", text)[1]
                (work / name).write_text(text.replace("127.0.0.1:7447", f"127.0.0.1:{server.port}"))
                if name == "watch.py":
                    followed = stack.enter_context(Followed(python, work / name)), expected
                    followed[0].until(expected.splitlines()[:1])
                    continue
                shown = run(python, name, cwd=work, env={**os.environ, "PYTHONPATH": ""})
                assert shown == expected, f"{name} showed {shown!r}, not {expected!r}"
                if name == "buy.py":
                    followed[0].until(followed[1].splitlines()[:2])
            followed[0].until(followed[1].splitlines())
            if not beside:
                encrypted(row, perch, python, work)


ENCRYPTED = """
import ssl, sys, perch
with perch.connect(sys.argv[1], ssl_context=ssl.create_default_context(cafile=sys.argv[2])) as client:
    granted = client.call.grant_entitlement(account="alice", name="plus")
    copy = client.copy()
    copy.wait_ready(300)
    print(client.has("alice", "plus"), next(client.watch.entitlements("alice")).value.entitlements[0].active, copy.has("alice", "plus"))
"""


def encrypted(row, perch, python, work):
    with row("the wheel speaks TLS with an authority of one's own"):
        authority = Authority(work)
        certificate, key = authority.sign("server", names="DNS:localhost")
        with Server(perch, ROOT / "deploy" / "sample.storekit", "memory", work / "tls.log", "--tls-certificate", certificate, "--tls-key", key,
                    bundle=None, time_rate=None, loops=1) as server:
            server.start()
            (work / "encrypted.py").write_text(ENCRYPTED)
            shown = run(python, "encrypted.py", f"https://localhost:{server.port}", authority.pem(authority.name), cwd=work)
            assert shown == "True True True\n", shown


def install(text, work):
    """The block that builds and installs, as a reader pastes it at the top of the repository; its environment is a temporary one."""
    script = text.replace("-m venv venv", f"-m venv {work}/venv").replace("\nvenv/", f"\n{work}/venv/")
    run("bash", "-e", "-c", script, cwd=ROOT, env={**os.environ, "PIP_NO_INDEX": "1"})


class Followed:
    """A program of the page that runs beside the others."""

    def __init__(self, python, path):
        self.lines = []
        self.process = subprocess.Popen([python, path.name], cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def until(self, lines):
        """Waits for the last of these lines. A watch that is late skips what is no longer true."""
        until(lambda: self.lines[-1:] == lines[-1:] or self.process.poll() is not None, lambda: f"{lines}; it showed {self.lines}")
        wanted = iter(lines)
        assert self.lines[-1:] == lines[-1:] and all(line in wanted for line in self.lines), f"it showed {self.lines}, not {lines}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
