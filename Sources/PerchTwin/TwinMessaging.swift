import PerchApple
import PerchBase
import PerchJSON
import PerchModel

/// What an app has uploaded for retention messaging, in one environment. Lives as long as the server.
struct TwinMessaging {
    enum State: String {
        case pending = "PENDING"
        case approved = "APPROVED"
    }

    struct Image {
        var state: State
        var size: ImageSize
    }

    struct Message {
        var state: State
        /// By identifier; their bytes are not kept.
        var images: [String]
    }

    /// Where a message is the default.
    struct Place: Hashable {
        var product: String
        var locale: String
    }

    /// Apple reviews what is to be shown to customers. The sandbox has none, so nothing waits there.
    let isReviewed: Bool
    private(set) var images: [String: Image] = [:]
    private(set) var messages: [String: Message] = [:]
    var defaults: [Place: String] = [:]
    var realtimeURL: String?

    init(isReviewed: Bool) { self.isReviewed = isReviewed }

    private var firstState: State { self.isReviewed ? .pending : .approved }

    mutating func add(image identifier: String, _ size: ImageSize) throws(TwinError) {
        guard self.images[identifier] == nil else { throw .imageExists }
        guard self.images.count < Limits.twinImagesMax else { throw .tooManyImages }
        self.images[identifier] = Image(state: self.firstState, size: size)
    }

    mutating func remove(image identifier: String) throws(TwinError) {
        guard self.images[identifier] != nil else { throw .imageNotFound }
        guard !self.messages.values.contains(where: { $0.images.contains(identifier) }) else { throw .imageInUse }
        self.images[identifier] = nil
    }

    mutating func add(message identifier: String, _ text: MessageText) throws(TwinError) {
        guard self.messages[identifier] == nil else { throw .messageExists }
        guard self.messages.count < Limits.twinMessagesMax else { throw .tooManyMessages }
        guard text.images.allSatisfy({ self.images[$0] != nil }) else { throw .imageNotFound }
        self.messages[identifier] = Message(state: self.firstState, images: text.images)
    }

    mutating func remove(message identifier: String) throws(TwinError) {
        guard self.messages.removeValue(forKey: identifier) != nil else { throw .messageNotFound }
        self.defaults = self.defaults.filter { $0.value != identifier }
    }

    mutating func setDefault(_ identifier: String, at place: Place) throws(TwinError) {
        guard let message = self.messages[identifier] else { throw .messageNotFound }
        guard message.state == .approved else { throw .messageNotApproved }
        guard message.images.allSatisfy({ self.images[$0]?.state == .approved }) else { throw .imageNotApproved }
        self.defaults[place] = identifier
    }
}

/// The size of an uploaded image, by Apple's names.
enum ImageSize: String {
    case full = "FULL_SIZE"
    case bulletPoint = "BULLET_POINT"

    /// Whether bytes are a PNG of this size without transparency. Apple names the pixels of the full size alone.
    func fits(_ bytes: [UInt8]) -> Bool {
        // The signature, then a chunk of 13 bytes: width, height, depth, colour type.
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), bytes.count >= 33,
            Array(bytes[12..<16]) == Array("IHDR".utf8)
        else { return false }
        func number(at place: Int) -> Int { bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height, colour) = (number(at: 16), number(at: 20), bytes[25])
        guard [0, 2, 3].contains(colour), !Self.names("tRNS", in: bytes) else { return false }
        switch self {
        case .full: return width == 3_840 && (160...2_160).contains(height)
        case .bulletPoint: return width > 0 && height > 0
        }
    }

    /// Whether a PNG has a chunk before its pixels.
    private static func names(_ chunk: String, in bytes: [UInt8]) -> Bool {
        var place = 8
        while place + 8 <= bytes.count {
            let length = bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            let name = Array(bytes[(place + 4)..<(place + 8)])
            if name == Array(chunk.utf8) { return true }
            if name == Array("IDAT".utf8) { return false }
            place += 12 + length
        }
        return false
    }
}

/// The text of a message, as it is uploaded.
struct MessageText {
    /// Identifiers of the images that it shows.
    private(set) var images: [String] = []

    init(_ fields: JSONValue) throws(TwinError) {
        guard let header = fields["header"]?.string, let body = fields["body"]?.string else { throw .badRequest }
        guard header.count <= 66 else { throw .headerTooLong }
        guard body.count <= 144 else { throw .bodyTooLong }
        let image = Self.present(fields["image"])
        if let image { self.images.append(try Self.image(image)) }
        if let bullets = Self.present(fields["bulletPoints"]) {
            guard let bullets = bullets.array else { throw .badRequest }
            guard bullets.count <= 5 else { throw .tooManyBulletPoints }
            for bullet in bullets {
                guard let text = bullet["text"]?.string else { throw .badRequest }
                guard text.count <= 66 else { throw .bulletPointTooLong }
                self.images.append(try Self.image(bullet))
            }
        }
        switch Self.present(fields["headerPosition"])?.string {
        case "ABOVE_BODY", nil: break
        case "ABOVE_IMAGE": guard image != nil else { throw .aboveImageWithoutImage }
        default: throw .badRequest
        }
    }

    private static func present(_ value: JSONValue?) -> JSONValue? { value?.isNull == true ? nil : value }

    private static func image(_ fields: JSONValue) throws(TwinError) -> String {
        guard let identifier = fields["imageIdentifier"]?.string.flatMap({ UUIDText.canonical($0) }),
            let text = fields["altText"]?.string
        else { throw .badRequest }
        guard text.count <= 150 else { throw .altTextTooLong }
        return identifier
    }
}

extension UUIDText {
    /// The text of a UUID in lower case; nil for another text.
    static func canonical(_ text: String) -> String? {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.allSatisfy({ $0.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } })
        else { return nil }
        return text.lowercased()
    }
}

/// A test of a backend's endpoint for retention messages: signed requests, so many at a time, and what came of them.
struct PerformanceTest {
    /// The twin's own. Apple's are in the answer to a request for a test, too.
    static let concurrent = 5
    static let total = 50
    static let thresholdMilliseconds: Int64 = 700
    static let successPercent = 95

    let target: String
    let app: TwinApp
    let originalID: TransactionID
    let productID: String
    var started = 0
    var succeeded = 0
    var milliseconds: [Int64] = []
    var failures: [String: Int] = [:]

    var pending: Int { Self.total - self.milliseconds.count }
    var hasPassed: Bool { self.pending == 0 && self.succeeded * 100 >= Self.total * Self.successPercent }
    var status: String { self.pending > 0 ? "PENDING" : self.hasPassed ? "PASS" : "FAIL" }

    /// The time within which a share of the requests was answered.
    func percentile(_ percent: Int) -> Int64 {
        let sorted = self.milliseconds.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, (sorted.count * percent + 99) / 100 - 1)]
    }

    static func writeConfig(_ writer: inout JSONWriter) {
        writer.key("config")
        writer.beginObject()
        writer.member("maxConcurrentRequests", Self.concurrent)
        writer.member("totalRequests", Self.total)
        writer.member("totalDuration", Int64(Self.total) * Limits.twinAnswerMilliseconds)
        writer.member("responseTimeThreshold", Self.thresholdMilliseconds)
        writer.member("successRateThreshold", Self.successPercent)
        writer.endObject()
    }
}
