import PerchCatalogue
import PerchModel
import Testing

@Suite struct `failures in a file` {
    private func failures(_ settings: String) throws -> ([FileFailure], [CatalogueWarning]) {
        let loaded = try Made.settings(settings).load()
        return (loaded.failures, loaded.warnings)
    }

    private static func entry(_ name: String, _ enabled: Bool, _ current: String) -> String {
        "{\"_storeKitErrors\":[{\"name\":\"\(name)\",\"enabled\":\(enabled),\"current\":\(current)}]}"
    }

    /// The documented order, number by number.
    static let table: [(type: String, index: Int64, name: String)] = [
        ("generic", 0, "unknown"), ("generic", 1, "userCancelled"), ("generic", 2, "networkError"),
        ("generic", 3, "systemError"), ("generic", 4, "notAvailableInStorefront"), ("generic", 5, "notEntitled"),
        ("generic", 6, "unsupported"), ("purchase", 0, "invalidQuantity"), ("purchase", 1, "productUnavailable"),
        ("purchase", 2, "purchaseNotAllowed"), ("purchase", 3, "ineligibleForOffer"),
        ("purchase", 4, "invalidOfferIdentifier"), ("purchase", 5, "invalidOfferPrice"),
        ("purchase", 6, "invalidOfferSignature"), ("purchase", 7, "missingOfferParameters"),
        ("verification", 0, "invalidCertificateChain"), ("verification", 5, "revokedCertificate"),
        ("refund request", 0, "duplicateRequest"), ("refund request", 1, "failed"),
        // As files of our own may have it.
        ("refund", 0, "duplicateRequest"), ("refund", 1, "failed"),
    ]

