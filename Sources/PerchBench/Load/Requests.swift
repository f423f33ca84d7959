import PerchBase
import PerchModel
import PerchWire

/// An encoded frame whose number (usually an account's) is written in place. Encoding each call would cost the
/// generator more than sending it.
struct CallTemplate {
    private let wire: CallWire
    private var bytes: [UInt8]
    /// The place of the second frame; 0 if the call is one frame.
    private let second: Int
    /// The place of the number's digits; empty without a number.
    private var digits: Range<Int>

    static let digitCount = 9

    static func account(_ number: Int) -> String {
        let digits = String(number)
        return "bench-" + String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits
    }

    /// `account` is the text of `account(_:)` in the request.
    init(
        _ request: Request, _ wire: CallWire, _ codec: MessageCodec, account: String? = nil
    ) throws(MessageError) {
        try self.init(
            request, wire, codec, marker: account,
            digits: account.map { $0.utf8.count - Self.digitCount..<$0.utf8.count })
    }

    /// `marker` occurs once in the request; `digits` is the number's range in it.
    init(
        _ request: Request, _ wire: CallWire, _ codec: MessageCodec, marker: String?, digits: Range<Int>?
    ) throws(MessageError) {
        self.wire = wire
        (self.bytes, self.second) = try wire.call(request, codec)
        self.digits = 0..<0
        guard let marker, let digits else { return }
        let key = Array(marker.utf8)
        let found = (0...(self.bytes.count - key.count)).first { self.bytes[$0..<$0 + key.count].elementsEqual(key) }
        guard let found else { preconditionFailure("\(marker) is not in its own request") }
        self.digits = found + digits.lowerBound..<found + digits.upperBound
    }

    /// Bytes of the call that count against a window of HTTP/2.
    var flowBytes: Int { self.bytes.count - self.second - GRPCFrames.headerBytes }

    /// Appends the frames for a stream and a number.
    func append(to out: inout [UInt8], stream: UInt32, account number: Int = 0) {
        let start = out.count
        out.append(contentsOf: self.bytes)
        out.withUnsafeMutableBytes { buffer in
            let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
            self.wire.write(stream: stream, second: self.second, into: frame)
            var rest = number
            for place in self.digits.reversed() {
                frame[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
        }
    }
}

/// The frames of a bench.
struct Requests {
    let hello: [UInt8]
    /// The HELLO of a writer, which accepts no compression.
    let writerHello: [UInt8]
    let watch: CallTemplate
    let watchProducts: CallTemplate
    let buy: CallTemplate
    let status: CallTemplate
    /// Loads an edition of the catalogue. Each edition is used once: loading two in turn could restore the old content
    /// within one iteration, which pushes nothing.
    let edition: CallTemplate
    let productIDs: [String]
    private let wire: CallWire
    private let product: String
    private let app: AppReference

    init(
        _ settings: BenchSettings, _ access: BenchAccess, _ transport: BenchTransport, _ codec: MessageCodec
    ) throws(MessageError) {
        let wire = CallWire(transport, authorization: access.authorization, acceptsZlib: settings.acceptsZlib)
        self.wire = wire
        let catalogue = BenchCatalogue(viewBytes: settings.viewBytes)
        let account = CallTemplate.account(0)
        let app = access.app
        self.app = app
        self.product = settings.product
        self.productIDs = catalogue.itemIDs
        var hello = Hello(
            protocolVersion: 1, authorization: access.authorization, clientName: "perch bench", accepts: [],
            heartbeatSeconds: Limits.heartbeatSecondsMax)
        self.writerHello = Array(try codec.encode(hello).frame(.hello, stream: 0))
        if settings.acceptsZlib { hello.accepts = [.zlib] }
        self.hello = Array(try codec.encode(hello).frame(.hello, stream: 0))
        self.watch = try CallTemplate(
            .currentEntitlementTask(CurrentEntitlementRequest(app: app, account: account, productID: settings.product)),
            wire, codec, account: account)
        self.watchProducts = try CallTemplate(
            .productsTask(ProductsRequest(app: app, productIDs: catalogue.itemIDs)), wire, codec)
        self.buy = try CallTemplate(
            .operate(
                OperateRequest(app: app, account: account, operation: .buy(PurchaseOrder(productID: settings.product)))),
            wire, codec, account: account)
        self.status = try CallTemplate(.getServerStatus, wire, codec)
        let price = BenchCatalogue.price(ofEdition: 0)
        self.edition = try CallTemplate(
            .loadCatalog(LoadCatalogRequest(app: app, file: catalogue.file(edition: 0), source: "perch bench")), wire,
            codec,
            marker: price, digits: 1..<1 + BenchCatalogue.editionDigits)
    }

    /// A watch that resumes from a token.
    func resumed(account: Int?, token: [UInt8], _ codec: MessageCodec) throws(MessageError) -> CallTemplate {
        let request: Request
        if let account {
            request = .currentEntitlementTask(
                CurrentEntitlementRequest(
                    app: self.app, account: CallTemplate.account(account), productID: self.product, resumeToken: token))
        } else {
            request = .productsTask(
                ProductsRequest(app: self.app, productIDs: self.productIDs, resumeToken: token))
        }
        return try CallTemplate(request, self.wire, codec)
    }
}
