"""Canonical JSON of protobuf for the client's messages: what the vectors and the conformance driver speak."""

import base64
import math

from perch._codec import Enumeration, Message, _plan


def camel(name):
    first, *rest = name.rstrip("_").split("_")  # Python's keywords have a "_" behind them.
    return first + "".join(part.capitalize() for part in rest)


def prefix(kind):
    return "".join("_" + c if c.isupper() and i else c for i, c in enumerate(kind.__name__)).upper() + "_"


def is_enum(field):
    return isinstance(field.type, type) and issubclass(field.type, Enumeration)


def to_json(message):
    shown = {}
    for field in _plan(type(message)).fields:
        value = getattr(message, field.name)
        if value is None or (not field.oneof and not field.is_message and not value):
            continue
        items = [single_to_json(field, item) for item in (value if field.repeated else [value])]
        shown[camel(field.name)] = items if field.repeated else items[0]
    return shown


def single_to_json(field, value):
    if isinstance(value, Message):
        return to_json(value)
    if is_enum(field):
        return (
            int(value)
            if value.name.startswith("UNKNOWN_") and value not in list(field.type)
            else prefix(field.type) + value.name
        )
    if field.kind in ("int64", "uint64", "fixed64", "sfixed64"):
        return str(value)
    if field.kind == "bytes":
        return base64.b64encode(value).decode()
    if field.kind == "double" and not math.isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    return value


def from_json(kind, shown):
    fields = {camel(field.name): field for field in _plan(kind).fields}
    given = {}
    for key, value in shown.items():
        field = fields[key]
        given[field.name] = (
            [single_from_json(field, item) for item in value] if field.repeated else single_from_json(field, value)
        )
    return kind(**given)


def single_from_json(field, value):
    if field.holds_message:
        return from_json(field.type, value)
    if is_enum(field):
        return field.type(value) if isinstance(value, int) else field.type[value[len(prefix(field.type)) :]]
    if field.kind in ("int64", "uint64", "fixed64", "sfixed64"):
        return int(value)
    if field.kind == "bytes":
        return base64.b64decode(value)
    if field.kind == "double":
        return float(value)
    return value
