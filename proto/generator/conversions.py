"""How values stand in protobuf-c's structures: one extension a Swift type, with a `write` and an `init` for each message."""
from contract import SCALARS, camel
from text import Source
from values import oneof_enums, properties, union, values_by_type

C_INTEGERS = {"Int32", "Int64", "UInt32", "UInt64", "Double"}


def c_type(field):
    return SCALARS.get(field.proto.type)


# MARK: One field


def to_c(field, value):
    """The expression that C stores for a value that is there."""
    if field.value("via"):
        return f"{field.value('via')}.write({value})"
    if field.is_message:
        return f"arena.message {{ {value}.write(to: $0, arena) }}"
    if field.is_enum:
        return f".init({value})"
    if field.swift == "Instant":
        return f"{value}.milliseconds"
    if field.has("codec"):
        return f"{value} == 0 ? arena.{field.property} : {value}"
    kind = c_type(field)
    if kind == "String":
        return f"arena.text({value})"
    if kind == "[UInt8]":
        return f"arena.bytes({value})"
    if kind == "Bool":
        return f"{value} ? 1 : 0"
    if field.swift == kind:
        return value
    return f"{kind}(bitPattern: {value})" if field.swift in C_INTEGERS else f"{kind}({value})"


def from_c(field, pointer):
    """The value of a field that is there."""
    stored = f"{pointer}.{field.name}"
    if field.value("via"):
        return f"try {field.value('via')}.read({stored})"
    if field.is_message:
        raise AssertionError(f"{field.name} is a message")
    if field.is_enum:
        return f"{field.swift}({stored})"
    if field.swift == "Instant":
        return f"Instant(milliseconds: {stored})"
    kind = c_type(field)
    if kind == "String":
        return f"String(wire: {stored})"
    if kind == "[UInt8]":
        return f"[UInt8]({stored})"
    if kind == "Bool":
        return f"{stored} != 0"
    if field.swift == kind:
        return stored
    return f"{field.swift}(bitPattern: {stored})" if field.swift in C_INTEGERS else f"{field.swift}({stored})"


def write_field(source, field, pointer, value):
    """Statements that store a property."""
    stored = f"{pointer}.{field.name}"
    if field.is_repeated:
        if field.is_message:
            made = f"arena.list({value}) {{ $0.write(to: $1, arena) }}"
        else:
            made = f"arena.{'column' if field.is_column else 'values' if field.is_enum else 'texts'}({value})"
        source.line(f"({pointer}.n_{field.name}, {stored}) = {made}")
    elif field.is_optional:
        with source.block(f"if let value = {value}"):
            if field.oneof:
                source.line(f"{pointer}.{field.oneof}_case = {field.message.constant(field)}")
            source.line(f"{stored} = {to_c(field, 'value')}")
    elif field.is_message:
        source.line(f"if !{value}.isBlank {{ {stored} = {to_c(field, value)} }}")
    else:
        source.line(f"{stored} = {to_c(field, value)}")


def read_field(source, field, pointer):
    """The expression of a property's value, after the statements that it needs."""
    contract, stored = field.message.contract, f"{pointer}.{field.name}"
    name = f"perch.{field.message.full_name.split('.', 1)[1]}.{field.name}"
    if field.is_repeated:
        if not field.is_message:
            read = "readColumn" if field.is_column else "readValues" if field.is_enum else "readTexts"
            return f"{read}({pointer}.n_{field.name}, {stored})"
        count = f"{pointer}.n_{field.name}, {stored}"
        if not contract.throws(field.type_name):
            return f"readList({count}) {{ {field.swift}($0) }}"
        if field.has("lenient"):
            return f"readKnown({count}) {{ message throws(MessageError) in try {field.swift}(message) }}"
        return f"try readEach({count}) {{ message throws(MessageError) in try {field.swift}(message) }}"
    if field.is_message:
        if contract.throws(field.type_name):
            return read_throwing(source, field, stored, name)
        value = f"read({stored}) {{ {field.swift}($0) }}"
        if field.oneof:
            # The members of a oneof share their memory.
            return f"{pointer}.{field.oneof}_case == {field.message.constant(field)} ? {value} : nil"
        return value if field.is_optional else f"{value} ?? {field.default}"
    value = from_c(field, pointer)
    if field.oneof:
        return f"{pointer}.{field.oneof}_case == {field.message.constant(field)} ? {value} : nil"
    if field.is_optional:
        return f"notBlank({value})"
    return value


