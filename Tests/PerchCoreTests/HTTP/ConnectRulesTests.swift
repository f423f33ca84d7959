import PerchBase
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// The documented cases of Connect's protocol, and errors that a person can read.
@Suite struct ConnectRulesTests {
    private static let path = "/perch.v1.EntitlementService/GetSubscriptionStatus"
    private static let body = #"{"account":"anna","groupId":"plans"}"#
    private static let message = "message=%7B%22account%22%3A%22anna%22%2C%22groupId%22%3A%22plans%22%7D"

    private func post(_ fields: String, type: String = "application/json", body: String = Self.body) -> String {
        PlainClient().post(Self.path, body, type: type, fields)
    }

    @Test(arguments: [
        ("Connect-Protocol-Version: 1\r\n", "200"), ("Connect-Protocol-Version: 2\r\n", "400"),
        ("Connect-Protocol-Version: v1\r\n", "400"), ("Connect-Timeout-Ms: 10000\r\n", "200"),
        ("Connect-Timeout-Ms: soon\r\n", "400"), ("Connect-Timeout-Ms: -1\r\n", "400"),
        ("Connect-Timeout-Ms: 12345678901\r\n", "400"), ("Connect-Timeout-Ms: 1.5\r\n", "400"),
        ("Connect-Timeout-Ms: 0\r\n", "504"), ("Content-Encoding: br\r\n", "501"),
        ("Content-Encoding: Identity\r\n", "200"),
    ])
    func `a head is judged as its protocol says`(fields: String, status: String) {
        let answer = self.post(fields)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
    }

    @Test(arguments: [
        ("application/xml", "415"), ("application/connect+json", "415"), ("application/connect+thrift", "415"),
        ("application/connect+proto", "415"), ("text/plain", "415"), ("application/json; charset=utf-8", "200"),
    ])
    func `a codec or a form that a method does not have is 415`(type: String, status: String) {
        let answer = self.post("", type: type)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(status == "200" || answer.contains("\r\naccept-post: "), "\(answer)")
    }

