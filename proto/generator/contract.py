"""The contract as the generator sees it: the descriptors of `proto/`, their comments, and what `swift.map` says of them."""
import pathlib
import re

from google.protobuf import descriptor_pb2

FieldType = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    FieldType.TYPE_INT32: "Int32", FieldType.TYPE_INT64: "Int64", FieldType.TYPE_UINT32: "UInt32",
    FieldType.TYPE_UINT64: "UInt64", FieldType.TYPE_DOUBLE: "Double", FieldType.TYPE_BOOL: "Bool",
    FieldType.TYPE_STRING: "String", FieldType.TYPE_BYTES: "[UInt8]",
    FieldType.TYPE_FIXED32: "UInt32", FieldType.TYPE_SFIXED64: "Int64",
}
# Repeated numbers of these types are columns: packed, and copied as they are.
COLUMNS = {FieldType.TYPE_FIXED32, FieldType.TYPE_SFIXED64}
UPPER = {"id": "ID", "ids": "IDs", "url": "URL", "jws": "JWS", "pem": "PEM"}


class ContractError(Exception):
    """A statement of the contract or of the map that the generator cannot follow."""


def camel(name):
    """`product_ids` as Swift writes it: `productIDs`."""
    first, *rest = name.split("_")
    # A flag is a statement in Swift: `include_jws` asks, `includesJWS` says.
    first = {"include": "includes"}.get(first, first)
    return first + "".join(UPPER.get(part, part[:1].upper() + part[1:]) for part in rest)


def lower_first(name):
    return name[:1].lower() + name[1:]


def snake(name):
    """A message's name as protobuf-c writes it in the names of functions."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Field:
    """A field: its place on the wire, and the property that holds it."""

    def __init__(self, message, proto, comment, words):
        self.message, self.proto, self.comment, self.words = message, proto, comment, words
        self.name, self.number = proto.name, proto.number
        # protobuf-c appends an underscore to none of our names; Swift needs backticks for none of them.
        self.is_repeated = proto.label == FieldType.LABEL_REPEATED
        self.is_message = proto.type == FieldType.TYPE_MESSAGE
        self.is_enum = proto.type == FieldType.TYPE_ENUM
        self.is_column = self.is_repeated and proto.type in COLUMNS
        self.type_name = proto.type_name.rsplit(".", 1)[-1]
        self.oneof = message.proto.oneof_decl[proto.oneof_index].name if proto.HasField("oneof_index") else None
        self.property, self.swift = self._names()

    def has(self, word):
        return word in self.words

    def value(self, key):
        """The value of a word `key=value` of the map."""
        return next((word.split("=", 1)[1] for word in self.words if word.startswith(key + "=")), None)

    def _names(self):
        """The property's name and the type of one value."""
        name = self.name
        if self.is_message or self.is_enum:
            swift = self.message.contract.swift_type(self.type_name)
        else:
            swift = SCALARS[self.proto.type]
            if self.proto.type == FieldType.TYPE_INT64 and name.endswith("_ms") and not self.has("milliseconds"):
                name, swift = name.removesuffix("_ms"), "Instant"
        name = re.sub("_ms$", "_milliseconds", re.sub("_us$", "_microseconds", name))
        return self.value("name") or camel(name), self.value("type") or swift

    @property
    def is_optional(self):
        """Whether the property is nil where the field is absent."""
        if self.is_repeated:
            return False
        if self.oneof or self.has("optional") or self.has("required"):
            return True
        return self.is_message and not self.has("plain") and not self.message.contract.is_always_plain(self.type_name)

    @property
    def swift_type(self):
        """The property's whole type."""
        if self.is_repeated:
            return f"[{self.swift}]"
        return self.swift + ("?" if self.is_optional else "")

    @property
    def default(self):
        """What the property is where nothing was said."""
        if self.is_repeated:
            return "[]"
        if self.is_optional:
            return "nil"
        if self.is_message:
            return f"{self.swift}()" if self.message.contract.is_value(self.type_name) else ".blank"
        if self.is_enum:
            return self.value("default") or ".unspecified"
        return {"Instant": "Instant(milliseconds: 0)", "String": '""', "Bool": "false", "[UInt8]": "[]"}.get(self.swift, "0")

    @property
    def blank_test(self):
        """A condition that holds where the property says nothing."""
        here = f"self.{self.property}"
        if self.is_optional:
            return f"{here} == nil"
        if self.is_repeated or self.swift in ("String", "[UInt8]"):
            return f"{here}.isEmpty"
        if self.is_message:
            return f"{here}.isBlank"
        return {"Bool": f"!{here}", "Instant": f"{here}.milliseconds == 0"}.get(
            self.swift, f"{here} == {self.default}")


