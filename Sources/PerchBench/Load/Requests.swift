import PerchBase
import PerchModel
import PerchWire

/// An encoded frame whose numbers (usually an account's) are written in place. Encoding each call would cost the
/// generator more than sending it.
struct CallTemplate {
    /// A text that occurs once in the request, and the digits in it that are a number.
    struct Marker {
        var text: String
        var digits: Range<Int>
        /// The number is the change's, and not the account's.
        var isOfChange = false

        init(_ text: String, digits: Range<Int>) {
            self.text = text
            self.digits = digits
        }

        /// The number is at the end.
        init(endOf text: String, isOfChange: Bool = false) {
            self.init(text, digits: text.utf8.count - CallTemplate.digitCount..<text.utf8.count)
            self.isOfChange = isOfChange
        }
    }

    private let wire: CallWire
    private var bytes: [UInt8]
    /// The place of the second frame; 0 if the call is one frame.
    private let second: Int
    /// The places of the numbers' digits.
    private var numbers: [(digits: Range<Int>, isOfChange: Bool)] = []

    static let digitCount = 9

    static func account(_ number: Int) -> String {
        let digits = String(number)
        return "bench-" + String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits
    }

    init(
        _ request: Request, _ wire: CallWire, _ codec: MessageCodec, _ markers: [Marker] = []
    ) throws(MessageError) {
        self.wire = wire
        (self.bytes, self.second) = try wire.call(request, codec)
        for marker in markers {
            let key = Array(marker.text.utf8)
            let found = (0...(self.bytes.count - key.count)).first {
                self.bytes[$0..<$0 + key.count].elementsEqual(key)
            }
            guard let found else { preconditionFailure("\(marker.text) is not in its own request") }
            self.numbers.append(
                (found + marker.digits.lowerBound..<found + marker.digits.upperBound, marker.isOfChange))
        }
    }

    /// Bytes of the call that count against a window of HTTP/2.
    var flowBytes: Int { self.bytes.count - self.second - GRPCFrames.headerBytes }

    /// Appends the frames for a stream, an account and a change.
    func append(to out: inout [UInt8], stream: UInt32, account: Int = 0, change: Int = 0) {
        let start = out.count
        out.append(contentsOf: self.bytes)
        out.withUnsafeMutableBytes { buffer in
            let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
            self.wire.write(stream: stream, second: self.second, into: frame)
            for number in self.numbers {
                var rest = number.isOfChange ? change : account
                for place in number.digits.reversed() {
                    frame[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
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
    /// The first change of each account, and the changes after it.
    let first: CallTemplate
    let change: CallTemplate
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
        let named = CallTemplate.Marker(endOf: account)
        let isRenewal = settings.change == .renewal
        let watch: Request =
            isRenewal
            ? .subscriptionStatusTask(
                SubscriptionStatusRequest(app: app, account: account, groupID: BenchCatalogue.groupID))
            : .currentEntitlementTask(
                CurrentEntitlementRequest(app: app, account: account, productID: settings.product))
        self.watch =
            settings.readsCopies
            ? try CallTemplate(.appEntitlements(AppEntitlementsRequest(app: app)), wire, codec)
            : try CallTemplate(watch, wire, codec, [named])
        self.watchProducts = try CallTemplate(
            .productsTask(ProductsRequest(app: app, productIDs: catalogue.itemIDs)), wire, codec)
        // The account token that an app sends: StoreKit's `appAccountToken`.
        let token = Self.accountToken
        let order = PurchaseOrder(
            productID: isRenewal ? BenchCatalogue.planID : settings.product, appAccountToken: token)
        let buy = OperateRequest(app: app, account: account, operation: .buy(order))
        self.first = try CallTemplate(.operate(buy), wire, codec, [named, CallTemplate.Marker(endOf: token)])
        switch settings.change {
        case .keylessPurchase: self.change = self.first
        case .purchase:
            // Another round with the same store must not repeat the keys of this one.
            let key =
                "bench-\(UInt64.random(in: 0...UInt64.max))-" + String(repeating: "0", count: CallTemplate.digitCount)
            var keyed = buy
            keyed.idempotencyKey = Array(key.utf8)
            self.change = try CallTemplate(
                .operate(keyed), wire, codec,
                [named, CallTemplate.Marker(endOf: token), CallTemplate.Marker(endOf: key, isOfChange: true)])
        case .renewal:
            self.change = try CallTemplate(
                .operate(
                    OperateRequest(
                        app: app, account: account, operation: .renew(.product(BenchCatalogue.planID)))), wire, codec,
                [named]
            )
        }
        self.status = try CallTemplate(.getServerStatus, wire, codec)
        let price = BenchCatalogue.price(ofEdition: 0)
        self.edition = try CallTemplate(
            .loadCatalog(LoadCatalogRequest(app: app, file: catalogue.file(edition: 0), source: "perch bench")), wire,
            codec,
            [CallTemplate.Marker(price, digits: 1..<1 + BenchCatalogue.editionDigits)])
    }

    /// Of account 0; other accounts have their number in the last digits.
    private static let accountToken = "7e3fb204-2db1-4bbb-9a33-bf4000000000"

    /// The token of `CallTemplate.account`.
    static func accountToken(of account: String) -> String {
        String(Self.accountToken.dropLast(CallTemplate.digitCount)) + account.suffix(CallTemplate.digitCount)
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
