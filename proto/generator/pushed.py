"""What is pushed, as `PushWriter` writes it: fields from the highest number to the lowest, without a structure between."""
from conversions import c_type
from text import Source


def write_field(source, field, writer, value, inner=None):
    """Statements that write a property."""
    number = field.number
    inner = inner or (lambda value: f"{value}.write(to: &$0)")
    if field.is_repeated:
        with source.block(f"for value in {value}.reversed()"):
            if field.is_message:
                source.line(f"{writer}.message({number}) {{ {inner('value')} }}")
            else:
                source.line(f"{writer}.item({number}, value)")
    elif field.is_message:
        if field.is_optional:
            source.line(f"if let value = {value} {{ {writer}.message({number}) {{ {inner('value')} }} }}")
        else:
            source.line(f"if !{value}.isBlank {{ {writer}.message({number}) {{ {inner(value)} }} }}")
    elif field.oneof:
        raw = {"Instant": "UInt64(bitPattern: value.milliseconds)", "Int": "UInt64(UInt32(value))"}.get(
            field.swift, "UInt64(value)")
        source.line(f"if let value = {value} {{ {writer}.present({number}, {raw}) }}")
    else:
        if field.is_enum:
            written = f"{writer}.value({number}, %s)"
        elif field.swift == "Instant":
            written = f"{writer}.instant({number}, %s)"
        else:
            kind = c_type(field)
            if field.has("codec"):
                value = f"{value} == 0 ? {writer}.{field.property} : {value}"
            written = {
                "String": f"{writer}.text({number}, %s)", "[UInt8]": f"{writer}.bytes({number}, %s)",
                "Bool": f"{writer}.flag({number}, %s)", "Int64": f"{writer}.number({number}, UInt64(bitPattern: %s))",
                "UInt32": f"{writer}.number({number}, UInt32(bitPattern: %s))" if field.swift == "Int32" else f"{writer}.number({number}, %s)",
                "UInt64": f"{writer}.number({number}, %s)",
            }[kind]
        if field.is_optional:
            source.line(f"if let value = {value} {{ {written % 'value'} }}")
        else:
            source.line(written % value)


def write_fields(source, fields, writer, prefix, rare=(), omits=True):
    """Fields downwards. Those that stand behind `rare` are written together where they follow each other."""
    fields, at = sorted(fields, key=lambda field: -field.number), 0
    while at < len(fields):
        run = []
        while at < len(fields) and fields[at].property in rare:
            run.append(fields[at])
            at += 1
        if run:
            with source.block(f"if let rare = {prefix}.rare"):
                for field in run:
                    write_field(source, field, writer, f"rare.value.{field.property}")
            continue
        field = fields[at]
        at += 1
        value = f"{prefix}.{field.value('pushed') or field.value('computed') or field.property}"
        if field.has("signed") and omits:
            with source.block(f"if !{writer}.omitsSignatures"):
                write_field(source, field, writer, value)
        else:
            write_field(source, field, writer, value)


def generate(contract):
    source = Source("import PerchBase", "import PerchModel")
    for _, _, messages, _ in contract.files:
        for message in messages:
            if not message.has("pushed"):
                continue
            with source.block(f"extension {message.swift}"):
                with source.block("func write(to writer: inout PushWriter)"):
                    storage, rare = message.entry.values("storage"), message.entry.values("rare")
                    if storage:
                        write_split(source, message, storage[0], rare)
                    else:
                        write_fields(source, message.fields, "writer", "self")
            source.line()
    return source.text()


def write_split(source, message, storage, rare):
    """A transaction: its signed fields stand in one piece, so that what is around them can be kept as bytes."""
    signed = [field for field in message.fields if field.has("signed")]
    low, high = min(field.number for field in signed), max(field.number for field in signed)
    tail = [field for field in message.fields if field.number > high]
    head = [field for field in message.fields if field.number < low]
    source.line("let contents = self.contents")
    source.line("writer.transaction(self) { writer in")
    for fields, close in ((tail, "} signatures: { writer in"), (signed, "} head: { writer in"), (head, "}")):
        source.depth += 1
        write_fields(source, fields, "writer", storage, rare, omits=False)
        source.depth -= 1
        source.line(close)