class Message:
    """A message, the C structure that protobuf-c made of it, and the Swift type that stands for it."""

    def __init__(self, contract, package, proto, comment, field_comments, entry):
        self.contract, self.package, self.proto, self.comment, self.entry = contract, package, proto, comment, entry
        self.name = proto.name
        parts = [part.capitalize() for part in package.split(".")]
        self.c_type = "__".join(parts + [self.name])
        self.c_init = "__".join(package.split(".") + [snake(self.name)]) + "__init"
        self.full_name = f"{package}.{self.name}"
        self.fields = [
            Field(self, field, field_comments.get(index, ""), entry.fields.pop(field.name, []))
            for index, field in enumerate(proto.field)
        ]
        if entry.fields:
            raise ContractError(f"swift.map names fields that {self.full_name} does not have: {', '.join(entry.fields)}")

    @property
    def swift(self):
        return self.entry.swift or self.name

    def has(self, word):
        return word in self.entry.words

    @property
    def throws(self):
        """Whether reading it can refuse what was read."""
        return self.has("throws") or any(
            (field.is_message and self.contract.throws(field.type_name) and not field.has("lenient")) or field.has("required")
            for field in self.fields)

    def constant(self, field):
        """protobuf-c's name of the oneof's case for a field."""
        return f"{self.c_type.replace('__', '__')}".upper() if field is None else "__".join(
            [part.upper() for part in self.package.split(".")]
            + [snake(self.name).upper(), f"{field.oneof.upper()}_{field.name.upper()}"])


class Method:
    """An RPC: its path, what it needs of its caller, and what it carries."""

    def __init__(self, contract, package, service, proto, comment, words):
        self.contract, self.words = contract, words
        self.name, self.case = proto.name, lower_first(proto.name)
        self.service = service
        self.path = f"/{package}.{service}/{proto.name}"
        self.is_streaming = proto.server_streaming
        self.is_safe = proto.options.idempotency_level == descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS
        self.is_idempotent = proto.options.idempotency_level == descriptor_pb2.MethodOptions.IDEMPOTENT
        self.request = contract.messages[proto.input_type.rsplit(".", 1)[-1]]
        self.response = contract.messages[proto.output_type.rsplit(".", 1)[-1]]
        found = re.search(
            r"^\s*Scope: (?:none|(\w+), of (the account|what all accounts see|the app|the server))\.$", comment, re.M)
        if not found:
            raise ContractError(
                f"{self.path} does not say what it needs: end its comment with a line such as 'Scope: read, of the account.'")
        # Without a scope, no credentials are needed.
        self.scope = found[1]
        self.reach = {"the account": "account", "what all accounts see": "catalogue", "the app": "app",
                      "the server": "server", None: None}[found[2]]
        if self.reach == "account" and not any(field.name == "account" for field in self.request.fields):
            raise ContractError(f"{self.path} is of the account, but {self.request.name} has no field 'account'")
        self.comment = (comment[:found.start()] + comment[found.end():]).strip()

    def value(self, key):
        return next((word.split("=", 1)[1] for word in self.words if word.startswith(key + "=")), None)


class Entry:
    """What the map says of a message or an enumeration."""

    def __init__(self, swift=None, words=()):
        self.swift, self.words, self.fields, self.lines = swift, list(words), {}, []

    def values(self, key):
        """The words behind `key` on a line of its own."""
        return next((line[1:] for line in self.lines if line[0] == key), [])


