"""A Swift package outside of this repository that uses the client. See `run`."""
import argparse
import pathlib
import re
import subprocess
import sys

from checks import check, equal, summary
from trial import WORK

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PAGES = [ROOT / "Sources/PerchClient/PerchClient.docc" / name for name in ("GettingStarted.md", "Copy.md")]
# As strict as a package can be.
STRICT = ["-swift-version", "6", "-warnings-as-errors", "-enable-upcoming-feature", "ExistentialAny",
          "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility"]
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]
let package = Package(
    name: "outside",
    dependencies: [.package(name: "perch", path: "%s")],
    targets: [
        .target(name: "Crypto", swiftSettings: strict),
        .executableTarget(
            name: "Outside",
            dependencies: [
                "Crypto", .product(name: "PerchClient", package: "perch"),
                .product(name: "PerchClientTesting", package: "perch"),
            ], swiftSettings: strict),
    ])
"""


def page():
    """The Swift blocks of the pages, in one file: their imports come first."""
    pages = "\n".join(each.read_text() for each in PAGES)
    blocks = re.findall(r"^```swift\n(.*?)^```$", pages, re.MULTILINE | re.DOTALL)
    text = "\n".join(blocks)
    imports = sorted(set(re.findall(r"^import \w+$", text, re.MULTILINE)))
    return "\n".join(imports) + "\n\n" + re.sub(r"^import \w+\n", "", text, flags=re.MULTILINE)


def public_types():
    """The public types of the client, by name."""
    declaration = re.compile(r"^public (?:final )?(?:struct|enum|class|protocol|actor) (\w+)", re.MULTILINE)
    found = set()
    for folder in ("PerchClient", "PerchClientTesting"):
        for path in (ROOT / "Sources" / folder).rglob("*.swift"):
            found.update(declaration.findall(path.read_text()))
    return found


def write():
    package = WORK / "outside"
    for name in ("Crypto", "Outside"):
        (package / "Sources" / name).mkdir(parents=True)
    (package / "Package.swift").write_text(MANIFEST % ROOT)
    (package / "Sources/Crypto/Digest.swift").write_text(
        "/// As in swift-crypto.\npublic struct Digest: Sendable {\n    public let bytes: [UInt8]\n"
        "    public init(_ bytes: [UInt8]) { self.bytes = bytes }\n}\n")
    (package / "Sources/Outside/GettingStarted.swift").write_text(page())
    for source in ("Types.swift", "Main.swift"):
        (package / "Sources/Outside" / source).write_text((HERE / (source + ".txt")).read_text())
    return package


def run(command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
    return done


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--seed")
    full = arguments.parse_args().full
    package = write()
    sources = sorted(str(path) for path in (package / "Sources/Outside").glob("*.swift"))
    with check("the package names each public type of the client"):
        text = "\n".join(pathlib.Path(source).read_text() for source in sources)
        equal(sorted(name for name in public_types() if not re.search(rf"\b{name}\b", text)), [])
    modules = ROOT / ".build/debug/Modules"
    with check("a module called Crypto with a Digest compiles beside it"):
        equal(run(["swiftc", *STRICT, "-parse-as-library", "-emit-module", "-module-name", "Crypto", "-emit-module-path",
                   str(WORK / "Crypto.swiftmodule"), str(package / "Sources/Crypto/Digest.swift")]).returncode, 0)
    maps = [flag for path in sorted((ROOT / "Sources").glob("C*/include")) if generated(path)
            for flag in ("-Xcc", f"-fmodule-map-file={generated(path)}", "-Xcc", f"-I{path}")]
    with check("the page and the package compile without a warning"):
        equal(run(["swiftc", *STRICT, "-typecheck", "-parse-as-library", "-module-name", "Outside", "-I", str(modules), "-I",
                   str(WORK), *maps, *sources]).returncode, 0)
    if full:
        with check("SwiftPM builds the package, and its tests pass without a server"):
            equal(run(["swift", "run", "--package-path", str(package), "Outside"]).returncode, 0)
    sys.exit(summary("client-package"))


def generated(include):
    """The module map of a C target: its own, or SwiftPM's."""
    own = include / "module.modulemap"
    made = ROOT / f".build/debug/{include.parent.name}.build/module.modulemap"
    return own if own.exists() else made if made.exists() else None


main()
