"""Connect over HTTP/1.1: one connection, its requests and answers."""

import base64
import json
import re
import time
import urllib.parse
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ._codec import DecodeError, read_varint
from ._generated.wire import Drain
from .errors import Code, FinalError, LocalReason, PerchError, breach, lost, server_error

HEAD_BYTES_MAX = 64 * 1024
ANSWER_BYTES_MAX = 64 * 1024 * 1024
ERROR_BYTES_MAX = 256 * 1024
# Python's own numbers may have signs, underscores, and digits of other scripts.
_LENGTH = re.compile("[0-9]{1,15}")
_CHUNK_SIZE = re.compile(b"[0-9A-Fa-f]{1,15}")
_STATUS = re.compile("[0-9]{3}")
_CODES = {code.name.lower(): code for code in Code}
_CODES["canceled"] = Code.CANCELLED
# What Connect says about answers that are not its own.
_STATUSES = {
    400: Code.INTERNAL,
    401: Code.UNAUTHENTICATED,
    403: Code.PERMISSION_DENIED,
    404: Code.UNIMPLEMENTED,
    408: Code.UNAVAILABLE,
    421: Code.FAILED_PRECONDITION,
    429: Code.UNAVAILABLE,
    502: Code.UNAVAILABLE,
    503: Code.UNAVAILABLE,
    504: Code.UNAVAILABLE,
}


class Address(NamedTuple):
    """Where a server is."""

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.host} port {self.port}"

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == {"http": 80, "https": 443}[self.scheme] else f"{host}:{self.port}"

    @classmethod
    def parse(cls, url: str) -> "Address":
        try:
            parts = urllib.parse.urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ValueError(f"{url!r} is no address: {error}") from None
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.query
            or parts.fragment
            or parts.username
        ):
            raise ValueError(f"{url!r} is no address of a server: write http://HOST:PORT or https://HOST:PORT")
        if not (parts.path.isascii() and parts.path.isprintable()) or " " in parts.path:
            raise ValueError(f"the path of {url!r} has characters that an address cannot have")
        return cls(
            parts.scheme, parts.hostname, port or {"http": 80, "https": 443}[parts.scheme], parts.path.rstrip("/")
        )


