"""The method table, requests and responses of all methods, and the codec's switches over them."""
from text import Source
from values import union


def payload(message):
    """The Swift type that a request or a response carries; nil where there is nothing to carry."""
    return message.swift if message.fields else None


def conformances(contract):
    source = Source("import CPerchProto")
    for _, package, messages, enums in contract.files:
        for message in messages:
            with source.block(f"extension {message.c_type}: CMessage"):
                source.line(f"static func prepare(_ message: UnsafeMutablePointer<Self>) {{ {message.c_init}(message) }}")
        prefix = "__".join(part.capitalize() for part in package.split("."))
        for proto, _, _, _ in enums:
            source.line(f"extension {prefix}__{proto.name}: CEnumeration {{}}")
    source.line()
    source.line("extension MessageScan {")
    source.line("    /// The description of every message, by its full name. Safe, because they are constants of the C library.")
    source.line("    static let descriptions: [String: UnsafePointer<ProtobufCMessageDescriptor>] = [")
    for _, _, messages, _ in contract.files:
        for message in messages:
            source.line(f"        \"{message.full_name}\": {message.c_type}.descriptor,")
    source.line("    ]")
    source.line("}")
    return source.text().replace("static let descriptions", "nonisolated(unsafe) static let descriptions")


def switch(source, head, rows):
    with source.block(head):
        for row in rows:
            source.line(row)


def method_table(contract):
    source = Source("package import PerchBase", "package import PerchModel")
    methods = contract.methods
    source.doc("Every RPC of the contract.")
    with source.block("package enum Method: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable"):
        for method in methods:
            source.doc(method.comment)
            source.line(f"case {method.case}")
        source.line()
        source.doc("Paths as in gRPC, `/package.Service/Method`, in the order of the cases.")
        source.line("static let paths: [String] = [")
        for method in methods:
            source.line(f"    \"{method.path}\",")
        source.line("]")
        source.line()
        source.doc("Whether the answer is a stream, which has no end of its own.")
        switch_property(source, "isStreaming: Bool", methods, lambda method: method.is_streaming)
        source.doc("Whether a call changes nothing: the contract says `NO_SIDE_EFFECTS`.")
        switch_property(source, "isSafe: Bool", methods, lambda method: method.is_safe)
        source.doc("Whether repeated calls have the effect of one: the contract says `IDEMPOTENT`.")
        switch_property(source, "isIdempotent: Bool", methods, lambda method: method.is_idempotent)
        source.doc("The longest request, in bytes.")
        with source.block("package var requestBytesMax: Int"):
            with source.block("switch self"):
                for method in methods:
                    if method.value("request"):
                        source.line(f"case .{method.case}: Limits.{method.value('request')}")
                source.line("default: Limits.requestBytesMax")
    source.line()
    source.doc("A request of any method, as both sides have it.")
    with source.block("package indirect enum Request: Hashable, Sendable"):
        for method in methods:
            source.line(f"case {method.case}" + (f"({payload(method.request)})" if payload(method.request) else ""))
        source.line()
        same_case(source, methods)
    source.line()
    source.doc("A response message of any method, as both sides have it. A streaming method sends many.")
    with source.block("package enum Response: Hashable, Sendable"):
        for method in methods:
            source.line(f"case {method.case}({payload(method.response)})")
        source.line()
        same_case(source, methods)
    source.line()
    with source.block("extension Request"):
        source.doc("The app that the request names; nil for a method that is about the server.")
        parts(source, methods, "app", "AppReference")
        source.doc("The position that the caller demands at least.")
        parts(source, methods, "atLeast", "Position")
        source.doc("The token that a call resumes from, empty where it begins; nil for a call that has none.")
        parts(source, methods, "resumeToken", "[UInt8]")
        source.doc("The moment that a read is about; nil for a call that is about now.")
        parts(source, methods, "asOf", "AsOf")
        source.doc("Whether the answer is to have signed forms; nil where it has none.")
        parts(source, methods, "includesJWS", "Bool")
        source.doc("The account that the request names.")
        parts(source, methods, "account", "String")
        source.doc("The key that makes a mutation safe to repeat, empty where the caller gave none; nil for a read.")
        parts(source, methods, "idempotencyKey", "[UInt8]")
    source.line()
    with source.block("extension Response"):
        source.doc("The position of a mutation; nil for a read.")
        with source.block("package var position: Position?"):
            with source.block("switch self"):
                for method in methods:
                    if any(property.name == "position" and property.swift_type == "Position?"
                           for property in state_free(method.response)):
                        source.line(f"case .{method.case}(let answer): answer.position")
                source.line("default: nil")
    return source.text()


def state_free(message):
    return [] if message.has("state") or message.has("hand") else union([message])


def switch_property(source, head, methods, holds):
    with source.block(f"package var {head}"):
        with source.block("switch self"):
            having = [f".{method.case}" for method in methods if holds(method)]
            if having:
                source.line(f"case {', '.join(having)}: true")
            source.line("default: false")
    source.line()


def same_case(source, methods):
    with source.block("package var method: Method"):
        with source.block("switch self"):
            for method in methods:
                source.line(f"case .{method.case}: .{method.case}")


def parts(source, methods, name, swift_type):
    with source.block(f"package var {name}: {swift_type}?"):
        with source.block("switch self"):
            for method in methods:
                has = any(property.name == name for property in state_free(method.request))
                if has:
                    source.line(f"case .{method.case}(let asked): asked.{name}")
            source.line("default: nil")
    source.line()


