import PerchBase
import PerchWire

/// The protocol of a connection, chosen by its first bytes.
enum Wire: UInt8 {
    case unknown
    case perch1
    case http1
    case http2

    /// The protocol of a name of ALPN.
    init(negotiated name: String) {
        switch name {
        case "h2": self = .http2
        case "http/1.1": self = .http1
        default: self = .perch1
        }
    }

    var name: String {
        switch self {
        case .unknown: "an unknown protocol"
        case .perch1: "perch/1"
        case .http1: "http/1.1"
        case .http2: "h2"
        }
    }

    /// Whether it carries calls of the gRPC family.
    @inline(__always)
    var isHTTP: Bool { self == .http2 || self == .http1 }
}

/// State of an HTTP connection, beside its connection slot.
struct HTTPConnection: BitwiseCopyable {
    struct Flags: OptionSet {
        let rawValue: UInt16
        /// SETTINGS came, the first frame of a client.
        static let hasSettings = Flags(rawValue: 1)
        /// A first GOAWAY is written; its PING has not come back.
        static let awaitsDrainPing = Flags(rawValue: 2)
        /// The final GOAWAY is written. Streams beyond its last one are ignored.
        static let hasSaidLast = Flags(rawValue: 4)
        /// A call has asked for bookmarks at the end of each group.
        static let wantsGroups = Flags(rawValue: 8)
        /// Of HTTP/1: the response under way is the last.
        static let isLastResponse = Flags(rawValue: 16)
        /// Of HTTP/1: a response is under way.
        static let isResponding = Flags(rawValue: 32)
        /// The header block under way ends the stream.
        static let blockEndsStream = Flags(rawValue: 64)
        /// The connection ends when its streams have.
        static let isLeaving = Flags(rawValue: 128)
        /// Of HTTP/1: the client was asked for the body of the request under way.
        static let hasSaidContinue = Flags(rawValue: 256)
        /// The connection has reached its age: it takes no further calls, and ends after those under way.
        static let isAged = Flags(rawValue: 512)
        /// Of HTTP/1: more input than the request under way had come with it.
        static let hasNextRequest = Flags(rawValue: 1_024)
    }

    /// Nil for HTTP/1.
    var inflater: HeaderInflater?
    var controls = RateMeter()
    /// SETTINGS that opened the windows of all streams. DATA does not reset it, because each one costs a walk.
    var openings = RateMeter()
    /// The connection window: bytes that the peer accepts on all streams together.
    var window: Int64 = Int64(HTTP2.windowDefault)
    /// The initial window that the peer set for its streams. A stream's window is this plus its credit.
    var initialWindow: Int32 = HTTP2.windowDefault
    /// Bytes received since the last WINDOW_UPDATE.
    var received: Int32 = 0
    /// Bytes of pending answers of all streams.
    var unsentBytes: Int = 0
    /// Bytes of incomplete requests, heads included, and of a header block that goes on in CONTINUATION.
    var heldBytes: Int32 = 0
    /// When that block began, in monotonic milliseconds.
    var blockSince: Int64 = 0
    /// Streams of Health.Watch.
    var healthWatchCount: Int32 = 0
    /// The highest number of a stream that the peer has opened.
    var lastStream: UInt32 = 0
    var streamCount: Int32 = 0
    /// Places of streams that ended before their question to the store was answered.
    var heldCount: Int32 = 0
    var firstStream: Int32 = -1
    var firstReady: Int32 = -1
    var lastReady: Int32 = -1
    /// Streams that wait for their own window.
    var blockedCount: Int32 = 0
    /// Of HTTP/1: length of the request under way in bytes, by its head; 0: not known, -1: its body is in chunks.
    var wanted: Int32 = 0
    /// Of HTTP/1: the chunks of the request under way that are complete.
    var chunks = HTTP1Request.Chunks()
    /// The stream whose header block goes on in CONTINUATION; 0: none.
    var continuing: UInt32 = 0
    var continuations: UInt8 = 0
    var flags: Flags = []
}

/// One request and its response on a connection of the HTTP family.
struct HTTPStream: BitwiseCopyable {
    struct Flags: OptionSet {
        let rawValue: UInt32
        /// The stream is in its connection's list of streams with output.
        static let isReady = Flags(rawValue: 1)
        /// The stream's window is used up: it is in no list until WINDOW_UPDATE.
        static let isBlocked = Flags(rawValue: 2)
        static let hasSentHead = Flags(rawValue: 4)
        /// The request is complete.
        static let peerHasEnded = Flags(rawValue: 8)
        static let acceptsZlib = Flags(rawValue: 16)
        static let acceptsGzip = Flags(rawValue: 32)
        static let isJSON = Flags(rawValue: 64)
        static let hasUnsentBookmark = Flags(rawValue: 128)
        /// The partly sent message is the last one of the stream.
        static let endsAfterPinned = Flags(rawValue: 256)
        /// The content type named its codec: the response's does too.
        static let hasSuffix = Flags(rawValue: 512)
        /// A method of `HTTPService`.
        static let isService = Flags(rawValue: 1024)
        /// A page of an allowed foreign origin sent the request.
        static let isCrossOrigin = Flags(rawValue: 2048)
        /// The request is with its method. More bytes of it are an error.
        static let isOpened = Flags(rawValue: 4096)
        /// The end of the stream is pending.
        static let isEnding = Flags(rawValue: 8192)
        /// Only trailers are left, which need no window: the stream is at the front of the ready ones.
        static let needsNoWindow = Flags(rawValue: 65536)
        /// The response is not chunked: it has a Content-Length, or no body at all.
        static let hasLength = Flags(rawValue: 16384)
        /// The answer waits for the end of the request, because some clients cannot read while they send.
        static let waitsForBody = Flags(rawValue: 32768)
        /// The request is complete with its head, as a GET is: its body has no meaning, and is dropped.
        static let dropsBody = Flags(rawValue: 131072)
        /// An `EventSource` came back with the identifier of its last event.
        static let hasEventID = Flags(rawValue: 262144)
        /// On the App Store's port: a notification, and not another request.
        static let isNotification = Flags(rawValue: 524288)
    }