def read_map(path):
    """`swift.map`: entries by kind and name."""
    entries = {"message": {}, "enum": {}, "rpc": {}, "services": []}
    current = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#", 1)[0].rstrip()
        if not text:
            continue
        words = text.split()
        if not text.startswith(" "):
            kind, name, *rest = words
            if kind == "services":
                entries["services"] = words[1:]
                continue
            if kind not in entries:
                raise ContractError(f"{path.name}:{number}: '{kind}' is not 'services', 'message', 'enum' or 'rpc'")
            swift = None
            if rest[:1] == ["="]:
                swift, rest = rest[1], rest[2:]
            current = entries[kind][name] = Entry(swift, rest)
        elif words[0].endswith(":"):
            current.lines.append([words[0][:-1]] + words[1:])
        else:
            current.fields[words[0]] = words[1:]
    return entries


def is_acknowledgement(proto):
    """Whether a response has nothing but the position of its change: all of those are one Swift type."""
    return (proto.name.endswith("Response") and [field.name for field in proto.field] == ["position"]
            and proto.field[0].type_name.endswith(".Position"))


class Contract:
    """Every message, enumeration and method of the descriptors, in the order of the files."""

    def __init__(self, descriptors, map_path):
        self.entries = read_map(map_path)
        self.files, self.messages, self.enums, self.methods = [], {}, {}, []
        services = []
        # Types first: fields of one file name those of another.
        for file in descriptors.file:
            for proto in file.message_type:
                self.messages[proto.name] = proto
            for proto in file.enum_type:
                self.enums[proto.name] = proto
        for name, proto in self.messages.items():
            if is_acknowledgement(proto):
                self.entries["message"].setdefault(name, Entry("Acknowledgement"))
        for kind, known in (("message", self.messages), ("enum", self.enums)):
            unknown = set(self.entries[kind]) - set(known)
            if unknown:
                raise ContractError(f"swift.map names what the contract does not have: {', '.join(sorted(unknown))}")
        for file in descriptors.file:
            comments = {tuple(at.path): at.leading_comments for at in file.source_code_info.location}
            messages = []
            for index, proto in enumerate(file.message_type):
                fields = {at: comments.get((4, index, 2, at), "") for at in range(len(proto.field))}
                entry = self.entries["message"].get(proto.name, Entry())
                message = Message(self, file.package, proto, comments.get((4, index), ""), fields, entry)
                self.messages[proto.name] = message
                messages.append(message)
            enums = [(proto, comments.get((5, index), ""), [comments.get((5, index, 2, at), "") for at in range(len(proto.value))], file.package)
                     for index, proto in enumerate(file.enum_type)]
            self.files.append((pathlib.PurePath(file.name).stem, file.package, messages, enums))
            for index, service in enumerate(file.service):
                services.append((file.package, service, comments, index))
        order = self.entries["services"]
        if sorted(order) != sorted(service.name for _, service, _, _ in services):
            raise ContractError(f"swift.map orders other services than the contract has: {', '.join(order)}")
        for package, service, comments, index in sorted(services, key=lambda found: order.index(found[1].name)):
            for at, proto in enumerate(service.method):
                entry = self.entries["rpc"].get(proto.name, Entry())
                self.methods.append(Method(
                    self, package, service.name, proto, comments.get((6, index, 2, at), ""), entry.words))

    def swift_type(self, name):
        for kind in ("message", "enum"):
            entry = self.entries[kind].get(name)
            if entry and entry.swift:
                return entry.swift
        return name

    def _words(self, name):
        entry = self.entries["message"].get(name)
        return entry.words if entry else []

    def is_always_plain(self, name):
        """A message that a property always has, and that is left out where it says nothing."""
        return "plain" in self._words(name)

    def is_value(self, name):
        """Whether the generator makes the Swift type itself."""
        return not {"model", "hand"} & set(self._words(name))

    def throws(self, name):
        message = self.messages[name]
        return message.throws if isinstance(message, Message) else "throws" in self._words(name)
