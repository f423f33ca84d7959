import PerchBase
import PerchModel
import PerchWire

/// A frame that was encoded once, and whose account is written in place: encoding each call anew would cost the
/// generator more than sending it.
struct CallTemplate {
    private var bytes: [UInt8]
    /// Where the account's digits begin; -1 where there is no account.
    private var digitsAt: Int

    static let digitCount = 9

    static func account(_ number: Int) -> String {
        let digits = String(number)
        return "bench-" + String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits
    }

    init(_ request: Request, _ codec: MessageCodec, account: String? = nil) throws(MessageError) {
        self.bytes = Array(try codec.encodeCall(request).frame(.call, stream: 1))
        self.digitsAt = -1
        guard let account else { return }
        let key = Array(account.utf8)
        let found = (0...(self.bytes.count - key.count)).first { self.bytes[$0..<$0 + key.count].elementsEqual(key) }
        guard let found else { preconditionFailure("the account is not in its own request") }
        self.digitsAt = found + key.count - Self.digitCount
    }

    /// The frame for a stream and an account, behind what is there.
    func append(to out: inout [UInt8], stream: UInt32, account: Int = 0) {
        let start = out.count
        out.append(contentsOf: self.bytes)
        out.withUnsafeMutableBytes { buffer in
            let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
            FrameHeader.writeAddress(.call, stream, into: frame)
            guard self.digitsAt >= 0 else { return }
            var rest = account
            for place in stride(from: self.digitsAt + Self.digitCount - 1, through: self.digitsAt, by: -1) {
                frame[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
        }
    }
}

/// The frames of a bench.
struct Requests {
    let hello: [UInt8]
    let watch: CallTemplate
    let watchProducts: CallTemplate
    let buy: CallTemplate
    /// Two editions of the catalogue, to be loaded in turn.
    let editions: [CallTemplate]
    let productIDs: [String]
    private let product: String

    init(_ settings: BenchSettings, _ codec: MessageCodec) throws(MessageError) {
        let catalogue = BenchCatalogue(viewBytes: settings.viewBytes)
        let account = CallTemplate.account(0)
        self.product = settings.product
        self.productIDs = catalogue.itemIDs
        let hello = Hello(
            protocolVersion: 1, clientName: "perch bench", accepts: settings.acceptsZlib ? [.zlib] : [],
            heartbeatSeconds: Limits.heartbeatSecondsMax)
        self.hello = Array(try codec.encode(hello).frame(.hello, stream: 0))
        self.watch = try CallTemplate(
            .currentEntitlementTask(CurrentEntitlementRequest(account: account, productID: settings.product)), codec,
            account: account)
        self.watchProducts = try CallTemplate(
            .productsTask(ProductsRequest(productIDs: catalogue.itemIDs)), codec)
        self.buy = try CallTemplate(
            .operate(
                OperateRequest(account: account, operation: .buy(PurchaseOrder(productID: settings.product)))), codec,
            account: account)
        self.editions = try [1, 2].map { (edition) throws(MessageError) in
            try CallTemplate(
                .loadCatalog(LoadCatalogRequest(file: catalogue.file(edition: edition), source: "perch bench")), codec)
        }
    }

    /// A watch that goes on from a token.
    func resumed(
        account: Int?, token: [UInt8], stream: UInt32, _ codec: MessageCodec
    ) throws(MessageError) -> UnsafeRawBufferPointer {
        let request: Request
        if let account {
            request = .currentEntitlementTask(
                CurrentEntitlementRequest(
                    account: CallTemplate.account(account), productID: self.product, resumeToken: token))
        } else {
            request = .productsTask(ProductsRequest(productIDs: self.productIDs, resumeToken: token))
        }
        return try codec.encodeCall(request).frame(.call, stream: stream)
    }
}
