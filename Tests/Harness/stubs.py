"""Generated code and programs of other languages, made once in .build/interop, and again after a change of their sources."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROTO = ROOT / "proto"
BUILD = ROOT / ".build/interop"
FILES = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "perch/v1").glob("*.proto"))
# Debian's grpc-java leaves these jars to its users.
JARS = ["grpc-api", "grpc-context", "grpc-core", "grpc-netty", "grpc-protobuf", "grpc-protobuf-lite", "grpc-stub", "protobuf",
        "guava", "perfmark-api", "geronimo-annotation-1.3-spec", "netty-buffer", "netty-codec", "netty-codec-http",
        "netty-codec-http2", "netty-common", "netty-handler", "netty-resolver", "netty-transport"]
CLASSPATH = ":".join(f"/usr/share/java/{jar}.jar" for jar in JARS)
GO = {"GO111MODULE": "off", "GOPATH": f"{BUILD}/go:/usr/share/gocode", "GOCACHE": f"{BUILD}/go-cache", "GOFLAGS": ""}


def run(*command, **more):
    made = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert made.returncode == 0, f"{' '.join(map(str, command[:4]))} …: {(made.stdout + made.stderr)[-3000:]}"
    return made.stdout


def made_once(name, sources, make):
    """Runs `make(directory)` if the sources, or this file, have changed since. Returns the directory."""
    digest = hashlib.sha256()
    for path in [pathlib.Path(__file__), *(PROTO / file for file in FILES), *sources]:
        digest.update(path.read_bytes())
    directory = BUILD / name
    stamp = directory / "stamp"
    BUILD.mkdir(parents=True, exist_ok=True)
    # Two trials may want it at once.
    with open(BUILD / (name.replace("/", "-") + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != digest.hexdigest():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            make(directory)
            stamp.write_text(digest.hexdigest())
    return directory


def descriptors():
    """The descriptor set of the contract and its wire."""
    def make(directory):
        files = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "perch").rglob("*.proto"))
        run("protoc-c", "-I.", "--include_imports", f"--descriptor_set_out={directory / 'perch.binpb'}", *files, cwd=PROTO)
    return made_once("descriptors", sorted((PROTO / "perch/wire").rglob("*.proto")), make) / "perch.binpb"


def python():
    """A directory with the contract's Python, for grpcio."""
    def make(directory):
        run(sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", f"--python_out={directory}",
            f"--grpc_python_out={directory}", *FILES, cwd=PROTO)
    return made_once("python", [], make)


def go(name, sources):
    """A program of Debian's grpc-go, which has the generator of its time."""
    def stubs(directory):
        run("protoc", "-I.", f"--go_out=plugins=grpc:{directory}", *FILES, cwd=PROTO)
    made_once("go/src", [], stubs)

    def make(directory):
        package = BUILD / "go/src" / name
        package.mkdir(exist_ok=True)
        for source in sources:
            shutil.copy(source, package)
        run("go", "build", "-o", directory / name, name, env=os.environ | GO)
    return made_once(f"programs/{name}", sources, make) / name


def java(name, sources):
    """The command that runs a class of Debian's grpc-java."""
    def stubs(directory):
        run("protoc", "-I.", f"--java_out={directory}", f"--grpc-java_out={directory}",
            "--plugin=protoc-gen-grpc-java=/usr/bin/grpc_java_plugin", *FILES, cwd=PROTO)
        run("javac", "-nowarn", "-cp", CLASSPATH, "-d", directory / "classes", *directory.rglob("*.java"))
    contract = made_once("java", [], stubs) / "classes"

    def make(directory):
        run("javac", "-nowarn", "-cp", f"{CLASSPATH}:{contract}", "-d", directory, *sources)
    classes = made_once(f"programs/java-{name}", sources, make)
    return ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{CLASSPATH}:{contract}:{classes}", name]


if __name__ == "__main__":
    print(descriptors())
