import CPerchProto
import Foundation
import PerchBase
import PerchJSON
import Testing

@testable import PerchWire

/// The message fields that these tests read, by their full names.
private func described(_ name: String) throws -> MessageDescription {
    try #require(MessageScan.descriptions[name], "the contract has no \(name)")
}

private func json(of bytes: [UInt8], as name: String) throws -> String {
    let codec = MessageCodec()
    let message = try described(name)
    let structure = try codec.unpack(
        message, bytes.span.bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
    var writer = JSONWriter(limitBytes: .max)
    MessageJSONWriter.object(structure, as: message, to: &writer)
    return String(decoding: try writer.finish(), as: UTF8.self)
}

private func bytes(of json: String, as name: String) throws -> [UInt8] {
    try MessageJSONReader.bytes(of: Array(json.utf8), as: described(name))
}

@Suite(.enabled(if: FileManager.default.fileExists(atPath: Vector.folder.path), "no proto/vectors here"))
struct `messages as canonical JSON` {
    /// A vector with the JSON that Python's protobuf made of it.
    struct JSONVector: CustomTestStringConvertible, @unchecked Sendable {
        // Invariant: read once from a file, and never changed.
        let name: String
        let message: String
        let vector: Vector
        let json: NSDictionary

        var testDescription: String { "\(self.message): \(self.name)" }
    }

    static func vectors() throws -> [JSONVector] {
        try Vector.messageFiles.flatMap { file -> [JSONVector] in
            let data = try Data(contentsOf: Vector.folder.appending(path: file))
            let raw = try #require(JSONSerialization.jsonObject(with: data) as? [NSDictionary])
            return zip(try Vector.read(file), raw).compactMap { vector, raw -> JSONVector? in
                guard let json = raw["json"] as? NSDictionary, let message = vector.message else { return nil }
                return JSONVector(name: vector.name, message: message, vector: vector, json: json)
            }
        }
    }

    @Test func `every vector becomes the JSON that protobuf's own library writes`() throws {
        let vectors = try Self.vectors()
        try #require(vectors.count > 500)
        for vector in vectors {
            let text = try json(of: vector.vector.bytes, as: vector.message)
            let found = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
            #expect(found == vector.json, "\(vector.testDescription) became \(text)")
        }
    }

    @Test func `every vector's JSON is read into the bytes that a serializer writes`() throws {
        for vector in try Self.vectors() {
            let document = try JSONSerialization.data(withJSONObject: vector.json, options: .sortedKeys)
            let read = try MessageJSONReader.bytes(of: Array(document), as: described(vector.message))
            // The dictionary has lost the order of fields, so both sides pass through protobuf-c once.
            let again = try json(of: read, as: vector.message)
            let before = try json(of: vector.vector.canonicalBytes, as: vector.message)
            #expect(again == before, "\(vector.testDescription)")
            #expect(read.count == vector.vector.canonicalBytes.count, "\(vector.testDescription)")
        }
    }
}

struct `a request in JSON` {
    private static let status = "perch.v1.GetSubscriptionStatusRequest"
    private static let whole = "a whole number from 0 to 18446744073709551615"

    @Test func `a request in JSON takes both names of a field`() throws {
        let camel = try bytes(of: #"{"account": "alice", "groupId": "plus"}"#, as: Self.status)
        let snake = try bytes(of: #"{"account": "alice", "group_id": "plus"}"#, as: Self.status)
        #expect(camel == snake)
        #expect(!camel.isEmpty)
    }

    @Test(arguments: [
        #"{"milliunits": 9990}"#, #"{"milliunits": "9990"}"#, #"{"milliunits": 9.99e3}"#, #"{"milliunits": "9990.0"}"#,
        #"{"milliunits": 9990, "currency": null}"#,
    ])
    func `a request in JSON takes a whole number in each of its forms`(document: String) throws {
        let money = try bytes(of: document, as: "perch.v1.Money")
        #expect(try json(of: money, as: "perch.v1.Money") == #"{"milliunits":"9990"}"#)
    }

    @Test func `a request in JSON takes Base64 in both alphabets, padded or not`() throws {
        let expected = try bytes(of: #"{"idempotencyKey": "+/8="}"#, as: "perch.v1.PurchaseRequest")
        for text in ["+/8", "-_8=", "-_8"] {
            #expect(try bytes(of: #"{"idempotencyKey": "\#(text)"}"#, as: "perch.v1.PurchaseRequest") == expected)
        }
    }

    @Test func `a request in JSON takes an enumeration by name and by number`() throws {
        let byName = try bytes(of: #"{"environment": "ENVIRONMENT_SANDBOX"}"#, as: "perch.v1.AppRef")
        #expect(try bytes(of: #"{"environment": 2}"#, as: "perch.v1.AppRef") == byName)
        let unknown = try bytes(of: #"{"environment": 77}"#, as: "perch.v1.AppRef")
        #expect(try json(of: unknown, as: "perch.v1.AppRef") == #"{"environment":77}"#)
    }

    @Test(arguments: [
        ("", "line 1, column 1: expected a JSON document, found an empty document of 0 bytes"),
        ("[]", "line 1, column 1: the document is an array; send an object"),
        (
            #"{"grupId": "plus"}"#,
            "line 1, column 2: perch.v1.GetSubscriptionStatusRequest has no field grupId; did you mean groupId?"
        ),
        (#"{"groupId": 5}"#, "line 1, column 13: groupId is the number 5; send a string"),
        (
            #"{"groupId": "a", "group_id": "b"}"#,
            "line 1, column 18: groupId is a second value of a field that takes one; send it once"
        ),
        (
            #"{"app": {"environment": "SANDBOX"}}"#,
            "line 1, column 25: app.environment is a string that does not fit; "
                + "send one of its names, such as ENVIRONMENT_SANDBOX"
        ),
        (
            #"{"atLeast": {"revision": -1}}"#,
            "line 1, column 26: atLeast.revision is the number -1; send " + Self.whole
        ),
        (
            #"{"atLeast": {"revision": 1.5}}"#,
            "line 1, column 26: atLeast.revision is the number 1.5; send " + Self.whole
        ),
        (
            #"{"atLeast": {"revision": "18446744073709551616"}}"#,
            "line 1, column 26: atLeast.revision is a string that does not fit; send " + Self.whole
        ),
        (
            #"{"atLeast": {"revision": "0x10"}}"#,
            "line 1, column 26: atLeast.revision is a string that does not fit; send " + Self.whole
        ),
        (#"{"account": "a\u0000b"}"#, "line 1, column 15: expected text, found an escaped NUL"),
        (#"{"account": ["a"]}"#, "line 1, column 13: account is an array; send a string"),
    ])
    func `a request in JSON is refused with the place, the field and what it takes`(document: String, message: String)
        throws
    {
        let found = #expect(throws: MessageJSONError.self) { try bytes(of: document, as: Self.status) }
        #expect(found?.description == message)
    }

    @Test func `a request in JSON is refused with two alternatives of one choice`() {
        let document = #"{"operation": {"renew": {}, "expire": {}}}"#
        let found = #expect(throws: MessageJSONError.self) { try bytes(of: document, as: "perch.v1.OperateRequest") }
        #expect(found?.description.hasPrefix("line 1, column 29: operation.expire is a second value") == true)
    }

    @Test(arguments: ["!", "A", "AB=", "A===", "AB", "AAB="])
    func `a request in JSON is refused with bytes that are no Base64`(text: String) {
        #expect(throws: MessageJSONError.self) {
            try bytes(of: #"{"idempotencyKey": "\#(text)"}"#, as: "perch.v1.PurchaseRequest")
        }
    }

    @Test func `a request in JSON is refused beyond the limits of JSON`() {
        let deep = String(repeating: #"{"app":"#, count: 40) + "1" + String(repeating: "}", count: 40)
        #expect(throws: MessageJSONError.self) { try bytes(of: deep, as: Self.status) }
    }
}
