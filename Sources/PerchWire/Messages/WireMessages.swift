package import PerchBase

/// Kind 1: the first frame of a client.
package struct Hello: Hashable, Sendable {
    /// 1.
    package var protocolVersion: UInt32
    /// In the form of the HTTP header of that name; empty for none. Never logged.
    package var authorization: String
    /// Name and version of the client program.
    package var clientName: String
    /// What the client can read compressed; identity is always understood.
    package var accepts: [Encoding]
    /// Wanted time between beats; 0 for the server's default.
    package var heartbeatSeconds: UInt32
    /// Names this client across its connections; empty for none.
    package var clientID: [UInt8]

    package init(
        protocolVersion: UInt32 = 0, authorization: String = "", clientName: String = "", accepts: [Encoding] = [],
        heartbeatSeconds: UInt32 = 0, clientID: [UInt8] = []
    ) {
        self.protocolVersion = protocolVersion
        self.authorization = authorization
        self.clientName = clientName
        self.accepts = accepts
        self.heartbeatSeconds = heartbeatSeconds
        self.clientID = clientID
    }
}

/// The limits that a server holds a client to.
package struct PeerLimits: Hashable, Sendable {
    /// Longest message, compressed or inflated.
    package var frameBytes: UInt32
    /// Longest request of an ordinary method.
    package var requestBytes: UInt32
    /// Longest request of the catalogue methods.
    package var catalogRequestBytes: UInt32
    /// Calls that may be live on one connection.
    package var callsPerConnection: UInt32
    /// Without progress for so long, a connection is closed.
    package var writeStallMilliseconds: UInt32

    package init(
        frameBytes: UInt32 = 0, requestBytes: UInt32 = 0, catalogRequestBytes: UInt32 = 0,
        callsPerConnection: UInt32 = 0, writeStallMilliseconds: UInt32 = 0
    ) {
        self.frameBytes = frameBytes
        self.requestBytes = requestBytes
        self.catalogRequestBytes = catalogRequestBytes
        self.callsPerConnection = callsPerConnection
        self.writeStallMilliseconds = writeStallMilliseconds
    }
}

/// Kind 2: the server's answer to Hello.
package struct Welcome: Hashable, Sendable {
    /// Version of the server program.
    package var serverVersion: String
    /// Identity of the store: 16 bytes.
    package var storeID: [UInt8]
    /// Tokens of another epoch are refused.
    package var epoch: UInt32
    /// Where this connection starts.
    package var revision: UInt64
    /// The limits in force.
    package var limits: PeerLimits?
    /// Time between beats.
    package var heartbeatSeconds: UInt32
    /// What the server can read compressed.
    package var accepts: [Encoding]
    /// The server's wall clock.
    package var serverTime: Instant

    package init(
        serverVersion: String = "", storeID: [UInt8] = [], epoch: UInt32 = 0, revision: UInt64 = 0,
        limits: PeerLimits? = nil, heartbeatSeconds: UInt32 = 0, accepts: [Encoding] = [],
        serverTime: Instant = Instant(milliseconds: 0)
    ) {
        self.serverVersion = serverVersion
        self.storeID = storeID
        self.epoch = epoch
        self.revision = revision
        self.limits = limits
        self.heartbeatSeconds = heartbeatSeconds
        self.accepts = accepts
        self.serverTime = serverTime
    }
}

/// One entry of call metadata.
package struct Metadata: Hashable, Sendable {
    /// Lower case, as in gRPC.
    package var key: String
    /// Never logged.
    package var value: [UInt8]

    package init(key: String = "", value: [UInt8] = []) {
        self.key = key
        self.value = value
    }
}

/// One named value of a status, for programs.
package struct StatusDetail: Hashable, Sendable {
    /// Such as `limit`, `found`, `setting`, `field`.
    package var key: String
    /// As text.
    package var value: String

    package init(key: String = "", value: String = "") {
        self.key = key
        self.value = value
    }
}

/// Kind 5: ends a call.
package struct Status: Hashable, Sendable {
    /// A gRPC status code: 0 is OK.
    package var code: Int32
    /// For people.
    package var message: String
    /// For programs: one word of the table of `ErrorReason`; empty with OK.
    package var reason: String
    /// The numbers of the message.
    package var details: [StatusDetail]

    package init(code: Int32 = 0, message: String = "", reason: String = "", details: [StatusDetail] = []) {
        self.code = code
        self.message = message
        self.reason = reason
        self.details = details
    }
}

/// Kind 7: the heartbeat, and the end of a group of values that belong together.
package struct Beat: Hashable, Sendable {
    /// Everything up to here that concerns this connection has been said.
    package var revision: UInt64
    /// The server's wall clock.
    package var serverTime: Instant

    package init(revision: UInt64 = 0, serverTime: Instant = Instant(milliseconds: 0)) {
        self.revision = revision
        self.serverTime = serverTime
    }
}

/// Kind 10: the server is about to stop, or to close this connection.
package struct Drain: Hashable, Sendable {
    /// One word of the table of `ErrorReason`.
    package var reason: String
    /// For people.
    package var message: String
    /// Come back no sooner than after so long.
    package var reconnectAfterMilliseconds: UInt32
    /// Add a random time of up to so long.
    package var jitterMilliseconds: UInt32
    /// The connection closes now; else calls go on until told.
    package var isFinal: Bool
    /// The numbers of the message.
    package var details: [StatusDetail]

    package init(
        reason: String = "", message: String = "", reconnectAfterMilliseconds: UInt32 = 0,
        jitterMilliseconds: UInt32 = 0, isFinal: Bool = false, details: [StatusDetail] = []
    ) {
        self.reason = reason
        self.message = message
        self.reconnectAfterMilliseconds = reconnectAfterMilliseconds
        self.jitterMilliseconds = jitterMilliseconds
        self.isFinal = isFinal
        self.details = details
    }
}