    @Test(arguments: ["{", "[]", #"{"account":1}"#, #"{"accounts":"anna"}"#])
    func `a body that is no message is 400`(body: String) {
        #expect(self.post("", body: body).hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `nothing is not decompressed`() {
        let answer = PlainClient().post(
            "/perch.v1.AdminService/ListApps", "", type: "application/proto", "Content-Encoding: gzip\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
    }

    @Test(arguments: [
        ("connect=v1&encoding=json&\(Self.message)", "200", ""), ("\(Self.message)&encoding=json&other=1", "200", ""),
        ("connect=v2&encoding=json&\(Self.message)", "400", "PROTOCOL_VERSION"),
        ("connect=v1&encoding=xml&\(Self.message)", "415", ""),
        ("connect=v1&encoding=json&encoding=json&\(Self.message)", "400", "encoding stands 2 times"),
        ("connect=v1&connect=v1&encoding=json&\(Self.message)", "400", "connect stands 2 times"),
        ("encoding=json&\(Self.message)&\(Self.message)", "400", "message stands 2 times"),
        ("encoding=json&base64=1&base64=1&message=e30", "400", "base64 stands 2 times"),
        ("encoding=json&compression=br&\(Self.message)", "501", "ENCODING_UNKNOWN"),
        ("encoding=json&compression=gzip&compression=gzip&\(Self.message)", "400", "compression stands 2 times"),
        ("connect=v1&encoding=json", "400", "no message"), ("encoding=json&message=%zz", "400", "hexadecimal"),
        ("encoding=json&message=%7", "400", "hexadecimal"), ("encoding=json&message=%", "400", "hexadecimal"),
        ("encoding=json&message=%+1", "400", "hexadecimal"), ("encoding=json&base64=1&message=!", "400", "base64"),
        ("account=anna&groupId=plans&groupId=news", "400", "groupId 2 times"),
        ("account=anna&account=anna&groupId=plans", "400", "account 2 times"),
        ("account=anna&groupId=plans&app.bundleId=x&app=y", "400", "app 2 times"),
        ("account=%zz&groupId=plans", "400", "hexadecimal"), ("account=%ff&groupId=plans", "400", "not UTF-8"),
        ("account=a%25b&groupId=plans", "200", ""), ("account=a+b&groupId=plans", "200", ""),
    ])
    func `a query is read strictly`(query: String, status: String, text: String) {
        let answer = PlainClient().get(query)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && (text.isEmpty || answer.contains(text)), "\(answer)")
    }

    @Test func `a field that takes several values may repeat`() {
        let answer = PlainClient().say(
            "GET /perch.v1.EntitlementService/GetProducts?productIds=gold&productIds=silver HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("silver"), "\(answer)")
    }

    // MARK: Errors

    @Test func `an error can be read by a person`() {
        let answer = PlainClient().get("account=anna")
        #expect(
            answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("\r\nperch-reason: FIELD_MISSING\r\n"), "\(answer)")
        #expect(
            answer.contains(#""debug":{"reason":"FIELD_MISSING","domain":"perch","metadata":{"field":"group_id""#),
            "\(answer)")
        #expect(answer.contains(#""debug":{"fieldViolations":[{"field":"group_id""#), "\(answer)")
        #expect(!answer.contains("retry-after"))
    }

    @Test func `an error that passes says when`() {
        var setup = World.Setup()
        setup.core.callsBytesMax = 1
        let world = World(setup)
        let body = "{\"productIds\":[\"\(String(repeating: "x", count: 3_000))\"]}"
        let answer = PlainClient(world).post("/perch.v1.EntitlementService/GetProducts", body)
        #expect(answer.hasPrefix("HTTP/1.1 429 ") && answer.contains("\r\nretry-after: 1\r\n"), "\(answer)")
        #expect(answer.contains(#""debug":{"retryDelay":"1s"}"#), "\(answer)")
        let client = HTTP2Client(world)
        let stream = client.call(.status())
        client.settle()
        #expect(client[stream].trailers["perch-reason"] == "CALLS_BYTES_LIMIT")
        #expect(client[stream].trailers["grpc-retry-pushback-ms"] == "1000")
        let final = client.call(.readStatus(""))
        client.settle()
        #expect(client[final].trailers["perch-reason"] == "ACCOUNT_KEY")
        #expect(client[final].trailers["grpc-retry-pushback-ms"] == nil)
    }

    @Test func `the end of a failed stream has its reason as a trailer`() {
        let body = "\u{0}\u{0}\u{0}\u{0}\u{2}{}"
        let answer = PlainClient().post(
            "/perch.v1.EntitlementService/SubscriptionStatusTask", body, type: "application/connect+json")
        #expect(
            answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(#""metadata":{"perch-reason":["ACCOUNT_KEY"]}}"#),
            "\(answer)")
        let web = PlainClient().post(
            "/perch.v1.EntitlementService/SubscriptionStatusTask", "\u{0}\u{0}\u{0}\u{0}\u{0}",
            type: "application/grpc-web+proto")
        #expect(web.contains("perch-reason: ACCOUNT_KEY\r\n"), "\(web)")
    }

    // MARK: gRPC's own services

    @Test func `health is listed`() {
        let answer = PlainClient().post("/grpc.health.v1.Health/List", "{}")
        #expect(answer.contains(#"{"statuses":{"":{"status":"SERVING"},"#), "\(answer)")
        #expect(answer.contains(#""perch.v1.EntitlementService":{"status":"SERVING"}"#), "\(answer)")
        let client = HTTP2Client(World())
        let stream = client.open("/grpc.health.v1.Health/List")
        client.send(.data, .endStream, stream, [0, 0, 0, 0, 0])
        client.settle()
        #expect(client.code(stream) == 0 && client[stream].messages.count == 1)
        // The first entry: the empty name is left out, the status is SERVING.
        #expect(client[stream].messages.first?[5...].starts(with: [0x0A, 4, 0x12, 2, 0x08, 1]) == true)
    }

    @Test(arguments: [
        "google.rpc.ErrorInfo", "google.rpc.RetryInfo", "google.rpc.BadRequest.FieldViolation", "google.rpc.Status",
        "google.protobuf.Any", "google.protobuf.Duration", "grpc.health.v1.HealthListResponse",
    ])
    func `reflection knows the types of errors`(name: String) {
        let files = ContractDescriptors.shared.files(containing: name)
        #expect(!files.isEmpty)
        if name == "google.rpc.Status" || name == "google.rpc.RetryInfo" {
            #expect(files.count == 2, "with the file that it imports")
        }
    }
}
