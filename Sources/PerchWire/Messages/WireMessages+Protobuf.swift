import CPerchProto
import PerchBase
import PerchModel

extension Hello {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Hello>, _ arena: Arena) {
        message.pointee.protocol_version = self.protocolVersion
        message.pointee.authorization = arena.text(self.authorization)
        message.pointee.client_name = arena.text(self.clientName)
        (message.pointee.n_accepts, message.pointee.accepts) = arena.values(self.accepts)
        message.pointee.heartbeat_seconds = self.heartbeatSeconds
        message.pointee.client_id = arena.bytes(self.clientID)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Hello>) {
        self.init(
            protocolVersion: message.pointee.protocol_version,
            authorization: String(wire: message.pointee.authorization),
            clientName: String(wire: message.pointee.client_name),
            accepts: readValues(message.pointee.n_accepts, message.pointee.accepts),
            heartbeatSeconds: message.pointee.heartbeat_seconds, clientID: [UInt8](message.pointee.client_id)
        )
    }
}

extension PeerLimits {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Limits>, _ arena: Arena) {
        message.pointee.frame_bytes = self.frameBytes
        message.pointee.request_bytes = self.requestBytes
        message.pointee.catalog_request_bytes = self.catalogRequestBytes
        message.pointee.calls_per_connection = self.callsPerConnection
        message.pointee.write_stall_ms = self.writeStallMilliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Limits>) {
        self.init(
            frameBytes: message.pointee.frame_bytes, requestBytes: message.pointee.request_bytes,
            catalogRequestBytes: message.pointee.catalog_request_bytes,
            callsPerConnection: message.pointee.calls_per_connection,
            writeStallMilliseconds: message.pointee.write_stall_ms
        )
    }
}

extension Welcome {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Welcome>, _ arena: Arena) {
        message.pointee.server_version = arena.text(self.serverVersion)
        message.pointee.store_id = arena.bytes(self.storeID)
        message.pointee.epoch = self.epoch
        message.pointee.revision = self.revision
        if let limits = self.limits { message.pointee.limits = arena.message { limits.write(to: $0, arena) } }
        message.pointee.heartbeat_seconds = self.heartbeatSeconds
        (message.pointee.n_accepts, message.pointee.accepts) = arena.values(self.accepts)
        message.pointee.server_time_ms = self.serverTime.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Welcome>) {
        self.init(
            serverVersion: String(wire: message.pointee.server_version), storeID: [UInt8](message.pointee.store_id),
            epoch: message.pointee.epoch, revision: message.pointee.revision,
            limits: read(message.pointee.limits) { PeerLimits($0) },
            heartbeatSeconds: message.pointee.heartbeat_seconds,
            accepts: readValues(message.pointee.n_accepts, message.pointee.accepts),
            serverTime: Instant(milliseconds: message.pointee.server_time_ms)
        )
    }
}

extension Metadata {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Metadata>, _ arena: Arena) {
        message.pointee.key = arena.text(self.key)
        message.pointee.value = arena.bytes(self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Metadata>) {
        self.init(key: String(wire: message.pointee.key), value: [UInt8](message.pointee.value))
    }
}

extension StatusDetail {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__StatusDetail>, _ arena: Arena) {
        message.pointee.key = arena.text(self.key)
        message.pointee.value = arena.text(self.value)
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__StatusDetail>) {
        self.init(key: String(wire: message.pointee.key), value: String(wire: message.pointee.value))
    }
}

extension Status {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Status>, _ arena: Arena) {
        message.pointee.code = self.code
        message.pointee.message = arena.text(self.message)
        message.pointee.reason = arena.text(self.reason)
        (message.pointee.n_details, message.pointee.details) = arena.list(self.details) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Status>) {
        self.init(
            code: message.pointee.code, message: String(wire: message.pointee.message),
            reason: String(wire: message.pointee.reason),
            details: readList(message.pointee.n_details, message.pointee.details) { StatusDetail($0) }
        )
    }
}

extension Beat {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Beat>, _ arena: Arena) {
        message.pointee.revision = self.revision
        message.pointee.server_time_ms = self.serverTime.milliseconds
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Beat>) {
        self.init(revision: message.pointee.revision, serverTime: Instant(milliseconds: message.pointee.server_time_ms))
    }
}

extension Drain {
    func write(to message: UnsafeMutablePointer<Perch__Wire__V1__Drain>, _ arena: Arena) {
        message.pointee.reason = arena.text(self.reason)
        message.pointee.message = arena.text(self.message)
        message.pointee.reconnect_after_ms = self.reconnectAfterMilliseconds
        message.pointee.jitter_ms = self.jitterMilliseconds
        message.pointee.final = self.isFinal ? 1 : 0
        (message.pointee.n_details, message.pointee.details) = arena.list(self.details) { $0.write(to: $1, arena) }
    }

    init(_ message: UnsafeMutablePointer<Perch__Wire__V1__Drain>) {
        self.init(
            reason: String(wire: message.pointee.reason), message: String(wire: message.pointee.message),
            reconnectAfterMilliseconds: message.pointee.reconnect_after_ms,
            jitterMilliseconds: message.pointee.jitter_ms, isFinal: message.pointee.final != 0,
            details: readList(message.pointee.n_details, message.pointee.details) { StatusDetail($0) }
        )
    }
}
