"""The file of a copy: what the server has sent, in records, so that a restart needs no server.

    perch copy 1\\n
    record: length u32, CRC-32 u32, wall clock in milliseconds u64, then so many bytes; all in little-endian order

The first record is a JSON object that says what the copy is of. Each other one is an AppEntitlementsResponse: a whole
copy, then changes and bookmarks as they came. A record that a crash has cut short is the last one, and is left out.
"""

import contextlib
import json
import os
import struct
import time
import zlib
from typing import Any, BinaryIO, Dict, Iterable, Iterator, Tuple

from . import v1
from ._codec import DecodeError

try:
    import fcntl
except ImportError:  # Windows: one process must have the file for itself.
    fcntl = None  # type: ignore[assignment]

MAGIC = b"perch copy 1\n"
_HEAD = struct.Struct("<IIQ")
# The file is written anew when the changes in it are longer than the copy, and than this.
CHANGES_BYTES_MAX = 1 << 20


class Unusable(Exception):
    """The file is damaged, or of another copy."""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def record(body: bytes) -> bytes:
    wall = wall_ms()
    return _HEAD.pack(len(body), _sum(wall, body), wall) + body


def _sum(wall: int, body: bytes) -> int:
    return zlib.crc32(body, wall & 0xFFFF_FFFF)


class CopyFile:
    """One process keeps the file up to date: the one that has its lock. Others read it when they start."""

    def __init__(self, path: "os.PathLike[str]", about: Dict[str, Any]) -> None:
        self.path = os.fspath(path)
        folder = os.path.dirname(os.path.abspath(self.path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder} is not there, so the copy cannot be kept in {self.path}")
        self._about = json.dumps(about, sort_keys=True).encode()
        self._file: Any = None
        self._good = self._base = 0
        self._is_read = False

    def read(self) -> Iterator[Tuple[int, v1.AppEntitlementsResponse]]:
        """Each message with the wall clock of its arrival. `FileNotFoundError`, or `Unusable` with the reason."""
        with open(self.path, "rb") as file:
            records = self._records(file, os.fstat(file.fileno()).st_size)
            first = next(records, None)
            if first is None or first[1] != self._about:
                raise Unusable("it is of another copy" if first else "it has no beginning")
            for wall, body in records:
                try:
                    message = v1.AppEntitlementsResponse.decode(body)
                except DecodeError as error:
                    raise Unusable(f"it is damaged: {error}") from None
                yield wall, message
                if message.end is not None:
                    self._base = self._good
        self._is_read = self._base > 0
        if not self._is_read:
            raise Unusable("its copy is not complete")

    def _records(self, file: BinaryIO, size: int) -> Iterator[Tuple[int, bytes]]:
        if file.read(len(MAGIC)) != MAGIC:
            raise Unusable("it is no file of a copy")
        at = len(MAGIC)
        while size - at >= _HEAD.size:
            length, check, wall = _HEAD.unpack(file.read(_HEAD.size))
            end = at + _HEAD.size + length
            if end > size:
                return
            body = file.read(length)
            if _sum(wall, body) != check:
                if end == size:
                    return
                raise Unusable(f"it is damaged at byte {at}")
            self._good = at = end
            yield wall, body

    # MARK: Writing

    @property
    def is_kept(self) -> bool:
        """Whether this process writes the file."""
        return self._file is not None

    def keeps(self) -> bool:
        """Whether this process writes the file; if no other does, it begins to."""
        if self._file is not None:
            return True
        file = open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
        try:
            if not _locked(file) or os.fstat(file.fileno()).st_ino != os.stat(self.path).st_ino:
                file.close()
                return False
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    @property
    def is_due(self) -> bool:
        """Whether the file has to be written anew: it has no whole copy of this process's, or too many changes."""
        return not self._is_read or self._good - self._base > max(CHANGES_BYTES_MAX, self._base)

    def append(self, message: v1.AppEntitlementsResponse) -> None:
        """Adds a message behind the good part of the file."""
        assert self._file is not None
        data = record(message.encode())
        self._file.truncate(self._good)
        self._file.seek(self._good)
        _write(self._file, data)
        self._good += len(data)

    def rewrite(self, messages: Iterable[v1.AppEntitlementsResponse]) -> Iterator[None]:
        """Writes a whole copy beside the file, step by step, and puts it in the file's place."""
        path = self.path + ".new"
        file = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "r+b", buffering=0)
        try:
            _locked(file)
            data = MAGIC + record(self._about)
            good = 0
            for message in messages:
                data += record(message.encode())
                _write(file, data)
                good, data = good + len(data), b""
                yield
            os.fsync(file.fileno())
            if fcntl is None:
                self.close()
            os.replace(path, self.path)
        except BaseException:
            file.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        self.close()
        self._file, self._good, self._base, self._is_read = file, good, good, True

    def outdate(self) -> None:
        """What the file has is not this copy any more."""
        self._is_read = False

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _locked(file: Any) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