def codec(contract):
    source = Source("import CPerchProto", "import PerchBase", "import PerchModel")
    methods = contract.methods
    with source.block("extension MessageCodec"):
        source.doc("Reads a request, within the limits of requests. The caller bounds its length by `Method.requestBytesMax`.")
        with source.block("package func decodeRequest(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Request"):
            with source.block("switch method"):
                for method in methods:
                    decode(source, method, method.request, "request", method.value("quick"))
        source.line()
        source.doc("Writes a request.")
        with source.block("package func encode(_ request: Request) throws(MessageError) -> Encoded"):
            source.line("let arena = self.arena")
            with source.block("switch request"):
                for method in methods:
                    encode(source, method, method.request, False, "packRequest")
        source.line()
        source.doc("Reads a response message, within the limits of what servers send.")
        with source.block("package func decodeResponse(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Response"):
            with source.block("switch method"):
                for method in methods:
                    decode(source, method, method.response, "response", None)
        source.line()
        source.doc("Writes a response message.")
        with source.block("package func encode(_ response: Response) throws(MessageError) -> Encoded"):
            source.line("let arena = self.arena")
            with source.block("switch response"):
                for method in methods:
                    encode(source, method, method.response, "pushed" in method.words)
    source.line()
    with source.block("extension Method"):
        source.doc("protobuf-c's description of the request.")
        with source.block("var requestDescriptor: UnsafePointer<ProtobufCMessageDescriptor>"):
            with source.block("switch self"):
                for method in methods:
                    source.line(f"case .{method.case}: {method.request.c_type}.descriptor")
        source.line()
        source.doc("protobuf-c's description of one response message.")
        with source.block("var responseDescriptor: UnsafePointer<ProtobufCMessageDescriptor>"):
            with source.block("switch self"):
                for method in methods:
                    source.line(f"case .{method.case}: {method.response.c_type}.descriptor")
    return source.text()


def decode(source, method, message, side, quick):
    source.line(f"case .{method.case}:")
    source.depth += 1
    if quick:
        with source.block(f"if let quick = bytes.withUnsafeBytes({{ QuickReader.{quick}($0, names: self.names) }})"):
            source.line(f"return .{method.case}(quick)")
    read = f"try self.{side}({message.c_type}.self, bytes)"
    if not message.fields:
        source.line(f"_ = {read}")
        source.line(f"return .{method.case}")
    else:
        source.line(f"return .{method.case}({'try ' if message.throws or message.has('state') else ''}{message.swift}({read}))")
    source.depth -= 1


def encode(source, method, message, is_pushed, pack="pack"):
    if not message.fields:
        source.line(f"case .{method.case}: return try self.{pack}({message.c_type}.self) {{ _ in }}")
    elif is_pushed:
        source.line(f"case .{method.case}(let value): return try self.encode(value)")
    else:
        source.line(f"case .{method.case}(let value): return try self.{pack}({message.c_type}.self) {{ value.write(to: $0, arena) }}")


def calls(contract):
    """What a client needs of a method: its name, and the types of what is asked and answered."""
    source = Source("package import PerchModel")
    source.doc("A method as a client calls it: how its request is wrapped, and its answers are unwrapped.")
    with source.block("package struct ContractCall<Asked, Answer>: Sendable"):
        source.line("package let method: Method")
        source.line("package let wrap: @Sendable (Asked) -> Request")
        source.line("package let unwrap: @Sendable (Response) -> Answer?")
    source.line()
    source.doc("Every method as a client calls it.")
    with source.block("package enum Calls"):
        for method in contract.methods:
            asked, answer = payload(method.request) or "Void", payload(method.response)
            source.doc(method.comment)
            with source.block(f"package static var {method.case}: ContractCall<{asked}, {answer}>"):
                wrap = f"{{ _ in .{method.case} }}" if asked == "Void" else f"{{ .{method.case}($0) }}"
                source.line(f"ContractCall(method: .{method.case}, wrap: {wrap}) {{")
                source.line(f"    if case .{method.case}(let answer) = $0 {{ answer }} else {{ nil }}")
                source.line("}")
    return source.text()


def permissions(contract):
    source = Source("package import PerchWire")
    with source.block("extension Permission"):
        source.doc("What a method needs, as the contract says it (`Scope: …` in the comment of each method).\n\n"
                   "`Tests/PerchCoreTests/PermissionMatrix.md` shows what each row means for each identity.")
        with source.block("package init(for method: Method)"):
            with source.block("switch method"):
                for method in contract.methods:
                    needs = f"self.init(.{method.scope}, .{method.reach})" if method.scope else "self = .open"
                    source.line(f"case .{method.case}: {needs}")
    return source.text()


def handlers(contract):
    """Every method's handler: which kind it is, what its request has, and how its answer is wrapped."""
    source = Source("import PerchModel", "import PerchWire")
    shared = (("account", "String?"), ("asOf", "AsOf?"), ("includesJWS", "Bool"))
    with source.block("extension Request"):
        source.doc("The handler of the request's method, by the contract: a method without one does not compile.")
        with source.block("var handler: any MethodHandler"):
            with source.block("switch self"):
                for method in contract.methods:
                    asked = payload(method.request)
                    source.line(f"case .{method.case}" + (f"(let asked): {method.name}(asked: asked)" if asked
                                                          else f": {method.name}()"))
    for method in contract.methods:
        source.line()
        kind, effect = ("SafeMethod", "ChangesNothing") if method.is_safe else ("ChangingMethod", "ChangesSomething")
        with source.block(f"extension {method.name}: {kind}"):
            source.line(f"typealias Effect = {effect}")
            source.line(f"static func response(_ answer: {payload(method.response)}) -> Response {{ .{method.case}(answer) }}")
            for name, swift_type in shared:
                if any(property.name == name for property in state_free(method.request)):
                    source.line(f"var {name}: {swift_type} {{ self.asked.{name} }}")
    return source.text()