    @Test(arguments: table)
    func `numbers have names, in one documented order`(_ type: String, _ index: Int64, _ name: String) throws {
        let (failures, warnings) = try self.failures(
            Self.entry("Purchase", true, "{\"index\":\(index),\"type\":\"\(type)\"}"))
        #expect(
            failures == [FileFailure(api: .purchase, isEnabled: true, type: type, index: index, errorName: name)])
        #expect(failures.first?.isArmed == true)
        #expect(warnings.map(\.reason) == [.armedFailure])
        #expect(warnings.first?.message == "the failure \"Purchase\" is armed, with \(name)")
    }

    @Test(arguments: FileFailure.API.allCases)
    func `each of the nine calls has its own`(_ api: FileFailure.API) throws {
        let (failures, _) = try self.failures(Self.entry(api.rawValue, true, "{\"index\":2,\"type\":\"generic\"}"))
        #expect(failures.map(\.api) == [api])
        #expect(failures.map(\.errorName) == ["networkError"])
    }

    @Test(arguments: ["null", "{\"index\":2,\"type\":\"generic\"}"])
    func `a failure that is off arms nothing, whatever its error`(_ current: String) throws {
        let (failures, warnings) = try self.failures(Self.entry("Purchase", false, current))
        #expect(failures.map(\.isArmed) == [false])
        #expect(warnings == [])
    }

    @Test(arguments: [
        "{\"index\":7,\"type\":\"generic\"}", "{\"index\":-1,\"type\":\"generic\"}", "{\"type\":\"generic\"}",
        "{\"index\":0,\"type\":\"novel\"}", "{\"index\":0}", "7", "{\"index\":\"none\",\"type\":\"generic\"}",
        "{\"index\":9223372036854775807,\"type\":\"purchase\"}",
    ])
    func `a failure with an unknown number arms nothing, and is reported`(_ current: String) throws {
        let (failures, warnings) = try self.failures(Self.entry("Purchase", true, current))
        #expect(failures.map(\.isArmed) == [false])
        #expect(warnings.contains { $0.reason == .unusableValue })
    }

    @Test func `failures of an unknown or repeated call are left out and reported`() throws {
        let entry = "{\"name\":\"Purchase\",\"enabled\":false}"
        let (failures, warnings) = try self.failures(
            "{\"_storeKitErrors\":[{\"name\":\"Dance\",\"enabled\":true},\(entry),\(entry)]}")
        #expect(failures == [FileFailure(api: .purchase, isEnabled: false)])
        #expect(warnings.map(\.reason) == [.leftOut, .leftOut])
        #expect(warnings.first?.message.contains("\"Load Products\"") == true)
    }

    @Test(arguments: [
        ("{\"_failTransactionsEnabled\":true}", "unknown", true), ("{\"_storeKitError\":1}", "unknown", true),
        ("{\"_storeKitError\":3}", "networkError", true),
        ("{\"_failTransactionsEnabled\":true,\"_storeKitError\":2}", "userCancelled", true),
        ("{\"_failTransactionsEnabled\":false,\"_storeKitError\":2}", "userCancelled", false),
        ("{\"_failTransactionsEnabled\":true,\"_storeKitError\":0}", "unknown", true),
    ])
    func `the switches of older schemas are one of purchases`(_ settings: String, _ name: String, _ isOn: Bool) throws {
        let (failures, warnings) = try self.failures(settings)
        #expect(failures.map(\.api) == [.purchase])
        #expect(failures.map(\.errorName) == [name])
        #expect(failures.map(\.isArmed) == [isOn])
        #expect(warnings.map(\.reason) == (isOn ? [.armedFailure] : []))
    }

    @Test(arguments: ["{\"_storeKitError\":99}", "{\"_storeKitError\":-1}", "{\"_storeKitError\":\"one\"}"])
    func `an older number that means nothing arms nothing, and is reported`(_ settings: String) throws {
        let (failures, warnings) = try self.failures(settings)
        #expect(failures.allSatisfy { !$0.isArmed })
        #expect(warnings.map(\.reason) == [.unusableValue])
    }

    @Test func `the list is the newer word for purchases`() throws {
        let (failures, _) = try self.failures(
            "{\"_failTransactionsEnabled\":true,\"_storeKitErrors\":[{\"name\":\"Purchase\",\"enabled\":false}]}")
        #expect(failures == [FileFailure(api: .purchase, isEnabled: false)])
    }

    @Test func `a file may write another order`() throws {
        let (failures, _) = try self.failures(
            """
            {"perch":{"errorNames":{"generic":["unsupported","unknown"]}},"_storeKitErrors":[
            {"name":"Purchase","enabled":true,"current":{"index":0,"type":"generic"}},
            {"name":"Load Products","enabled":true,"current":{"index":2,"type":"generic"}}]}
            """)
        #expect(failures.map(\.errorName) == ["unsupported", ""])
    }

    @Test(arguments: [
        "7", "{\"errorNames\":7}", "{\"errorNames\":{\"novel\":[]}}", "{\"errorNames\":{\"generic\":7}}",
        "{\"errorNames\":{\"generic\":[\"rain\"]}}", "{\"errorNames\":{\"generic\":[7]}}", "{\"x\":1}",
    ])
    func `an order that cannot be used is reported, and the documented one holds`(_ ours: String) throws {
        let (failures, warnings) = try self.failures(
            """
            {"perch":\(ours),"_storeKitErrors":[
            {"name":"Purchase","enabled":true,"current":{"index":2,"type":"generic"}}]}
            """)
        #expect(failures.map(\.errorName) == ["networkError"])
        #expect(warnings.count == 2)
    }

    @Test func `the real files choose some and arm none`() throws {
        let circles = try StoreKitFile.load(try Samples.real("circles-project--circles-ios--Products"))
        #expect(circles.failures.map(\.api) == FileFailure.API.allCases)
        #expect(circles.failures.first?.errorName == "networkError")
        for name in Samples.names {
            #expect(try StoreKitFile.load(try Samples.real(name)).failures.allSatisfy { !$0.isArmed })
        }
    }
}