def read_throwing(source, field, stored, name):
    """A nested message whose reading may refuse."""
    owner = f", of: \"{field.message.name}\"" if "owned" in field.message.contract._words(field.type_name) else ""
    if field.has("required"):
        with source.block(f"guard let {field.property} = {stored} else"):
            source.line(f"throw .missing(field: \"{name}\")")
        return f"try {field.swift}({field.property}{owner})"
    if field.is_optional:
        source.line(f"var {field.property}: {field.swift}?")
        source.line(f"if let found = {stored} {{ {field.property} = try {field.swift}(found{owner}) }}")
        return field.property
    return f"try {field.swift}({stored}{owner})"


# MARK: Oneofs as enumerations


class Case:
    """A case of an enumeration, and the field of the oneof that it stands for."""

    def __init__(self, message, field, name, arguments):
        self.field, self.name = field, name
        self.nested = message.contract.messages[field.type_name] if field.is_message else None
        self.arguments = []
        for index, argument in enumerate(arguments):
            label, _, what = argument.rpartition(":")
            self.arguments.append((label, what, f"value{index}"))

    def pattern(self):
        if not self.arguments or self.arguments[0][1] == "true":
            return f".{self.name}"
        return f".{self.name}({', '.join(f'let {variable}' for _, _, variable in self.arguments)})"

    def nested_field(self, name):
        return next(field for field in self.nested.fields if field.name == name)


def cases(message, oneof):
    """The cases of a oneof: those that the map spells out, and for the others the field itself."""
    spelled = {line[1]: line[2:] for line in message.entry.lines if line[0] == "case"}
    made = []
    for field in message.fields:
        if field.oneof != oneof:
            continue
        name, *arguments = spelled.get(field.name, [camel(field.name)])
        if not arguments and not field.is_message:
            arguments = ["."]
        made.append(Case(message, field, name, arguments))
    return made


def write_cases(source, message, oneof, subject, optional):
    with source.block(f"switch {subject}"):
        for case in cases(message, oneof):
            source.line(f"case {case.pattern()}{'?' if optional else ''}:")
            source.depth += 1
            source.line(f"message.pointee.{oneof}_case = {message.constant(case.field)}")
            stored = f"message.pointee.{case.field.name}"
            if case.nested is None:
                what, variable = case.arguments[0][1:]
                source.line(f"{stored} = {'1' if what == 'true' else to_c(case.field, variable)}")
            elif not case.arguments:
                source.line(f"{stored} = arena.message {{ _ in }}")
            elif case.arguments[0][1].startswith("*") and len(case.arguments) == 1:
                source.line(f"{stored} = arena.message {{ {case.arguments[0][2]}.write(to: $0, arena) }}")
            else:
                with source.block(f"{stored} = arena.message"):
                    for _, what, variable in case.arguments:
                        if what.startswith("*"):
                            source.line(f"{variable}.write(to: $0, arena)")
                        else:
                            write_nested(source, case.nested_field(what), variable)
            source.depth -= 1
        if optional:
            source.line("case nil: break")


def write_nested(source, field, variable):
    """A field of a case's message, within the closure that fills it."""
    if field.is_message and field.has("required"):
        source.line(f"$0.pointee.{field.name} = {to_c(field, variable)}")
    elif field.is_optional:
        source.line(f"if let value = {variable} {{ $0.pointee.{field.name} = {to_c(field, 'value')} }}")
    else:
        source.line(f"$0.pointee.{field.name} = {to_c(field, variable)}")


def read_cases(source, message, oneof, assign, otherwise):
    with source.block(f"switch message.pointee.{oneof}_case"):
        for case in cases(message, oneof):
            source.line(f"case {message.constant(case.field)}:")
            source.depth += 1
            stored, read = f"message.pointee.{case.field.name}", []
            if case.nested is None:
                if case.arguments[0][1] == "true":
                    with source.block(f"guard {stored} != 0 else"):
                        source.line(f"throw .invalid(field: \"{message.full_name}.{case.field.name}\", found: \"false\", "
                                    f"expected: \"true, or another {oneof}\")")
                else:
                    read.append(labelled(case.arguments[0][0], from_c(case.field, "message.pointee")))
            elif case.arguments:
                read = [labelled(label, read_argument(source, case, what, stored))
                        for label, what, _ in case.arguments]
            made = f".{case.name}({', '.join(read)})" if read else f".{case.name}"
            source.line(f"{assign} = {made}")
            source.depth -= 1
        source.line(f"default: {otherwise}")


def labelled(label, value):
    return f"{label}: {value}" if label else value


def read_argument(source, case, what, stored):
    if what.startswith("*"):
        swift = what[1:]
        return f"{'try ' if case.field.has('throws') else ''}{swift}({stored})"
    return read_field(source, case.nested_field(what), f"{stored}.pointee")


# MARK: One message


