"""Messages of protobuf, from tables of their fields: what the generated classes share."""

import enum
import struct
import sys
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar

M = TypeVar("M", bound="Message")
_LIMITS = {"int32": (-1 << 31, 1 << 31), "int64": (-1 << 63, 1 << 63), "uint32": (0, 1 << 32), "uint64": (0, 1 << 64)}
_FIXED: Dict[str, struct.Struct] = {
    "fixed32": struct.Struct("<I"),
    "fixed64": struct.Struct("<Q"),
    "sfixed64": struct.Struct("<q"),
    "double": struct.Struct("<d"),
}
_WIRES = {"fixed32": 5, "fixed64": 1, "sfixed64": 1, "double": 1, "string": 2, "bytes": 2}
_DEPTH_MAX = 64


class DecodeError(ValueError):
    """Bytes that are not the message that they should be."""


class Enumeration(enum.IntEnum):
    """An enumeration of the contract. A number that this version does not know has the name `UNKNOWN_number`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"UNKNOWN_{value}", value
        return member

    def __str__(self) -> str:
        return self.name

    def __format__(self, format_spec: str) -> str:
        return format(self.name if not format_spec or format_spec.endswith("s") else int(self), format_spec)


class Message:
    """A message of the contract. Its attributes are its fields; an absent message, or member of a oneof, is None."""

    __slots__: Tuple[str, ...] = ()
    _fields: Tuple[Tuple[int, str, str, bool, Optional[str]], ...] = ()
    _plan: Optional["_Plan"] = None

    def encode(self) -> bytes:
        """The message in protobuf's binary form. A value that its field cannot have is a ValueError or TypeError."""
        out = bytearray()
        chosen: Dict[str, str] = {}
        for field in _plan(type(self)).fields:
            value = getattr(self, field.name)
            if field.is_blank(value):
                continue
            if field.oneof and chosen.setdefault(field.oneof, field.name) != field.name:
                raise ValueError(
                    f"{type(self).__name__} has {chosen[field.oneof]} and {field.name}; it may have one of them"
                )
            try:
                field.write(out, value)
            except (TypeError, ValueError, AttributeError, struct.error) as error:
                raise type(error if isinstance(error, ValueError) else TypeError())(
                    f"{type(self).__name__}.{field.name} is a {field.kind}: {error}"
                ) from None
        return bytes(out)

    @classmethod
    def decode(cls: Type[M], data: bytes) -> M:
        """The message in `data`. Unknown fields are left out, unknown values of enumerations kept."""
        return _decode(cls, data, 0, len(data), 0)

    def which(self, oneof: str) -> Optional[str]:
        """The name of the field that a oneof has; None if it has none, or one that only a newer version knows."""
        for field in _plan(type(self)).fields:
            if field.oneof == oneof and getattr(self, field.name) is not None:
                return field.name
        return None

    def replace(self: M, **changes: Any) -> M:
        """A copy with other values of some fields."""
        return type(self)(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ((field, getattr(self, field.name)) for field in _plan(type(self)).fields)
        parts = (f"{field.name}={value!r}" for field, value in shown if not field.is_blank(value))
        return f"{type(self).__name__}({', '.join(parts)})"


class _Field:
    """How one field is written and read."""

    def __init__(
        self, number: int, name: str, kind: str, repeated: bool, oneof: Optional[str], owner: Type[Message]
    ) -> None:
        self.number, self.name, self.kind, self.repeated, self.oneof = number, name, kind, repeated, oneof
        self.type: Any = None
        if kind not in _LIMITS and kind not in _WIRES and kind != "bool":
            self.type = getattr(sys.modules[owner.__module__], kind)
        self.is_message = isinstance(self.type, type) and issubclass(self.type, Message) and not repeated
        self.holds_message = isinstance(self.type, type) and issubclass(self.type, Message)
        self.wire = 2 if self.holds_message else _WIRES.get(kind, 0)
        self.packs = repeated and self.wire != 2
        self.tag = varint(number << 3 | (2 if self.packs else self.wire))

    def is_blank(self, value: Any) -> bool:
        """Whether the field is left out."""
        return value is None or (not value and not self.oneof and not self.is_message)

    def write(self, out: bytearray, value: Any) -> None:
        if self.packs:
            if self.kind in _FIXED:
                body = struct.pack(f"<{len(value)}{_FIXED[self.kind].format[-1]}", *value)
            else:
                body = b"".join(map(self.bare, value))
            out += self.tag + varint(len(body)) + body
        else:
            for item in value if self.repeated else (value,):
                out += self.tag + self.bare(item)

    def bare(self, value: Any) -> bytes:
        """A value without its tag."""
        body: bytes
        if self.holds_message:
            if not isinstance(value, self.type):
                raise TypeError(f"{value!r} is not one")
            body = value.encode()
        elif self.kind == "string":
            if not isinstance(value, str):
                raise TypeError(f"{value!r} is not one")
            body = value.encode("utf-8")
        elif self.kind == "bytes":
            body = bytes(memoryview(value))
        elif self.wire in (1, 5):
            return bytes(_FIXED[self.kind].pack(value))
        elif self.kind == "bool":
            return b"\1" if value else b"\0"
        else:
            low, high = _LIMITS.get(self.kind, _LIMITS["int32"])
            if not isinstance(value, int) or not low <= value < high:
                raise ValueError(f"{value!r} is not between {low} and {high - 1}")
            return varint(value & 0xFFFF_FFFF_FFFF_FFFF)
        return varint(len(body)) + body

    def number_of(self, value: int) -> Any:
        """What 64 bits on the wire mean here."""
        if self.kind == "uint64":
            return value
        if self.kind == "bool":
            return value != 0
        if self.kind == "uint32":
            return value & 0xFFFF_FFFF
        if self.kind == "int64":
            return value - (1 << 64) if value >> 63 else value
        value &= 0xFFFF_FFFF
        value = value - (1 << 32) if value >> 31 else value
        return value if self.type is None else self.type(value)


class _Plan:
    def __init__(self, owner: Type[Message]) -> None:
        self.fields = [_Field(*row, owner) for row in owner._fields]
        self.by_number = {field.number: field for field in self.fields}
        self.oneofs: Dict[str, List[str]] = {}
        for field in self.fields:
            if field.oneof:
                self.oneofs.setdefault(field.oneof, []).append(field.name)


def _plan(owner: Type[Message]) -> _Plan:
    plan = owner.__dict__.get("_plan")
    if plan is None:
        plan = owner._plan = _Plan(owner)
    return plan


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes, at: int, end: int) -> Tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise DecodeError(
        f"a number ends at byte {at} of {end}" if at >= end else f"a number before byte {at} has over ten bytes"
    )