    var connection: Int32
    var id: UInt32
    var call: Int32 = -1
    /// The window minus the initial window.
    var credit: Int32 = 0
    /// Bytes received since the last WINDOW_UPDATE.
    var received: Int32 = 0
    /// The partly sent message, and the number of its sent bytes.
    var pinned = PayloadHandle.none
    var offset: Int32 = 0
    var form: HTTPForm
    /// The request was a HEAD: the response has the head of a GET, and no body.
    var isHead = false
    var flags: Flags = []
    var firstUnsent: Int32 = -1
    var lastUnsent: Int32 = -1
    var nextReady: Int32 = -1
    var previousReady: Int32 = -1
    var next: Int32 = -1
    var previous: Int32 = -1

    /// Whether its call has begun to answer, and nothing but the call's own output is pending.
    var isQuiet: Bool {
        @inline(__always) get {
            self.flags.contains(.hasSentHead) && self.flags.isDisjoint(with: [.hasUnsentBookmark, .isEnding])
                && self.firstUnsent < 0 && self.pinned.isNone && self.call >= 0
        }
    }
}

/// The connection among whose streams a question without a stream counts.
struct HeldPlace {
    var connection: Int32
    var generation: UInt32
}

/// An incomplete request, or a conversation.
struct HTTPRequest {
    var head: RequestHead
    var target: HTTPTarget
    var body: [UInt8] = []
    /// When its head came, or its last whole message, in monotonic milliseconds.
    var since: Int64
    var messageCount = 0

    /// The head is kept without the fields that have done their work.
    init(head: RequestHead, target: HTTPTarget, since: Int64) {
        self.head = head.kept
        self.target = target
        self.since = since
    }

    /// Bytes of a request with its stream, beside fields and body.
    private static let ownBytes = 768

    /// Bytes of memory that it holds, about.
    var heldBytes: Int { Self.ownBytes + self.head.heldBytes + self.body.count }

    /// Its peer has yet to send the rest of a message.
    var isIncomplete: Bool { self.messageCount == 0 || !self.body.isEmpty }
}

/// The target of a path.
enum HTTPTarget: Equatable {
    case method(Method)
    case service(HTTPService)
}

/// Services of gRPC itself, which the transport answers.
enum HTTPService: String, CaseIterable {
    case healthCheck = "/grpc.health.v1.Health/Check"
    case healthWatch = "/grpc.health.v1.Health/Watch"
    case healthList = "/grpc.health.v1.Health/List"
    case reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    case reflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

    /// Several requests on one call.
    var isConversation: Bool { self == .reflection || self == .reflectionAlpha }
    var isStreaming: Bool { self != .healthCheck && self != .healthList }
}

/// The HTTP state of a loop.
struct HTTPTables: ~Copyable {
    var connections = Slab<HTTPConnection>()
    var streams = Slab<HTTPStream>()
    /// Stream slots by connection and stream number.
    var table = SlotTable()
    /// Incomplete requests and conversations, by stream.
    var requests: [Int32: HTTPRequest] = [:]
    /// By connection: the header block that goes on in CONTINUATION.
    var blocks: [Int32: HeaderInflater.Block] = [:]
    /// By connection: streams that ended out of order.
    var closed: [Int32: ClosedStreams] = [:]
    /// By stream: the bytes that its `content-length` still promises.
    var lengths: [Int32: Int] = [:]
    /// Places of streams that ended before their question was answered, with the connections that hold them.
    var heldPlaces: [Ticket: HeldPlace] = [:]
    /// Heads of responses, which are the same for all calls of one form within a second.
    var heads: [UInt32: PayloadHandle] = [:]
    var headsSecond = Int64.min
    /// The present second, as `Date` says it.
    var date = (second: Int64.min, text: "")
    /// Whether the watches of health have heard that the server does not serve.
    var saysNotServing = false
    /// Heads of HTTP/1 requests whose bodies are incomplete, by connection: each is parsed once.
    var heads1: [Int32: HTTP1Request] = [:]
    /// Streams of Health.Watch, with the last status that each received.
    var healthWatches: [Int32: (service: String, told: UInt64)] = [:]
    /// By stream: the origin of the page that asks, where it is another.
    var origins: [Int32: String] = [:]
    /// Client identifiers that calls brought themselves.
    var clientIDs: [Int32: [UInt8]] = [:]
    /// The bytes of served files, shared by their readers.
    var files: [String: PayloadHandle] = [:]
    /// The bookmark of this turn.
    var bookmark = PayloadHandle.none
    /// Where header fields are decoded.
    let fields = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.headerListBytesMax, alignment: 8)

    init() {}

    deinit { self.fields.deallocate() }
}