class _Body:
    """What follows the head of an answer: chunks, a length, or all until the end of the connection."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.is_chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        length = headers.get("content-length")
        self.until_end = not self.is_chunked and length is None
        if not self.is_chunked and length is not None and not _LENGTH.fullmatch(length):
            raise breach(f"an answer has the content-length {length[:40]!r}")
        self.left = int(length) if not self.is_chunked and length is not None else 0
        self.phase = "size" if self.is_chunked else "data"
        self.is_over = not self.is_chunked and not self.until_end and self.left == 0

    def take(self, raw: bytearray) -> bytes:
        """Removes what can be read from `raw`, and answers the bytes of the body in it."""
        if self.until_end:
            found = bytes(raw)
            raw.clear()
            return found
        out: List[bytes] = []
        while raw and not self.is_over:
            if self.phase == "data":
                piece = bytes(raw[: self.left])
                del raw[: len(piece)]
                out.append(piece)
                self.left -= len(piece)
                if self.left == 0:
                    self.phase, self.is_over = "end of chunk", not self.is_chunked
                continue
            end = raw.find(b"\r\n")
            if end < 0:
                if len(raw) > 4_096:
                    raise breach("a line of a chunked answer has over 4,096 bytes")
                break
            line = bytes(raw[:end])
            del raw[: end + 2]
            if self.phase == "size":
                size = line.split(b";")[0].rstrip(b" \t")
                if not _CHUNK_SIZE.fullmatch(size):
                    raise breach(f"a chunk has the size {line[:40]!r}")
                self.left = int(size, 16)
                self.phase = "data" if self.left else "trailer"
            elif self.phase == "end of chunk":
                if line:
                    raise breach("a chunk has other bytes than its size says")
                self.phase = "size"
            elif not line:
                self.is_over = True
        return b"".join(out)


class Exchange:
    """One connection. A step that is cut short by its deadline loses nothing that was read."""

    def __init__(self, io: Any, address: Address, tls: Any) -> None:
        self.address, self.tls = address, tls
        self.connection = io.connection(address.host, address.port)
        self.made = 0.0
        self.last_byte = 0.0
        self.is_reusable = False
        self._raw = bytearray()
        self._body: Optional[_Body] = None
        self._payload = bytearray()
        self._status = 0
        self._headers: Dict[str, str] = {}
        self._keeps = False

    def close(self) -> None:
        self.is_reusable = False
        self.connection.close()

    async def connect(self, deadline: Optional[float]) -> None:
        await self.connection.connect(self.tls, deadline)
        self.made = self.last_byte = time.monotonic()

    async def send(self, path: str, headers: List[Tuple[str, str]], body: bytes, deadline: Optional[float]) -> None:
        """Sends a POST."""
        lines = [
            f"POST {self.address.prefix}{path} HTTP/1.1",
            f"host: {self.address.authority}",
            f"content-length: {len(body)}",
        ]
        lines += [f"{name}: {value}" for name, value in headers]
        self._body, self._status, self.is_reusable = None, 0, False
        await self.connection.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body, deadline)

    async def _more(self, deadline: Optional[float]) -> None:
        data = await self.connection.receive(deadline)
        if not data:
            if self._body is not None and self._body.until_end:
                self._body.is_over = True
                return
            if self._raw[:1] == b"\n" and len(self._raw) > 9:
                raise self._drained()
            raise lost("the server closed the connection before the end of its answer")
        self.last_byte = time.monotonic()
        self._raw += data

    def _drained(self) -> PerchError:
        """The DRAIN of perch/1 that a server may send before it knows what the client speaks: full, or TLS is due."""
        try:
            drain = Drain.decode(bytes(self._raw[9 : 9 + int.from_bytes(self._raw[5:9], "big")]))
        except DecodeError:
            return lost("the server closed the connection before its answer")
        return server_error(
            Code.UNAVAILABLE,
            drain.reason,
            drain.message,
            {each.key: each.value for each in drain.details},
            drain.reconnect_after_ms / 1_000 or None,
        )

    async def head(self, deadline: Optional[float]) -> Tuple[int, Dict[str, str]]:
        """The status and the headers of the answer."""
        while self._body is None:
            end = self._raw.find(b"\r\n\r\n")
            if end < 0:
                if len(self._raw) > HEAD_BYTES_MAX:
                    raise breach(f"the head of an answer has over {HEAD_BYTES_MAX} bytes")
                if self._raw and not b"HTTP/1.".startswith(self._raw[:7]) and not self._raw.startswith(b"\n"):
                    raise breach(
                        f"{self.address.where} answers {bytes(self._raw[:16])!r}, which is not HTTP/1.1: "
                        "is it a Perch server?"
                    )
                await self._more(deadline)
                continue
            lines = bytes(self._raw[:end]).decode("latin-1").split("\r\n")
            words = lines[0].split(None, 2)
            if len(words) < 2 or not words[0].startswith("HTTP/1.") or not _STATUS.fullmatch(words[1]):
                raise breach(
                    f"{self.address.where} answers {lines[0][:40]!r}, which is not HTTP/1.1: is it a Perch server?"
                )
            del self._raw[: end + 4]
            status = int(words[1])
            if 100 <= status < 200:
                continue
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
            }
            self._status, self._headers, self._body = status, headers, _Body(headers)
            self._keeps = words[0] != "HTTP/1.0" and headers.get("connection", "").lower() != "close"
            if headers.get("content-encoding", "identity") != "identity":
                raise breach(f"the answer is encoded as {headers['content-encoding']}, which nobody asked for")
        return self._status, self._headers

    @property
    def is_unmeasured(self) -> bool:
        """Whether the answer ends with the connection, so that one that was cut looks whole."""
        return self._body is not None and self._body.until_end

    async def body(self, limit: int, deadline: Optional[float]) -> bytes:
        """The whole body."""
        assert self._body is not None
        while True:
            self._payload += self._body.take(self._raw)
            if len(self._payload) > limit:
                raise breach(f"an answer has over {limit} bytes")
            if self._body.is_over:
                break
            await self._more(deadline)
        found = bytes(self._payload)
        self._payload.clear()
        self.is_reusable = self._keeps and not self._raw and not self._body.until_end
        return found

    async def envelope(self, deadline: Optional[float]) -> Tuple[int, bytes]:
        """The flags and the bytes of the next message of a stream."""
        assert self._body is not None
        while True:
            self._payload += self._body.take(self._raw)
            if len(self._payload) >= 5:
                length = int.from_bytes(self._payload[1:5], "big")
                if length > ANSWER_BYTES_MAX:
                    raise breach(f"a message of a stream has {length} bytes, over {ANSWER_BYTES_MAX}")
                if len(self._payload) >= 5 + length:
                    flags, found = self._payload[0], bytes(self._payload[5 : 5 + length])
                    del self._payload[: 5 + length]
                    return flags, found
            if self._body.is_over:
                raise lost("the stream ended without its status")
            await self._more(deadline)

    async def refusal(self, deadline: Optional[float]) -> PerchError:
        """The error of an answer whose status is not 200."""
        body = await self.body(ERROR_BYTES_MAX, deadline)
        if self._headers.get("content-type", "").split(";")[0].strip() == "application/json":
            found = parsed(body)
            if isinstance(found, dict) and found.get("code") in _CODES:
                return connect_error(found)
        return self._foreign()

    def _foreign(self) -> PerchError:
        status = self._status
        code = _STATUSES.get(status, Code.UNKNOWN)
        where = f"{self.address.where}"
        after = self._headers.get("retry-after", "")
        wait = float(after) if _LENGTH.fullmatch(after) else None
        message = f"{where} answered the status {status} of HTTP, and no error of Perch: a proxy, or another server"
        is_passing = code == Code.UNAVAILABLE or status >= 500
        if not is_passing:
            return FinalError(code, LocalReason.HTTP_STATUS, message, details={"found": str(status)})
        error = lost(message, LocalReason.HTTP_STATUS)
        error.details["found"], error.retry_after = str(status), wait
        return error


def parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def ended(data: bytes) -> Optional[PerchError]:
    """The error in the last message of a stream; None where it ended well."""
    found = parsed(data)
    error = found.get("error") if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return breach("the last message of a stream is no JSON object")
    return connect_error(error) if isinstance(error, dict) else None


def connect_error(found: Mapping[str, Any]) -> PerchError:
    """The error in Connect's JSON, with the reason and the numbers of its details."""
    reason, wait = "", None
    metadata: Dict[str, str] = {}
    for detail in found.get("details") or []:
        try:
            kind, value = detail["type"], detail["value"]
            data = base64.b64decode(value + "=" * (-len(value) % 4))
            if kind == "google.rpc.ErrorInfo":
                reason, metadata = _error_info(data)
            elif kind == "google.rpc.RetryInfo":
                wait = _seconds(dict(_fields(data)).get(1, b""))
        except (KeyError, TypeError, ValueError):
            continue  # A detail that this version cannot read; the code and the message stand.
    code = _CODES.get(str(found.get("code")), Code.UNKNOWN)
    return server_error(code, reason, str(found.get("message", "")), metadata, wait)


def _fields(data: bytes) -> List[Tuple[int, Any]]:
    """The numbers and the values of a message's fields."""
    found: List[Tuple[int, Any]] = []
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at, len(data))
        value, at = read_varint(data, at, len(data))
        if tag & 7 == 2:
            if at + value > len(data):
                raise DecodeError("a field ends behind its message")
            found.append((tag >> 3, data[at : at + value]))
            at += value
        elif tag & 7 == 0:
            found.append((tag >> 3, value))
        else:
            raise DecodeError(f"a field has the wire type {tag & 7}")
    return found


def _error_info(data: bytes) -> Tuple[str, Dict[str, str]]:
    """google.rpc.ErrorInfo: reason = 1, domain = 2, metadata = 3."""
    reason = ""
    metadata: Dict[str, str] = {}
    for number, value in _fields(data):
        if number == 1:
            reason = value.decode()
        elif number == 3:
            pair = dict(_fields(value))
            metadata[pair.get(1, b"").decode()] = pair.get(2, b"").decode()
    return reason, metadata


def _seconds(data: bytes) -> float:
    """google.protobuf.Duration: seconds = 1, nanos = 2."""
    pair = dict(_fields(data))
    return float(pair.get(1, 0) + pair.get(2, 0) / 1e9)