def write_method(source, message):
    enums, done = oneof_enums(message), set()
    with source.block(f"func write(to message: UnsafeMutablePointer<{message.c_type}>, _ arena: Arena)"):
        signed = [field for field in message.fields if field.has("signed")]
        for field in message.fields:
            if field in signed:
                continue
            if field.oneof in enums:
                if field.oneof not in done:
                    done.add(field.oneof)
                    is_self = message.has("choice")
                    write_cases(source, message, field.oneof, "self" if is_self else f"self.{camel(field.oneof)}", not is_self)
                continue
            write_field(source, field, "message.pointee", f"self.{field.value('computed') or field.property}")
        if signed:
            source.line("if arena.omitsSignatures { return }")
            for field in signed:
                write_field(source, field, "message.pointee", f"self.{field.property}")


def read_method(source, message, order):
    """`order`: of the properties of its Swift type, which several messages may share."""
    enums = oneof_enums(message)
    throws = " throws(MessageError)" if message.throws else ""
    with source.block(f"init(_ message: UnsafeMutablePointer<{message.c_type}>){throws}"):
        if message.has("choice"):
            (oneof,) = enums
            read_cases(source, message, oneof, "self", f"throw .missing(field: \"{message.full_name}.{oneof}\")")
            return
        values, nested = {}, {}
        for field in message.fields:
            if field.value("computed"):
                continue
            if field.oneof in enums:
                name = camel(field.oneof)
                if name not in values:
                    source.line(f"let {name}: {enums[field.oneof]}?")
                    read_cases(source, message, field.oneof, name, f"{name} = nil")
                    values[name] = name
                continue
            value = read_field(source, field, "message.pointee")
            name, _, inner = field.property.partition(".")
            if inner:
                nested.setdefault(name, []).append(f"{inner}: {value}")
                swift = next(line[2] for line in message.entry.lines if line[0] == "nest" and line[1] == name)
                values[name] = f"{swift}({', '.join(nested[name])})"
            else:
                values[name] = value
        first = message.entry.values("init") or sorted(values, key=order.index)
        source.call("self.init", [f"{name}: {values.pop(name)}" for name in first])
        later = message.entry.values("later") or ["self"]
        if not values:
            return
        if later[0] == "change":
            with source.block("self.change"):
                for name, value in values.items():
                    source.line(f"$0.{name} = {value}")
        else:
            for name, value in values.items():
                source.line(f"self.{name} = {value}")


def generate(contract):
    """One file: an extension for each message, in the order of the contract."""
    source = Source("import CPerchProto", "import PerchBase", "import PerchModel")
    by_type = values_by_type(contract)
    for _, _, messages, _ in contract.files:
        for message in messages:
            if message.has("skip") or message.has("hand"):
                continue
            if message.has("state"):
                write_state(source, message)
                continue
            if message.has("unwrap"):
                write_unwrapped(source, message)
                continue
            if not message.fields:
                continue
            with source.block(f"extension {message.swift}"):
                write_method(source, message)
                source.line()
                shared = by_type.get(message.swift, [message])
                read_method(source, message, [property.name for property in union(shared)])
            source.line()
    return source.text()


# MARK: States of tasks


def write_state(source, message):
    """A response with a task's state: its value stands in the message of field `success`."""
    body = next(field for field in message.fields if field.name == "success")
    inner = message.contract.messages[body.type_name]
    kind = "stream" if any(field.name == "loading" for field in message.fields) else "read"
    source.line(f"extension {message.c_type}: {kind.capitalize()}Message {{}}")
    source.line(f"extension {message.c_type}__StateCase: CEnumeration {{}}")
    write, read = "$0.write(to: $1, arena)", f"{inner.swift}($0)"
    if inner.has("unwrap"):
        write = f"{inner.c_type}.write($0, to: $1, arena)"
        read = f"{inner.c_type}.value($0)"
    with source.block(f"extension {message.swift}"):
        with source.block(f"func write(to message: UnsafeMutablePointer<{message.c_type}>, _ arena: Arena)"):
            source.line(f"self.write({kind}: message, arena) {{ {write} }}")
        source.line()
        with source.block(f"init(_ message: UnsafeMutablePointer<{message.c_type}>) throws(MessageError)"):
            source.line(f"try self.init(of: message) {{ {read} }}")
    source.line()


def write_unwrapped(source, message):
    """A message that its only field stands for."""
    (field,) = message.fields
    swift_type = field.swift_type
    with source.block(f"extension {message.c_type}"):
        with source.block(f"static func write(_ value: {swift_type}, to message: UnsafeMutablePointer<Self>, _ arena: Arena)"):
            write_field(source, field, "message.pointee", "value")
        source.line()
        with source.block(f"static func value(_ message: UnsafeMutablePointer<Self>) -> {swift_type}"):
            source.line(read_field(source, field, "message.pointee"))
    source.line()
