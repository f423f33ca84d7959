"""Swift values of messages and enumerations that the model has no type of its own for."""
import re

from contract import ContractError, camel, lower_first
from text import Source


class Property:
    """A stored property: of one field, or of several that the map puts into one value."""

    def __init__(self, name, swift_type, default, blank_test, comment):
        self.name, self.swift_type, self.default = name, swift_type, default
        self.blank_test, self.comment = blank_test, comment


def oneof_enums(message):
    """Oneofs of several fields that the map makes an enumeration, as (oneof, Swift type)."""
    return {line[1]: line[2] for line in message.entry.lines if line[0] == "oneof"}


def properties(message):
    """The properties of a message's Swift value, in the order of its fields."""
    made, seen = [], set()
    nests = {line[1]: line[2:] for line in message.entry.lines if line[0] == "nest"}
    enums = oneof_enums(message)
    for field in message.fields:
        if field.oneof in enums:
            name = camel(field.oneof)
            if name not in seen:
                made.append(Property(name, enums[field.oneof] + "?", "nil", f"self.{name} == nil",
                                     f"Exactly one of the fields of `{field.oneof}`."))
            seen.add(name)
            continue
        name = field.property.split(".")[0]
        if name in seen:
            continue
        seen.add(name)
        if "." in field.property:
            swift, *default = nests[name]
            made.append(Property(name, swift, " ".join(default), "false", "The value itself."))
        else:
            made.append(Property(name, field.swift_type, field.default, field.blank_test, field.comment))
    return made


def union(messages):
    """The properties of a Swift type that stands for several messages."""
    made = {}
    for message in messages:
        for property in properties(message):
            made.setdefault(property.name, property)
    return list(made.values())


def values_by_type(contract):
    """The messages of each generated Swift type."""
    by_type = {}
    for _, _, messages, _ in contract.files:
        for message in messages:
            if contract.is_value(message.name) and not message.has("skip") and not message.has("state") \
                    and (message.fields or not message.name.endswith("Request")):
                by_type.setdefault(message.swift, []).append(message)
    return by_type


def write_value(source, name, messages):
    """One struct with its memberwise initialiser."""
    has = union(messages)
    source.doc(messages[0].comment)
    with source.block(f"package struct {name}: Hashable, Sendable"):
        for line in messages[0].entry.lines:
            if line[0] == "oneof" and "declared" not in line:
                write_oneof_enum(source, messages[0], line)
        for property in has:
            source.doc(property.comment)
            source.line(f"package var {property.name}: {property.swift_type}")
        source.line()
        arguments = [f"{property.name}: {property.swift_type} = {property.default}" for property in has]
        source.call("package init", arguments, ") {")
        for property in has:
            source.line(f"    self.{property.name} = {property.name}")
        source.line("}")
        source.line()
        source.line("/// Whether it says nothing, and is left out of the message around it.")
        tests = " && ".join(property.blank_test for property in has) or "true"
        source.line(f"package var isBlank: Bool {{ {tests} }}")
    source.line()


def write_oneof_enum(source, message, line):
    """The enumeration of a oneof whose fields are scalars: one case a field."""
    oneof, swift, cases = line[1], line[2], dict(word.split("=") for word in line[3:])
    with source.block(f"package enum {swift}: Hashable, Sendable"):
        for field in message.fields:
            if field.oneof == oneof:
                source.doc(field.comment)
                source.line(f"case {cases.get(field.name, camel(field.name))}({field.swift})")
    source.line()


def write_enum(source, proto, comment, value_comments, swift):
    """An enumeration that keeps numbers it does not know."""
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", proto.name).upper() + "_"
    names = []
    for value in proto.value:
        if value.number != len(names) or not value.name.startswith(prefix):
            raise ContractError(f"{proto.name}.{value.name}: values count from 0 and begin with {prefix}")
        names.append(camel(value.name.removeprefix(prefix).lower()))
    source.doc(comment)
    with source.block(f"package struct {swift}: OpenEnumeration"):
        source.line("package let rawValue: Int32")
        source.line("package init(rawValue: Int32) { self.rawValue = rawValue }")
        quoted = ", ".join(f'"{name}"' for name in names)
        source.line(f"package static let names = [{quoted}]")
        for number, name in enumerate(names[1:], 1):
            source.doc(value_comments[number])
            source.line(f"package static let {name} = Self(rawValue: {number})")
    source.line()


def generate(contract):
    """One file: values in the order of the contract."""
    source = Source("package import PerchBase", "package import PerchModel")
    by_type = values_by_type(contract)
    for _, _, _, enums in contract.files:
        for proto, comment, value_comments, _ in enums:
            entry = contract.entries["enum"].get(proto.name)
            if not entry or not {"model", "skip"} & set(entry.words):
                write_enum(source, proto, comment, value_comments, contract.swift_type(proto.name))
    for name, messages in by_type.items():
        write_value(source, name, messages)
    return source.text()
