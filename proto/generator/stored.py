"""How the store keeps a message: a set of the fields that differ from their usual value, then the fields by number.

The random sample of the message, with which tests try that form, has the same source.
"""
from contract import ContractError, lower_first
from conversions import c_type
from text import Source


def usual(field):
    """The value that is not written: the map's, or the one of an absent field."""
    return field.value("stored") or field.default


def differs(field, storage):
    """A condition that holds where a field is written."""
    if field.value("pushed"):
        return f"!{storage}.{field.value('pushed')}.isEmpty"
    here = f"self.{field.property}"
    if field.swift == "Bool":
        return here
    if field.value("stored"):
        other = field.value("stored")
        return f"{here} != {'self.' + other if other[:1].isalpha() else other}"
    if not field.is_optional and field.swift in ("String", "[UInt8]"):
        return f"!{here}.isEmpty"
    return f"{here} != {usual(field)}"


def write(field, value):
    if field.is_enum or field.is_message:
        return f"{value}.write(to: &writer)"
    return f"writer.write({value})"


def read(field):
    if field.is_enum or field.is_message or field.swift == "Instant":
        return f"try {field.swift}(from: &reader)"
    kind = c_type(field)
    if field.swift != kind or kind not in ("UInt32", "UInt64", "String", "[UInt8]"):
        raise ContractError(f"{field.name}: the store has no form for {field.swift}")
    return "try reader." + {"UInt32": "uint32", "UInt64": "uint64", "String": "string", "[UInt8]": "blob"}[kind] + "()"


def write_message(source, message):
    always = message.entry.values("always")
    mandatory = [field for field in message.fields if field.property in always]
    others = [field for field in message.fields if field.property not in always]
    if any(field.is_repeated for field in message.fields) or len(others) > 31:
        raise ContractError(f"{message.name}: the store keeps single fields, and at most 31 that can be absent")
    with source.block(f"extension {message.swift}: StoreCoded"):
        with source.block("func write(to writer: inout ByteWriter)"):
            source.line("var present: UInt32 = 0")
            for bit, field in enumerate(others):
                source.line(f"if {differs(field, 'self.' + message.entry.values('storage')[0])} {{ present |= 1 << {bit} }}")
            source.line("writer.write(present)")
            for field in mandatory:
                source.line(write(field, f"self.{field.property}"))
            for bit, field in enumerate(others):
                if field.is_optional:
                    source.line(f"if let value = self.{field.property} {{ {write(field, 'value')} }}")
                elif field.swift != "Bool":
                    source.line(f"if present & (1 << {bit}) != 0 {{ {write(field, 'self.' + field.property)} }}")
        source.line()
        with source.block("init(from reader: inout ByteReader) throws(DecodingFault)"):
            source.line("let start = reader.offset")
            source.line("let present = try reader.uint32()")
            source.line(f"guard present < 1 << {len(others)} else {{ throw .invalid(\"set of fields\", atOffset: start) }}")
            for field in mandatory:
                source.line(f"let {field.property} = {read(field)}")
            by_name = {field.property: field for field in message.fields}
            source.call("self.init", [
                f"{name}: {name if name in always else usual(by_name[name])}" for name in message.entry.values("init")])
            with source.block("try self.change"):
                source.line("rest throws(DecodingFault) in")
                for bit, field in enumerate(others):
                    value = "true" if field.swift == "Bool" else read(field)
                    source.line(f"if present & (1 << {bit}) != 0 {{ rest.{field.property} = {value} }}")
    source.line()


def generate(contract):
    source = Source("import PerchBase", "import PerchModel")
    for _, _, messages, _ in contract.files:
        for message in messages:
            if message.has("stored"):
                write_message(source, message)
    return source.text()


def random(field, source="self"):
    """A random value of a property's type."""
    if field.is_message:
        return f"{source}.{lower_first(field.swift)}()"
    if field.value("pushed"):
        return f"{source}.accountToken()"
    if field.is_enum:
        return f"{source}.open()"
    return source + {
        "Instant": ".instant()", "Bool": ".bool()", "[UInt8]": ".bytes(upTo: 20)", "String": ".string()",
        "UInt32": ".uint32()", "UInt64": ".uint64()",
    }[field.swift]


def sample(source, message):
    name, labels = lower_first(message.swift), message.entry.values("init")
    by_name = {field.property: field for field in message.fields}
    with source.block("extension SeededRandom"):
        source.doc("Every field is random, and has its usual value often enough.")
        with source.block(f"package mutating func {name}() -> {message.swift}"):
            source.call(f"var value = {message.swift}", [f"{label}: {random(by_name[label])}" for label in labels])
            for label in labels:
                if by_name[label].value("stored"):
                    source.line(f"if self.bool() {{ value.{label} = value.{by_name[label].value('stored')} }}")
            for field in message.fields:
                if field.property in labels:
                    continue
                made = random(field)
                if field.is_optional:
                    made = f"self.optional {{ {random(field, '$0')} }}"
                elif field.value("stored") and not field.is_enum:
                    made = f"self.bool() ? {field.value('stored')} : {made}"
                source.line(f"value.{field.property} = {made}")
            source.line("return value")
    source.line()


def samples(contract):
    source = Source("package import PerchModel")
    for _, _, messages, _ in contract.files:
        for message in messages:
            if message.has("stored"):
                sample(source, message)
    return source.text()
