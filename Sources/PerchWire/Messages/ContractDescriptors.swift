import CPerchProto

/// The files of the contract as protobuf describes them: what reflection answers with.
package struct ContractDescriptors: Sendable {
    package struct File: Sendable {
        package var name: String
        package var bytes: [UInt8]
        package var dependencies: [String] = []
    }

    private var files: [String: File] = [:]
    /// Fully qualified names of messages, enumerations, services and methods, and the file of each.
    private var symbols: [String: String] = [:]
    package private(set) var services: [String] = []

    package static let shared = ContractDescriptors()

    private init() {
        let set = Array(
            UnsafeRawBufferPointer(
                start: perch_descriptors_start(), count: perch_descriptors_count))
        var fields = ProtobufFields(set[...])
        while let field = fields.next() {
            if case .piece(let file) = field.value, field.field == 1 { self.add(file) }
        }
        for file in Self.ownOfGRPC { self.add(file[...]) }
        self.services.sort()
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        var file = File(name: "", bytes: Array(bytes))
        var package = ""
        var fields = ProtobufFields(bytes)
        while let field = fields.next() {
            guard case .piece(let piece) = field.value else { continue }
            switch field.field {
            case 1: file.name = Self.text(piece)
            case 2: package = Self.text(piece)
            case 3: file.dependencies.append(Self.text(piece))
            default: break
            }
        }
        fields = ProtobufFields(bytes)
        while let field = fields.next() {
            guard case .piece(let piece) = field.value else { continue }
            switch field.field {
            case 4: self.addMessage(piece, in: package, file.name)
            case 5: self.symbols["\(package).\(Self.name(piece))"] = file.name
            case 6: self.addService(piece, in: package, file.name)
            default: break
            }
        }
        self.files[file.name] = file
    }

    private mutating func addMessage(_ bytes: ArraySlice<UInt8>, in scope: String, _ file: String) {
        let name = "\(scope).\(Self.name(bytes))"
        self.symbols[name] = file
        var fields = ProtobufFields(bytes)
        while let field = fields.next() {
            guard case .piece(let piece) = field.value else { continue }
            if field.field == 3 { self.addMessage(piece, in: name, file) }
            if field.field == 4 { self.symbols["\(name).\(Self.name(piece))"] = file }
        }
    }

    private mutating func addService(_ bytes: ArraySlice<UInt8>, in package: String, _ file: String) {
        let name = "\(package).\(Self.name(bytes))"
        self.symbols[name] = file
        self.services.append(name)
        var fields = ProtobufFields(bytes)
        while let field = fields.next() {
            if case .piece(let piece) = field.value, field.field == 2 {
                self.symbols["\(name).\(Self.name(piece))"] = file
            }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Field 1 of every description.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String {
        var fields = ProtobufFields(bytes)
        while let field = fields.next() {
            if field.field == 1, case .piece(let piece) = field.value { return Self.text(piece) }
        }
        return ""
    }

    /// A file, and those that it imports, each once and before its importers' importers; empty where there is none.
    package func files(named name: String) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var seen: Set<String> = []
        var wanted = [name]
        while let next = wanted.popLast() {
            guard seen.insert(next).inserted, let file = self.files[next] else { continue }
            found.append(file.bytes)
            wanted.append(contentsOf: file.dependencies)
        }
        return found
    }

    package func files(containing symbol: String) -> [[UInt8]] {
        self.symbols[symbol].map { self.files(named: $0) } ?? []
    }

    // MARK: gRPC's own services

    /// `grpc/health/v1/health.proto` and both versions of `reflection.proto`, as far as tools need them to call.
    private static let ownOfGRPC: [[UInt8]] = [
        Self.file("grpc/health/v1/health.proto", "grpc.health.v1") { file in
            file.message(4) { message in
                message.text(1, "HealthCheckRequest")
                Self.field(&message, "service", 1, type: 9)
            }
            file.message(4) { message in
                message.text(1, "HealthCheckResponse")
                Self.field(&message, "status", 1, type: 14, name: ".grpc.health.v1.HealthCheckResponse.ServingStatus")
                message.message(4) { values in
                    values.text(1, "ServingStatus")
                    for (number, name) in ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"].enumerated() {
                        values.message(2) { value in
                            value.text(1, name)
                            value.number(2, UInt64(number))
                        }
                    }
                }
            }
            file.message(6) { service in
                service.text(1, "Health")
                for (name, streams) in [("Check", false), ("Watch", true)] {
                    Self.method(
                        &service, name, ".grpc.health.v1.HealthCheckRequest", ".grpc.health.v1.HealthCheckResponse",
                        serverStreams: streams)
                }
                Self.method(
                    &service, "List", ".grpc.health.v1.HealthListRequest", ".grpc.health.v1.HealthListResponse",
                    serverStreams: false)
            }
            file.message(4) { $0.text(1, "HealthListRequest") }
            file.message(4) { message in
                message.text(1, "HealthListResponse")
                Self.map(&message, "statuses", 1, "Statuses", of: 11, ".grpc.health.v1.HealthCheckResponse")
            }
        },
        Self.reflection("v1"), Self.reflection("v1alpha"), Self.anyFile, Self.durationFile, Self.statusFile,
        Self.errorDetailsFile,
    ]

    // MARK: The details of errors

    private static let anyFile = Self.file("google/protobuf/any.proto", "google.protobuf") { file in
        Self.message(&file, "Any", [("type_url", 1, 9, ""), ("value", 2, 12, "")])
    }

    private static let durationFile = Self.file("google/protobuf/duration.proto", "google.protobuf") { file in
        Self.message(&file, "Duration", [("seconds", 1, 3, ""), ("nanos", 2, 5, "")])
    }

    private static let statusFile = Self.file("google/rpc/status.proto", "google.rpc") { file in
        file.text(3, "google/protobuf/any.proto")
        Self.message(
            &file, "Status", [("code", 1, 5, ""), ("message", 2, 9, ""), ("details", 3, -11, ".google.protobuf.Any")])
    }

    /// The messages of `google/rpc/error_details.proto` that `grpc-status-details-bin` carries here.
    private static let errorDetailsFile = Self.file("google/rpc/error_details.proto", "google.rpc") { file in
        file.text(3, "google/protobuf/duration.proto")
        file.message(4) { message in
            message.text(1, "ErrorInfo")
            Self.field(&message, "reason", 1, type: 9)
            Self.field(&message, "domain", 2, type: 9)
            Self.map(&message, "metadata", 3, "Metadata", of: 9, in: ".google.rpc.ErrorInfo")
        }
        Self.message(&file, "RetryInfo", [("retry_delay", 1, 11, ".google.protobuf.Duration")])
        file.message(4) { message in
            message.text(1, "BadRequest")
            Self.field(
                &message, "field_violations", 1, type: 11, name: ".google.rpc.BadRequest.FieldViolation",
                isRepeated: true)
            message.message(3) { violation in
                violation.text(1, "FieldViolation")
                Self.field(&violation, "field", 1, type: 9)
                Self.field(&violation, "description", 2, type: 9)
            }
        }
    }

    /// A map from texts: protobuf describes it as a repeated message of its own.
    private static func map(
        _ message: inout ProtobufText, _ name: String, _ number: Int, _ capitalised: String, of type: Int,
        _ typeName: String = "", in scope: String = ".grpc.health.v1.HealthListResponse"
    ) {
        Self.field(
            &message, name, number, type: 11, name: "\(scope).\(capitalised)Entry", isRepeated: true)
        message.message(3) { entry in
            entry.text(1, "\(capitalised)Entry")
            Self.field(&entry, "key", 1, type: 9)
            Self.field(&entry, "value", 2, type: type, name: typeName)
            // `map_entry` of its options.
            entry.message(7) { $0.number(7, 1) }
        }
    }

    private static func reflection(_ version: String) -> [UInt8] {
        let package = "grpc.reflection.\(version)"
        return Self.file("grpc/reflection/\(version)/reflection.proto", package) { file in
            Self.message(
                &file, "ServerReflectionRequest",
                [
                    ("host", 1, 9, ""), ("file_by_filename", 3, 9, ""), ("file_containing_symbol", 4, 9, ""),
                    ("file_containing_extension", 5, 11, ".\(package).ExtensionRequest"),
                    ("all_extension_numbers_of_type", 6, 9, ""), ("list_services", 7, 9, ""),
                ], oneof: "message_request", from: 3)
            Self.message(
                &file, "ExtensionRequest", [("containing_type", 1, 9, ""), ("extension_number", 2, 5, "")])
            Self.message(
                &file, "ServerReflectionResponse",
                [
                    ("valid_host", 1, 9, ""), ("original_request", 2, 11, ".\(package).ServerReflectionRequest"),
                    ("file_descriptor_response", 4, 11, ".\(package).FileDescriptorResponse"),
                    ("all_extension_numbers_response", 5, 11, ".\(package).ExtensionNumberResponse"),
                    ("list_services_response", 6, 11, ".\(package).ListServiceResponse"),
                    ("error_response", 7, 11, ".\(package).ErrorResponse"),
                ], oneof: "message_response", from: 4)
            Self.message(&file, "FileDescriptorResponse", [("file_descriptor_proto", 1, -12, "")])
            Self.message(
                &file, "ExtensionNumberResponse", [("base_type_name", 1, 9, ""), ("extension_number", 2, -5, "")])
            Self.message(&file, "ListServiceResponse", [("service", 1, -11, ".\(package).ServiceResponse")])
            Self.message(&file, "ServiceResponse", [("name", 1, 9, "")])
            Self.message(&file, "ErrorResponse", [("error_code", 1, 5, ""), ("error_message", 2, 9, "")])
            file.message(6) { service in
                service.text(1, "ServerReflection")
                Self.method(
                    &service, "ServerReflectionInfo", ".\(package).ServerReflectionRequest",
                    ".\(package).ServerReflectionResponse", serverStreams: true, clientStreams: true)
            }
        }
    }

    private static func file(_ name: String, _ package: String, _ fill: (inout ProtobufText) -> Void) -> [UInt8] {
        var file = ProtobufText()
        file.text(1, name)
        file.text(2, package)
        fill(&file)
        file.text(12, "proto3")
        return file.bytes
    }

    /// A negative type is a repeated field. Fields from number `from` on are those of the oneof.
    private static func message(
        _ file: inout ProtobufText, _ name: String, _ fields: [(String, Int, Int, String)], oneof: String = "",
        from: Int = .max
    ) {
        file.message(4) { message in
            message.text(1, name)
            for (name, number, type, typeName) in fields {
                Self.field(
                    &message, name, number, type: abs(type), name: typeName, isRepeated: type < 0,
                    isInOneof: number >= from)
            }
            if !oneof.isEmpty { message.message(8) { $0.text(1, oneof) } }
        }
    }

    private static func field(
        _ message: inout ProtobufText, _ name: String, _ number: Int, type: Int, name typeName: String = "",
        isRepeated: Bool = false, isInOneof: Bool = false
    ) {
        message.message(2) { field in
            field.text(1, name)
            field.number(3, UInt64(number))
            field.number(4, isRepeated ? 3 : 1)
            field.number(5, UInt64(type))
            field.text(6, typeName)
            // The index of the first oneof is 0, which has to be written.
            if isInOneof { field.present(9, 0) }
        }
    }

    private static func method(
        _ service: inout ProtobufText, _ name: String, _ input: String, _ output: String, serverStreams: Bool,
        clientStreams: Bool = false
    ) {
        service.message(2) { method in
            method.text(1, name)
            method.text(2, input)
            method.text(3, output)
            method.number(5, clientStreams ? 1 : 0)
            method.number(6, serverStreams ? 1 : 0)
        }
    }
}
