"""Builds the wheel and the source distribution with Python alone: the backend that pyproject.toml names.

    python3 backend/perch_build.py FOLDER        writes both into FOLDER, as `make clients` does

The same sources make the same bytes. SOURCE_DATE_EPOCH dates the files inside; without it they are of 1980.
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
EARLIEST = 315_532_800  # 1980: the first year of ZIP.


def project():
    """The simple values of [project] in pyproject.toml; Python before 3.11 has no parser of its own."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.M))


PROJECT = project()
NAME, VERSION = PROJECT["name"].replace("-", "_"), PROJECT["version"]
WHEEL = f"{NAME}-{VERSION}-py3-none-any.whl"


def license_text():
    """Beside this project in a source distribution, at the top of the repository otherwise."""
    for folder in (ROOT, *ROOT.parents):
        if (folder / "LICENSE").is_file():
            return (folder / "LICENSE").read_bytes()
    raise FileNotFoundError(f"there is no LICENSE in {ROOT} or above it")


def metadata():
    head = [
        "Metadata-Version: 2.4",
        f"Name: {PROJECT['name']}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {PROJECT['requires-python']}",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return ("\n".join(head) + "\n\n").encode() + (ROOT / "README.md").read_bytes()


def moment():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)), EARLIEST)


def package(folder):
    """The files of a folder by their names, without what Python leaves behind."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.suffix in (".py", ".typed", ".toml", ".md")
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    }


def info():
    return {
        "METADATA": metadata(),
        "WHEEL": b"Wheel-Version: 1.0\nGenerator: perch_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "licenses/LICENSE": license_text(),
    }


def write_wheel(folder, files):
    """A wheel with these files and the metadata."""
    inside = f"{NAME}-{VERSION}.dist-info"
    files = {**files, **{f"{inside}/{name}": data for name, data in info().items()}}
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for name, data in files.items()
    ]
    files[f"{inside}/RECORD"] = ("\n".join(record) + f"\n{inside}/RECORD,,\n").encode()
    with zipfile.ZipFile(pathlib.Path(folder) / WHEEL, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(moment())[:6])
            entry.external_attr, entry.compress_type, entry.create_system = 0o100644 << 16, zipfile.ZIP_DEFLATED, 3
            wheel.writestr(entry, data)
    return WHEEL


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, package(ROOT / "src"))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {f"{NAME}.pth": f"{ROOT / 'src'}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    top = f"{NAME}-{VERSION}"
    files = {f"{top}/{name}": data for name, data in package(ROOT).items()}
    files[f"{top}/LICENSE"], files[f"{top}/PKG-INFO"] = license_text(), metadata()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), moment(), 0o644
            archive.addfile(entry, io.BytesIO(data))
    with (
        open(pathlib.Path(sdist_directory) / f"{top}.tar.gz", "wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=moment()) as out,
    ):
        out.write(packed.getvalue())
    return f"{top}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for build in (build_wheel, build_sdist):
        print(pathlib.Path(sys.argv[1]) / build(sys.argv[1]))
