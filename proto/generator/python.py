"""Python from the contract, for proto/clients/python: messages, the table of methods, typed calls, and the reasons of errors."""
import keyword
import re

from contract import ContractError, FieldType

HEADER = '''"""{title}

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
'''
# The kinds of the codec, and the types that a caller sees.
KINDS = {
    FieldType.TYPE_INT32: ("int32", "int", "0"), FieldType.TYPE_INT64: ("int64", "int", "0"),
    FieldType.TYPE_UINT32: ("uint32", "int", "0"), FieldType.TYPE_UINT64: ("uint64", "int", "0"),
    FieldType.TYPE_FIXED32: ("fixed32", "int", "0"), FieldType.TYPE_FIXED64: ("fixed64", "int", "0"),
    FieldType.TYPE_SFIXED64: ("sfixed64", "int", "0"),
    FieldType.TYPE_DOUBLE: ("double", "float", "0.0"), FieldType.TYPE_BOOL: ("bool", "bool", "False"),
    FieldType.TYPE_STRING: ("string", "str", '""'), FieldType.TYPE_BYTES: ("bytes", "bytes", 'b""'),
}
# The streams of events, as a client names them.
EVENTS = {"AppChanges": "changes", "TransactionUpdates": "transaction_updates"}
COLUMNS = 120
# What a message can do; no field may have such a name.
VERBS = {"encode", "decode", "which", "replace"}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def members(proto):
    """The names of an enumeration's values without the prefix that protobuf wants, with their numbers."""
    prefix = snake(proto.name).upper() + "_"
    for value in proto.value:
        if not value.name.startswith(prefix) or not value.name[len(prefix):].isidentifier():
            raise ContractError(f"{value.name} does not begin with {prefix} and a name")
        yield value.name[len(prefix):], value.number


class Lines:
    def __init__(self, title):
        self.lines = HEADER.format(title=title).splitlines()

    def add(self, text="", depth=0):
        self.lines.append("    " * depth + text if text else "")

    def doc(self, comment, depth, fallback=""):
        """A documentation string of the contract's own words."""
        lines = [line.strip() for line in (comment.strip() or fallback).splitlines()]
        text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''").splitlines()
        if not text:
            return
        if len(text) == 1 and len(text[0]) + 4 * depth + 6 <= COLUMNS and not text[0].endswith('"'):
            return self.add(f'"""{text[0]}"""', depth)
        self.add('"""' + text[0], depth)
        for line in text[1:]:
            self.add(line, depth)
        self.add('"""', depth)

    def items(self, head, items, tail, depth):
        """`head` with `items` and `tail`: on one line where it fits, else as many items a line as fit."""
        whole = head + ", ".join(items) + tail
        if len(whole) + 4 * depth <= COLUMNS:
            return self.add(whole, depth)
        self.add(head, depth)
        line = ""
        for item in items:
            if line and len(line) + len(item) + 3 + 4 * (depth + 2) > COLUMNS:
                self.add(line, depth + 2)
                line = ""
            line += (" " if line else "") + item + ","
        self.add(line, depth + 2)
        self.add(tail, depth)

    def text(self):
        return "\n".join(self.lines).rstrip() + "\n"


class Shape:
    """How a field looks in Python."""

    def __init__(self, field):
        self.name, self.oneof = field.name + ("_" if keyword.iskeyword(field.name) else ""), field.oneof
        if field.is_message or field.is_enum:
            self.kind = self.type = field.type_name
            self.default = "None" if field.is_message else f"{field.type_name}.UNSPECIFIED"
        elif field.proto.type in KINDS:
            self.kind, self.type, self.default = KINDS[field.proto.type]
        else:
            raise ContractError(f"{field.message.full_name}.{field.name} has a type that the codec of Python does not have")
        self.repeated = field.is_repeated
        self.is_enum, self.is_message = field.is_enum, field.is_message
        if field.is_repeated:
            self.default = "()"
        elif field.oneof:
            self.default = "None"

    @property
    def held(self):
        """The attribute's type."""
        if self.repeated:
            return f"List[{self.type}]"
        return f"Optional[{self.type}]" if self.default == "None" else self.type

    def taken(self, prefix=""):
        """The parameter's type."""
        type_name = prefix + self.type if self.is_enum or self.is_message else self.type
        if self.repeated:
            return f"Sequence[{type_name}]"
        return f"Optional[{type_name}]" if self.default == "None" else type_name

    def parameter(self, prefix=""):
        if self.name == "app" and prefix:
            return f"app: Union[{prefix}AppRef, str, None] = None"
        default = prefix + self.default if self.default.endswith(".UNSPECIFIED") else self.default
        return f"{self.name}: {self.taken(prefix)} = {default}"


