import PerchBase
import PerchCore
import PerchJSON
import PerchMetrics
import PerchStore

/// The content of `/status`: the server's state, and since when. For operators and scripts; without accounts and
/// secrets.
struct StatusPage {
    var version: String
    var started: Instant
    var now: Instant
    var readiness: ReadyState
    var storeIdentity: String
    var epoch: UInt32
    var storeKind: String
    var loops: [LoopReport?]
    var loopInboxes: [Int]
    var store: StoreReport?
    var storeInbox: Int
    var controlInbox: Int
    var process: ProcessFigures
    var samples: MetricSamples
    /// Files that could not be used at a reload; their previous contents stay in use.
    var filesNotInUse: [String] = []
    /// Threads that did not answer in time; empty if all did.
    var awaited: String

    func json() -> [UInt8] {
        var json = JSONWriter(layout: .indented)
        json.beginObject()
        json.text("version", self.version)
        json.text("started", "\(self.started)")
        json.number("uptime_seconds", self.now.milliseconds(since: self.started) / 1_000)
        json.key("ready")
        json.boolean(self.readiness.reason == nil)
        json.text("ready_since", self.readiness.reason == nil ? "\(self.readiness.since)" : nil)
        json.text("not_ready_since", self.readiness.reason == nil ? nil : "\(self.readiness.since)")
        json.text("not_ready_because", self.readiness.reason)
        json.text("unanswered", self.awaited.isEmpty ? nil : self.awaited)
        json.key("files_not_in_use")
        json.beginArray()
        for file in self.filesNotInUse { json.string(file) }
        json.endArray()
        self.writeStore(&json)
        self.writeNodes(&json)
        self.writeApps(&json)
        self.writeLoops(&json)
        json.number("bytes_per_connection", self.loops.lazy.compactMap { $0 }.first?.census.connectionBytes)
        json.number("bytes_per_watch", self.loops.lazy.compactMap { $0 }.first.map { $0.census.watchBytes })
        json.number("control_inbox", self.controlInbox)
        json.key("descriptors")
        json.beginObject()
        json.number("open", self.process.descriptorsOpen)
        json.number("limit", self.process.descriptorsLimit)
        json.endObject()
        json.text("allocator", Allocator.name)
        json.number("resident_bytes", self.process.residentBytes)
        self.writeLimits(&json)
        json.endObject()
        // A page has a few kilobytes, and the writer takes megabytes.
        guard let bytes = try? json.finish() else { preconditionFailure("a status page became too long") }
        return bytes + [UInt8(ascii: "\n")]
    }

    private func writeStore(_ json: inout JSONWriter) {
        json.key("store")
        json.beginObject()
        json.text("identity", self.storeIdentity)
        json.number("epoch", self.epoch)
        json.text("kind", self.storeKind)
        json.number("inbox", self.storeInbox)
        if let store = self.store {
            json.number("revision", store.census.revision)
            json.number("file_bytes", store.figures.fileBytes)
            json.number("log_bytes", store.figures.logBytes)
            json.key("without_room")
            json.boolean(store.isWithoutRoom)
            json.number("failed_commits", store.counters.failedBatches)
            json.text("last_failed_commit", store.failedCommit.map { "\($0)" })
            json.number("cached_records", store.census.records)
        }
        json.endObject()
    }

    /// The nodes of a store that several share.
    private func writeNodes(_ json: inout JSONWriter) {
        guard let store = self.store, let sharing = store.sharing else { return }
        json.number("milliseconds_since_heartbeat", sharing.sinceBeatMilliseconds)
        json.number("database_clock_offset_milliseconds", sharing.clockOffsetMilliseconds)
        json.number("database_clock_jump_milliseconds", sharing.clockJumpMilliseconds)
        json.text("database_last_loss", sharing.figures.lastLoss.isEmpty ? nil : sharing.figures.lastLoss)
        json.key("nodes")
        json.beginArray()
        for node in sharing.nodes {
            json.beginObject()
            json.text("id", String(node.id, radix: 16))
            json.text("name", node.name)
            json.key("is_this")
            json.boolean(node.id == sharing.ownID)
            json.text("version", node.version)
            json.text("started", "\(node.started)")
            json.number("silent_milliseconds", node.silentMilliseconds)
            json.number("applied_revision", node.appliedRevision)
            json.number("behind", store.census.revision - min(store.census.revision, node.appliedRevision))
            json.number("calls", node.calls)
            json.key("draining")
            json.boolean(node.isDraining)
            json.key("gone")
            json.boolean(node.isGone)
            json.endObject()
        }
        json.endArray()
    }

    private func writeApps(_ json: inout JSONWriter) {
        json.key("apps")
        json.beginArray()
        for app in self.store?.apps ?? [] {
            json.beginObject()
            json.text("bundle_id", app.bundleID)
            json.text("environment", "\(app.environment)")
            json.number("products", app.productCount)
            json.number("catalog_revision", app.catalogueRevision)
            json.text("catalog_loaded", app.catalogueLoaded.map { "\($0)" })
            json.endObject()
        }
        json.endArray()
    }

    private func writeLoops(_ json: inout JSONWriter) {
        json.key("loops")
        json.beginArray()
        for (index, loop) in self.loops.enumerated() {
            json.beginObject()
            json.number("loop", index)
            json.number("inbox", self.loopInboxes[index])
            if let loop {
                json.number("applied_revision", loop.census.applied)
                json.number("connections", loop.census.connections)
                json.number("calls", loop.census.calls)
                json.number("views", loop.census.views)
                json.number("memory_bytes", loop.census.memoryBytes)
            }
            json.endObject()
        }
        json.endArray()
        let known = self.loops.compactMap { $0 }
        json.number("connections", known.reduce(0) { $0 + $1.census.connections })
        json.number("calls", known.reduce(0) { $0 + $1.census.calls })
    }

    /// The limits that were reached, each with its series.
    private func writeLimits(_ json: inout JSONWriter) {
        json.key("limits_reached")
        json.beginArray()
        for (metric, labels) in LimitCounter.series {
            guard let count = self.samples.value(metric, labels: labels), count > 0 else { continue }
            json.beginObject()
            json.key("limits")
            json.beginArray()
            for counter in LimitCounter.all where counter.metric == metric && counter.labels == labels {
                json.string(counter.shown)
            }
            json.endArray()
            json.text("series", labels.isEmpty ? metric : "\(metric){\(labels)}")
            json.number("count", Int64(count))
            json.endObject()
        }
        json.endArray()
    }
}

/// Whether clients should be sent here, why not, and since when.
struct ReadyState: Equatable {
    /// Nil: ready.
    private(set) var reason: String?
    private(set) var since: Instant

    init(since: Instant) { self.since = since }

    /// True if it changed between ready and not ready.
    mutating func set(_ reason: String?, at now: Instant) -> Bool {
        let isChange = (reason == nil) != (self.reason == nil)
        if isChange { self.since = now }
        self.reason = reason
        return isChange
    }
}

extension JSONWriter {
    fileprivate mutating func text(_ key: String, _ value: String?) {
        self.key(key)
        if let value { self.string(value) } else { self.null() }
    }

    fileprivate mutating func number(_ key: String, _ value: (some FixedWidthInteger)?) {
        self.key(key)
        if let value { self.integer(value) } else { self.null() }
    }
}