def _decode(cls: Type[M], data: bytes, at: int, end: int, depth: int, into: Optional[M] = None) -> M:
    plan, message = _plan(cls), cls() if into is None else into
    if depth > _DEPTH_MAX:
        raise DecodeError(f"messages are nested over {_DEPTH_MAX} deep")
    while at < end:
        tag, at = read_varint(data, at, end)
        wire, start = tag & 7, at
        if wire == 0:
            number, at = read_varint(data, at, end)
        elif wire == 2:
            length, start = read_varint(data, at, end)
            at = start + length
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise DecodeError(f"{cls.__name__} has a field of the wire type {wire}")
        if at > end:
            raise DecodeError(f"a field of {cls.__name__} ends {at - end} bytes behind its message")
        field = plan.by_number.get(tag >> 3)
        if field is None:
            continue
        if wire == 2 and field.packs:
            getattr(message, field.name).extend(_unpack(field, data, start, at))
            continue
        if wire != field.wire:
            raise DecodeError(f"{cls.__name__}.{field.name} has the wire type {wire}")
        value: Any
        if wire == 0:
            value = field.number_of(number)
        elif wire == 2:
            if field.holds_message:
                earlier = getattr(message, field.name) if field.is_message else None  # Parts of one message are merged.
                value = _decode(field.type, data, start, at, depth + 1, earlier)
            elif field.kind == "string":
                try:
                    value = str(data[start:at], "utf-8")
                except UnicodeDecodeError:
                    raise DecodeError(f"{cls.__name__}.{field.name} is not UTF-8") from None
            else:
                value = bytes(data[start:at])
        else:
            value = _FIXED[field.kind].unpack_from(data, start)[0]
        if field.repeated:
            getattr(message, field.name).append(value)
            continue
        if field.oneof:
            for other in plan.oneofs[field.oneof]:
                setattr(message, other, None)
        setattr(message, field.name, value)
    return message


def _unpack(field: _Field, data: bytes, at: int, end: int) -> List[Any]:
    if field.wire in (1, 5):
        form = _FIXED[field.kind]
        if (end - at) % form.size:
            raise DecodeError(f"{field.name} has {end - at} bytes, which is no number of {field.kind}s")
        return list(struct.unpack_from(f"<{(end - at) // form.size}{form.format[-1]}", data, at))
    found = []
    while at < end:
        value, at = read_varint(data, at, end)
        found.append(field.number_of(value))
    return found