def messages(contract, package):
    out = Lines(f"The messages of the package {package}.")
    out.add("# flake8: noqa")
    out.add("from __future__ import annotations")
    out.add()
    out.add("from typing import List, Optional, Sequence")
    out.add()
    out.add("from .._codec import Enumeration, Message")
    names, ordered = [], []
    for _, found, of_file, enums in contract.files:
        if found != package:
            continue
        for proto, comment, comments, _ in enums:
            names.append(proto.name)
            out.add()
            out.add()
            out.add(f"class {proto.name}(Enumeration):")
            out.doc(comment, 1, proto.name)
            for (name, number), text in zip(members(proto), comments):
                out.add()
                out.add(f"{name} = {number}", 1)
                out.doc(text, 1)
        ordered += of_file
    for message in ordered:
        names.append(message.name)
        shapes = [Shape(field) for field in message.fields]
        if taken := VERBS & {shape.name for shape in shapes}:
            raise ContractError(f"{message.full_name} has a field '{taken.pop()}', which is a method of the messages of Python")
        out.add()
        out.add()
        out.add(f"class {message.name}(Message):")
        out.doc(message.comment, 1, message.name)
        out.add()
        out.items("__slots__ = (", [f'"{shape.name}"' for shape in shapes] + ([""] if len(shapes) == 1 else []), ")", 1)
        if not shapes:
            continue
        out.add("_fields = (", 1)
        for field, shape in zip(message.fields, shapes):
            kind = f'"{shape.kind}"'
            out.add(f'({field.number}, "{shape.name}", {kind}, {shape.repeated}, {repr(shape.oneof) if shape.oneof else None}),'.replace("'", '"'), 2)
        out.add(")", 1)
        for field, shape in zip(message.fields, shapes):
            out.add()
            out.add(f"{shape.name}: {shape.held}", 1)
            out.doc(field.comment, 1)
        out.add()
        out.items("def __init__(", ["self", "*"] + [shape.parameter() for shape in shapes], ") -> None:", 1)
        for shape in shapes:
            out.add(f"self.{shape.name} = " + (f"list({shape.name})" if shape.repeated else shape.name), 2)
    out.add()
    out.add()
    out.items("__all__ = (", [f'"{name}"' for name in sorted(names)], ")", 0)
    return out.text()


def kind(method):
    """What a client makes of a method: `call`, `watch` (a stream of states), `events`, or `other` (a stream with an own client)."""
    if not method.is_streaming:
        return "call"
    if any(field.oneof == "state" for field in method.response.fields):
        return "watch"
    if method.name in EVENTS:
        return "events"
    return "other"


def constructed(method, shapes, names):
    given = [f"{shape.name}=" + ("named_app(app)" if shape.name == "app" else shape.name) for shape in shapes if shape.name in names]
    return f"v1.{method.request.name}(", given


def calls(contract):
    out = Lines("The methods of the contract, and typed calls of them.")
    out.add("# flake8: noqa")
    out.add('# mypy: disable-error-code="no-any-return"')
    out.add("from __future__ import annotations")
    out.add()
    out.add("from typing import Any, Awaitable, Optional, Sequence, Union")
    out.add()
    out.add("from .. import v1")
    out.add("from .._method import Method, named_app")
    out.add("from .._watching import AsyncEvents, AsyncWatch, Events, Watch")
    out.add()
    for method in contract.methods:
        keyed = any(field.name == "idempotency_key" for field in method.request.fields)
        out.items(f"{snake(method.name).upper()} = Method(", [
            f'"{method.path}"', f"v1.{method.request.name}", f"v1.{method.response.name}", f"is_safe={method.is_safe}",
            f"is_idempotent={method.is_idempotent}", f"is_keyed={keyed}"], ")", 0)
    out.add()
    out.items("METHODS = (", [snake(method.name).upper() for method in contract.methods], ")", 0)
    for is_async in (False, True):
        made, made_of = ("Awaitable[", "]") if is_async else ("", "")
        out.add()
        out.add()
        out.add(f"class {'Async' if is_async else ''}Calls:")
        out.doc("Every method of the contract that answers once, as a function with the fields of its request.\n\n"
                "`timeout` is in seconds; without one the client's holds. Calls that are safe to repeat are repeated within it. A call\n"
                "with an idempotency key gets a random one, unless you give it one of your own.", 1)
        out.add()
        out.add("def _call(self, method: Method, request: Any, timeout: Optional[float]) -> Any:", 1)
        out.add("raise NotImplementedError", 2)
        for method in contract.methods:
            if kind(method) != "call":
                continue
            shapes = [Shape(field) for field in method.request.fields]
            if any(shape.name == "timeout" for shape in shapes):
                raise ContractError(f"{method.request.name} has a field 'timeout', which is a parameter of the calls of Python")
            out.add()
            out.items(f"def {snake(method.name)}(", ["self", "*"] + [shape.parameter("v1.") for shape in shapes]
                      + ["timeout: Optional[float] = None"], f") -> {made}v1.{method.response.name}{made_of}:", 1)
            out.doc(method.comment, 2)
            head, given = constructed(method, shapes, [shape.name for shape in shapes])
            out.items(f"return self._call({snake(method.name).upper()}, {head}", given, "), timeout)", 2)
        out.add()
        out.add()
        out.add(f"class {'Async' if is_async else ''}Watches:")
        out.doc("Every stream of state, as a watch that comes back by itself.\n\n"
                "`fail_after`: seconds without the server after which the watch ends with the error. Without it the watch waits.", 1)
        out.add()
        out.add("def _watch(self, method: Method, request: Any, fail_after: Optional[float]) -> Any:", 1)
        out.add("raise NotImplementedError", 2)
        for method in contract.methods:
            if kind(method) == "watch":
                stream(out, method, is_async)
        out.add()
        out.add()
        out.add(f"class {'Async' if is_async else ''}EventStreams:")
        out.doc("Every stream of events, which skips nothing.", 1)
        out.add()
        out.add("def _events(self, method: Method, request: Any, progress: bool, fail_after: Optional[float]) -> Any:", 1)
        out.add("raise NotImplementedError", 2)
        for method in contract.methods:
            if kind(method) == "events":
                stream(out, method, is_async)
    return out.text()


def stream(out, method, is_async):
    """A function that opens a stream. The account or the products come first; the rest is named."""
    is_watch = kind(method) == "watch"
    shapes = [Shape(field) for field in method.request.fields if field.name != "resume_token"]
    first = [shape for shape in shapes if shape.name == "account" or (is_watch and shape.name == "product_ids")][:1]
    rest = [shape for shape in shapes if shape not in first]
    names = ["self"] + [f"{shape.name}: {shape.taken('v1.')}" for shape in first] + ["*"] + [
        shape.parameter("v1.") for shape in rest]
    if is_watch:
        success = next(field for field in method.response.fields if field.name == "success")
        made = ("AsyncWatch" if is_async else "Watch") + f"[v1.{success.type_name}]"
        name, given = snake(method.name.removesuffix("Task")), ["fail_after"]
    else:
        made = ("AsyncEvents" if is_async else "Events") + f"[v1.{method.response.name}]"
        name, given = EVENTS[method.name], ["progress", "fail_after"]
        names.append("progress: bool = False")
    out.add()
    out.items(f"def {name}(", names + ["fail_after: Optional[float] = None"], f") -> {made}:", 1)
    extra = "" if is_watch else (
        "\n\nStart with the stored cursor, and store `cursor` of each event when you have handled it. With `progress`, messages that"
        "\nhave only a cursor are answered too: store those as well where events are rare.")
    out.doc(method.comment + extra, 2)
    head, listed = constructed(method, shapes, [shape.name for shape in shapes])
    opener = "_watch" if is_watch else "_events"
    out.items(f"return self.{opener}({snake(method.name).upper()}, {head}", listed, "), " + ", ".join(given) + ")", 2)


def reasons(readme):
    """The reasons of errors from the tables of proto/README.md: `| REASON | number CODE | retry | means | what to do |`."""
    rows = re.findall(r"^\| `([A-Z][A-Z_]+)` \| (\d+) [A-Z_]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", readme, re.M)
    if len(rows) < 100:
        raise ContractError(f"proto/README.md has {len(rows)} reasons of errors in the expected form")
    retries = {"yes": "YES", "yes, after `reconnect_after_ms`": "YES", "yes, after `retry_after_ms`": "YES",
               "with new credentials": "CREDENTIALS", "without the token": "TOKEN", "no": "NO"}
    out = Lines("The reasons of errors, from the tables of proto/README.md.")
    out.add("# flake8: noqa")
    out.add()
    out.add()
    out.add("class Reason:")
    out.doc("The names of `PerchError.reason`. A newer server may send others.", 1)
    for reason, _, _, means, do in rows:
        out.add()
        out.add(f'{reason} = "{reason}"', 1)
        out.doc(f"{means.strip()}\n\n{do.strip()}", 1)
    out.add()
    out.add()
    out.add("# Whether the same request may succeed later: YES, NO, with new CREDENTIALS, or without its TOKEN.")
    out.add("RETRY = {")
    for reason, _, retry, _, _ in rows:
        if retry.strip() not in retries:
            raise ContractError(f"proto/README.md: '{retry.strip()}' of {reason} is no word of the column Retry")
        out.add(f'"{reason}": "{retries[retry.strip()]}",', 1)
    out.add("}")
    return out.text()


def generate(contract, readme):
    """The files by their names below `perch/_generated`."""
    return {
        "__init__.py": HEADER.format(title="What the contract determines."),
        "messages.py": messages(contract, "perch.v1"),
        "wire.py": messages(contract, "perch.wire.v1"),
        "calls.py": calls(contract),
        "reasons.py": reasons(readme),
    }
