import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore
import PerchWire

// The server's counters, under Prometheus names. A test compares them with the table of deploy/README.md.
extension MetricSamples {
    mutating func add(_ report: LoopReport, loop: Int) {
        let counters = report.counters
        let census = report.census
        self.add("perch_connections", census.connections, help: "Open connections.")
        self.add("perch_handshakes", census.handshakes, help: "Connections that hold a handshake slot.")
        self.add(
            "perch_handshakes_bytes", census.handshakeBytes, help: "Bytes that connections with a handshake slot hold.")
        self.add(
            "perch_identities", census.identities, help: "Identities that loops know, used now or not long ago.")
        self.add("perch_connections_closing", census.dying, help: "Connections that are read from while they close.")
        self.add("perch_calls", census.calls, help: "Live calls.")
        self.add("perch_views", census.views, help: "Distinct views that somebody watches.")
        self.add("perch_accounts_watched", census.accounts, help: "Accounts that somebody watches.")
        self.add("perch_payloads", census.payloads, help: "Encoded values held.")
        self.add("perch_loop_memory_bytes", census.memoryBytes, help: "Memory of the loops' tables.")
        self.add("perch_partial_frames_bytes", census.partialBytes, help: "Bytes of frames that have not come whole.")
        self.add("perch_calls_bytes", census.callsBytes, help: "Bytes that open calls hold.")
        if loop == 0 {
            self.add("perch_connection_bytes", census.connectionBytes, help: "Memory of one connection's state.")
            self.add("perch_watch_bytes", census.callBytes, help: "Memory of one watch's state, at most.")
            self.add(
                "perch_view_bytes", census.viewBytes,
                help: "Memory of the state of one view and its account, at most; beside it the account's key.")
        }
        self.add(
            "perch_loop_applied_revision", labels: Exposition.label("loop", "\(loop)"), census.applied,
            help: "Revision up to which the loop has applied every change.")
        self.addCopies(counters, census.copies, loop: loop)
        self.addConnections(counters, report.acceptor)
        self.add(report.tls)
        self.addCalls(counters)
        self.addPushes(counters)
        self.add(
            seconds: "perch_loop_turn_seconds", report.measures.turnMicroseconds,
            help: "From a loop's waking up to the end of its turn.")
        self.add(
            seconds: "perch_push_seconds", report.measures.pushMicroseconds,
            help: "From a commit to the end of the flush that gave watchers its value, for the oldest commit of a turn."
        )
        self.add(
            counts: "perch_loop_inbox_events", report.measures.inboxEvents,
            help: "Events that waited for a loop when it took them, of those turns that had any.")
    }

    private mutating func addConnections(_ counters: LoopCounters, _ acceptor: Acceptor.Counters) {
        self.add("perch_connections_accepted_total", counters.connectionsAccepted, help: "Connections accepted.")
        self.add("perch_connections_closed_total", counters.connectionsClosed, help: "Connections closed.")
        for (reason, count) in [
            ("descriptors", acceptor.refusedForDescriptors), ("limit", acceptor.refusedForLimit),
            ("lost", acceptor.lost),
        ] {
            self.add(
                "perch_connections_refused_total", labels: Exposition.label("reason", reason), count,
                help: "Connections closed at once, or gone before they were accepted.")
        }
        self.add(
            "perch_accept_pauses_total", acceptor.pauses,
            help: "Times that a listener rested because there was no room.")
        self.add(
            "perch_connections_stalled_total", counters.stalledClosed,
            help: "Connections closed because they read nothing.")
        for (reason, count) in [("linger", counters.lingerExpired), ("closing", counters.dyingCutOff)] {
            self.add(
                "perch_connections_cut_off_total", labels: Exposition.label("reason", reason), count,
                help:
                    "Closing connections that were not waited for any longer: their time was over, or too many closed.")
        }
        self.add(
            "perch_connections_drained_total", counters.connectionsDrained,
            help: "Connections that received a DRAIN because the server stops.")
        self.add(
            "perch_read_pauses_total", counters.readPauses,
            help: "Times that reading from a connection paused because too many answers were unsent.")
    }

    private mutating func add(_ tls: TLSCounters) {
        self.add("perch_tls_connections", tls.open, help: "Open connections that speak TLS.")
        self.add("perch_tls_handshakes_total", tls.handshakes, help: "TLS handshakes that came to their end.")
        self.add(
            "perch_tls_handshakes_resumed_total", tls.resumed,
            help: "Of those, the ones that went on from an earlier session.")
        for reason in TLSCounters.reasons {
            self.add(
                "perch_tls_handshakes_failed_total", labels: Exposition.label("reason", reason),
                tls.failures[reason] ?? 0, help: "TLS handshakes that failed, by reason.")
        }
    }

    /// Purchases that the App Store reported and that need somebody.
    private mutating func addReported(_ report: StoreReport) {
        // Where every app is a test app there can be none, counted or not.
        let isTestStore = report.apps.allSatisfy { $0.environment == .xcode }
        if let counted = report.subscriptions.map({ ($0.count.unclaimed, $0.count.overdue) })
            ?? (isTestStore ? (0, 0) : nil)
        {
            self.add(
                "perch_unclaimed_purchases", counted.0,
                help: "Purchases that the App Store reported and that belong to no account that is known.")
            self.add(
                "perch_overdue_subscriptions", counted.1,
                help: "Subscriptions of the App Store whose renewal was awaited and never reported.")
        }
    }

    private mutating func addCalls(_ counters: LoopCounters) {
        self.add("perch_calls_opened_total", counters.callsOpened, help: "Calls opened.")
        for (transport, count) in [
            ("grpc", counters.grpcCalls), ("grpc-web", counters.grpcWebCalls), ("connect", counters.connectCalls),
            ("events", counters.eventCalls), ("service", counters.httpServiceCalls),
        ] {
            self.add(
                "perch_http_calls_total", labels: Exposition.label("transport", transport), count,
                help: "Calls that did not come by perch/1, by transport; `service` is health and reflection.")
        }
        for (wire, count) in [("h2", counters.http2Connections), ("http/1.1", counters.http1Connections)] {
            self.add(
                "perch_wire_connections_total", labels: Exposition.label("wire", wire), count,
                help: "Connections that spoke HTTP, by version; the others spoke perch/1.")
        }
        self.add(
            "perch_http_heads_too_long_total", counters.httpHeadsTooLong,
            help: "Requests that were refused with 431, because their header fields are too long.")
        for (event, count) in [("reset", counters.httpStreamsReset), ("refused", counters.httpStreamsRefused)] {
            self.add(
                "perch_http_streams_total", labels: Exposition.label("event", event), count,
                help: "Streams of HTTP/2 that their peer reset before their end, and those refused by REFUSED_STREAM.")
        }
        self.add("perch_calls_ended_total", counters.callsEnded, help: "Calls ended, refused ones too.")
        self.add("perch_calls_refused_total", counters.callsRefused, help: "Calls ended with an error.")
        for reason in ErrorReason.allCases {
            self.add(
                "perch_refusals_total", labels: Exposition.label("reason", reason.rawValue),
                counters.refusalsByReason[reason] ?? 0, help: "Calls and connections ended, by reason.")
        }
        self.add(requestsOfAppStore: counters)
        self.add(
            "perch_credentials_verified_total", counters.credentialsVerified,
            help: "Tokens that were verified; one that a loop knows is not verified again.")
        self.add(
            "perch_credentials_refused_total", counters.credentialsRefused,
            help: "Credentials that were not taken; perch_refusals_total says why.")
        self.add(
            "perch_identities_ended_total", counters.identitiesEnded,
            help: "Identities that ended while a loop knew them: their time was over, or they were taken back.")
        self.add("perch_frames_received_total", counters.framesIn, help: "Frames received.")
        self.add("perch_frames_sent_total", counters.framesOut, help: "Frames sent.")
        self.add("perch_received_bytes_total", counters.bytesIn, help: "Bytes received.")
        self.add("perch_sent_bytes_total", counters.bytesOut, help: "Bytes sent.")
        self.add("perch_writes_total", counters.writes, help: "System calls that sent.")
        self.add("perch_turns_total", counters.turns, help: "Turns of the loops.")
        self.add(
            "perch_inputs_deferred_total", counters.inputsDeferred,
            help:
                "Times that a connection had spent its part of a turn, so that the rest of its input waited for the next."
        )
    }

    private mutating func addPushes(_ counters: LoopCounters) {
        self.add(
            "perch_log_notes_dropped_total", counters.notesDropped,
            help: "Events of calls and connections that were too many for the log.")
        self.add(
            "perch_changes_applied_total", counters.changesApplied, help: "Changes applied, summed over the loops.")
        self.add("perch_views_computed_total", counters.viewsComputed, help: "Views computed.")
        self.add("perch_views_encoded_total", counters.viewsEncoded, help: "Values of views encoded.")
        self.add("perch_values_compressed_total", counters.valuesCompressed, help: "Values compressed.")
        self.add("perch_images_sent_total", counters.imagesSent, help: "Promotional images sent.")
        self.add(
            "perch_images_unchanged_total", counters.imagesUnchanged,
            help: "Promotional images that their caller had already.")
        self.add("perch_values_pushed_total", counters.valuesPushed, help: "Values given to watches.")
        self.add("perch_events_pushed_total", counters.eventsPushed, help: "Events given to streams.")
        self.add(
            "perch_app_changes_pushed_total", counters.appChangesSent,
            help: "Messages given to streams of the changes of an app.")
        for (answer, count) in [("unchanged", counters.unchangedAnswers), ("value", counters.resumedWithValue)] {
            self.add(
                "perch_watches_resumed_total", labels: Exposition.label("answer", answer), count,
                help: "Watches that came back with a token, by what they were answered.")
        }
        self.add("perch_beats_sent_total", counters.beatsSent, help: "Heartbeats and ends of groups sent.")
        self.add("perch_bookmarks_sent_total", counters.bookmarksSent, help: "Bookmarks sent on streams.")
        self.add("perch_records_asked_total", counters.recordsAsked, help: "Records that loops asked the store for.")
        self.add("perch_crossings_total", counters.crossings, help: "Values that time changed.")
    }

    mutating func add(_ report: StoreReport) {
        let counters = report.counters
        let census = report.census
        self.add("perch_revision", census.revision, help: "Newest committed revision.")
        self.add("perch_store_batches_total", counters.batches, help: "Group commits.")
        self.add("perch_store_changes_total", counters.changes, help: "Changes committed.")
        self.add("perch_store_reads_total", counters.reads, help: "Reads answered.")
        self.add(
            "perch_store_app_changes_read_total", counters.changesRead,
            help: "Changes of apps that the store read for streams.")
        self.add("perch_store_refusals_total", counters.refusals, help: "Mutations refused.")
        self.add("perch_store_replays_total", counters.replays, help: "Mutations answered from their key.")
        self.add("perch_store_attempts_total", counters.attemptsSettled.settled, help: "Renewal attempts settled.")
        let business = counters.milestones
        self.add("perch_purchases_total", business.purchases, help: "Purchases committed since the start.")
        self.add(
            "perch_renewals_total", labels: Exposition.label("result", "succeeded"), business.renewals,
            help: "Renewals committed since the start, by result.")
        self.add(
            "perch_renewals_total", labels: Exposition.label("result", "failed"), business.renewalsFailed,
            help: "Renewals committed since the start, by result.")
        self.add("perch_refunds_total", business.refunds, help: "Refunds and revocations committed since the start.")
        self.add(
            "perch_subscriptions_ended_total", business.subscriptionsEnded,
            help: "Subscriptions that ended since the start.")
        self.addReported(report)
        if let subscriptions = report.subscriptions {
            for (state, count) in subscriptions.count.byState {
                self.add(
                    "perch_subscriptions", labels: Exposition.label("state", "\(state)"), count,
                    help: "Subscriptions by state, without shared copies.")
            }
            self.add(
                "perch_subscriptions_counted_timestamp_seconds",
                seconds: Double(subscriptions.counted.milliseconds) / 1_000, help: "When they were counted.")
        }
        self.add("perch_store_failed_batches_total", counters.failedBatches, help: "Group commits that failed.")
        self.add("perch_store_batch_size_max", counters.batchSizeMax, help: "Most mutations in one group commit.")
        self.add(
            "perch_store_without_room", report.isWithoutRoom ? 1 : 0, help: "1 while the store has no room to write.")
        self.add("perch_store_file_bytes", report.figures.fileBytes, help: "Size of the store's file.")
        self.add("perch_store_log_bytes", report.figures.logBytes, help: "Size of the write-ahead log's file.")
        self.add(
            "perch_store_checkpoints_total", report.figures.checkpoints,
            help: "Times that the write-ahead log was moved into the file.")
        self.add(
            "perch_store_checkpoint_pages_total", report.figures.checkpointPages,
            help: "Pages that were written by that.")
        self.add(
            "perch_store_checkpoints_without_room_total", report.figures.checkpointsWithoutRoom,
            help: "Times that there was no room to.")
        self.add("perch_record_cache_records", census.records, help: "Records in the cache.")
        self.add("perch_record_cache_bytes", census.cacheBytes, help: "Memory of the record cache, estimated.")
        self.add("perch_record_cache_hits_total", census.cacheHits, help: "Records found in the cache.")
        self.add("perch_record_cache_misses_total", census.cacheMisses, help: "Records read from storage.")
        self.add(
            "perch_record_cache_evictions_total", census.cacheEvictions,
            help: "Records that left the cache because it was full.")
        self.add(
            seconds: "perch_store_batch_seconds", report.measures.batchMicroseconds,
            help: "From taking a batch to the end of its commit.")
        self.add(
            seconds: "perch_store_commit_seconds", report.measures.commitMicroseconds,
            help: "Of a group commit, what the storage took, fsync included.")
        self.add(
            counts: "perch_store_batch_changes", report.measures.batchChanges,
            help: "Changes in a group commit, of those that had any.")
        self.add(
            counts: "perch_store_inbox_requests", report.measures.inboxRequests,
            help: "Requests that waited for the store when it took them, of those turns that had any.")
        self.add(
            seconds: "perch_store_backup_stall_seconds", report.measures.copyStallMicroseconds,
            help: "Time that a backup blocked the store's thread, per step.")
        if let sharing = report.sharing { self.add(sharing, revision: census.revision) }
    }

    /// The figures of a store that several nodes share.
    private mutating func add(_ sharing: SharingReport, revision: UInt64) {
        let figures = sharing.figures
        let others = sharing.nodes.filter { !$0.isGone }
        self.add("perch_nodes", others.count, help: "Nodes that have the store open, this one too.")
        self.add(
            "perch_node_lag_revisions_max", others.map { revision - min(revision, $0.appliedRevision) }.max() ?? 0,
            help: "Revisions that the slowest node had not applied at its last heartbeat.")
        self.add(
            "perch_database_heartbeat_age_seconds", seconds: Double(sharing.sinceBeatMilliseconds) / 1_000,
            help: "Time since the last heartbeat that the database confirmed.")
        self.add(
            "perch_database_heartbeats_total", figures.heartbeats, help: "Heartbeats that the database confirmed.")
        self.add(
            "perch_database_conflicts_total", figures.conflicts,
            help: "Batches that ran again because another node had committed.")
        self.add(
            "perch_database_unknown_commits_total", figures.unknownCommits,
            help: "Commits whose connection was lost, resolved by the hash of the log.")
        self.add("perch_database_reads_total", figures.reads, help: "Reads beside those of a tick's plan.")
        self.add("perch_database_reconnects_total", figures.reconnects, help: "Connections made again.")
        self.add(
            "perch_database_seals_total", figures.seals,
            help: "Barriers passed before changes of another node were sent.")
        self.add(
            "perch_database_clock_offset_seconds", seconds: Double(sharing.clockOffsetMilliseconds) / 1_000,
            help: "The database's clock, which all nodes follow, less this machine's.")
        self.add(
            "perch_database_clock_jump_seconds", seconds: Double(sharing.clockJumpMilliseconds) / 1_000,
            help:
                "By how much the database's clock jumped against the one that this node goes on with; 0 while they agree."
        )
    }

    /// The figures of the process, some under the names of Prometheus' own clients.
    mutating func add(_ process: ProcessFigures) {
        self.add("perch_loops", process.loops, help: "Loops, each a thread with its own listener.")
        self.add(
            "perch_build_info",
            labels: Exposition.label("version", process.version) + "," + Exposition.label("allocator", Allocator.name),
            1, help: "1, with the version of the server, and whose allocator it was linked with.")
        self.add("perch_uptime_seconds", seconds: process.uptimeSeconds, help: "Time since the server was ready.")
        self.add("perch_ready", process.isReady ? 1 : 0, help: "1 while /readyz says yes.")
        self.add("perch_draining", process.isDraining ? 1 : 0, help: "1 from SIGTERM on.")
        self.add("perch_descriptors_limit", process.descriptorsLimit, help: "Descriptors that the process may have.")
        for (inbox, depth) in process.inboxDepths {
            self.add(
                "perch_inbox_depth", labels: Exposition.label("inbox", inbox), depth,
                help: "Events that wait for a thread now.")
        }
        self.add(
            "perch_log_lines_dropped_total", process.logLinesDropped, help: "Lines that standard error did not take.")
        for (code, count) in process.httpResponses {
            self.add(
                "perch_http_responses_total", labels: Exposition.label("code", "\(code)"), count,
                help: "Answers of the HTTP listener, by code.")
        }
        self.add(
            "perch_http_late_total", process.httpLate,
            help: "Answers of the HTTP listener that say which threads did not answer in time.")
        self.add("perch_http_connections", process.httpConnections, help: "Open connections of the HTTP listener.")
        self.add(
            "perch_http_connections_refused_total", process.httpRefused,
            help: "Connections to the HTTP listener that found no room.")
        self.add(
            "perch_http_connections_expired_total", process.httpExpired,
            help: "Connections of the HTTP listener whose time was over.")
        self.add(
            "perch_watchdog_pings_total", process.watchdogPings,
            help: "Watchdog pings sent to the service manager.")
        self.add("perch_backups_total", process.backups.completed, help: "Backups that were completed.")
        self.add("perch_backups_failed_total", process.backups.failed, help: "Backups that were not.")
        self.add("perch_backup_running", process.backups.running == nil ? 0 : 1, help: "1 while a backup is made.")
        self.add(
            "perch_backup_last_timestamp_seconds",
            seconds: process.backups.last.map { Double($0.finished.milliseconds) / 1_000 } ?? 0,
            help: "When the last backup since the start was complete, in seconds of the Unix epoch; 0 before the first."
        )
        if let last = process.backups.last {
            self.add("perch_backup_last_revision", last.revision, help: "The revision that the last backup holds.")
            self.add("perch_backup_last_bytes", last.bytes, help: "Length of the last backup.")
            self.add(
                "perch_backup_last_duration_seconds", seconds: last.seconds, help: "How long the last backup took.")
        }
        if let free = process.storeDiskFreeBytes {
            self.add("perch_store_disk_free_bytes", free, help: "Free space on the store's disk.")
        }
        self.add(
            "perch_files_not_in_use", process.filesNotInUse,
            help: "Files that could not be used when SIGHUP had them read again.")
        self.add(
            "perch_tls_certificate_end_seconds", seconds: process.certificateEndSeconds,
            help: "When the server's certificate ends, in seconds of the Unix epoch; 0 without TLS.")
        self.add("process_open_fds", process.descriptorsOpen, help: "Descriptors that are open.")
        self.add("process_max_fds", process.descriptorsLimit, help: "Descriptors that the process may have.")
        self.add("process_resident_memory_bytes", process.residentBytes, help: "Memory of the process in RAM.")
        self.add("process_virtual_memory_bytes", process.virtualBytes, help: "Address space of the process.")
        self.add("process_threads", process.threads, help: "Threads of the process.")
        self.add(
            "process_cpu_seconds_total", seconds: process.processorSeconds,
            help: "Processor time of the process, user and system.")
        self.add(
            "process_start_time_seconds", seconds: process.startSeconds,
            help: "When the process started, in seconds of the Unix epoch.")
    }
}

/// The figures of the process as a whole.
struct ProcessFigures {
    var version = ""
    var loops = 0
    var uptimeSeconds = 0.0
    var startSeconds = 0.0
    var isReady = false
    var isDraining = false
    var backups = Backups()
    var descriptorsOpen = 0
    var descriptorsLimit = 0
    var inboxDepths: [(inbox: String, depth: Int)] = []
    var logLinesDropped: UInt64 = 0
    var httpResponses: [(code: Int, count: UInt64)] = []
    var httpLate: UInt64 = 0
    var httpConnections = 0
    var httpRefused: UInt64 = 0
    var httpExpired: UInt64 = 0
    var watchdogPings: UInt64 = 0
    var certificateEndSeconds = 0.0
    var filesNotInUse = 0
    /// Nil for a store in memory.
    var storeDiskFreeBytes: Int?
    var residentBytes: Int64 = 0
    var virtualBytes: Int64 = 0
    var threads = 0
    var processorSeconds = 0.0
}

/// A limit that can be reached while a server runs, and the series that counts it.
///
/// A test requires an entry for every limit.
struct LimitCounter {
    /// The name in `Limits`.
    var limit: String
    var metric: String
    var labels: String
    /// The series also counts other mistakes, so it does not prove that the limit was reached.
    var isAmongMistakes: Bool

    private init(_ limit: String, _ metric: String, labels: String = "", isAmongMistakes: Bool = false) {
        self.limit = limit
        self.metric = metric
        self.labels = labels
        self.isAmongMistakes = isAmongMistakes
    }

    private init(_ limit: String, reason: ErrorReason) {
        self.init(limit, "perch_refusals_total", labels: Exposition.label("reason", reason.rawValue))
    }

    /// A reason code that covers the limit and other mistakes: an account key that is too long, and an empty one.
    private init(_ limit: String, amongMistakes reason: ErrorReason) {
        self.init(
            limit, "perch_refusals_total", labels: Exposition.label("reason", reason.rawValue), isAmongMistakes: true)
    }

    /// The limit for operators: the setting that changes it, or its subject.
    var shown: String {
        if let setting = Self.settings[self.limit] { return setting }
        // `codecArenaBytesMax`: codec arena bytes.
        var words = ""
        for letter in self.limit {
            words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
        }
        return words.hasSuffix(" max") ? String(words.dropLast(4)) : words
    }

    private static let settings = [
        "descriptorsReserved": "LimitNOFILE of the process, less \(Limits.descriptorsReserved) that the server keeps",
        "recordEntriesMax": "--record-entries", "helloTimeoutMilliseconds": "--hello-timeout",
        "firstByteTimeoutMilliseconds": "--first-byte-timeout", "handshakesMax": "--handshakes",
        "frameBytesMax": "--frame-bytes", "partialFramesBytesMax": "--partial-frames-bytes",
        "callsBytesMax": "--calls-bytes", "callsPerConnectionMax": "--calls-per-connection",
        "connectionsPerAddressMax": "--connections-per-address",
        "connectionsPerIdentityMax": "--connections-per-identity", "connectsPerAddress": "--connects-per-second",
        "callsPerIdentity": "--calls-per-second", "writeStallMilliseconds": "--write-stall",
        "lingerMilliseconds": "--linger", "dyingConnectionsMax": "--dying-connections",
        "recordCacheBytesMax": "--record-cache-bytes", "cursorRetentionMilliseconds": "--cursor-time",
        "cursorRetentionRevisionsMin": "--cursor-revisions",
    ]

    static let all: [LimitCounter] = [
        LimitCounter("recordEntriesMax", reason: .recordLimit),
        LimitCounter("grantsMax", reason: .recordLimit),
        LimitCounter("appleSignedBytesMax", reason: .appleTooLong),
        LimitCounter("appleNotificationBytesMax", reason: .appleTooLong),
        LimitCounter("appleRequestBytesMax", reason: .appleTooLong),
        LimitCounter("appleSubmissionBytesMax", reason: .requestTooLong),
        LimitCounter("appleDepthMax", amongMistakes: .appleMalformed),
        LimitCounter("reportedTransactionIDs", amongMistakes: .appleMalformed),
        LimitCounter("reportedTextBytesMax", amongMistakes: .appleMalformed),
        LimitCounter("reportedAmounts", amongMistakes: .appleMalformed),
        LimitCounter("watchesPerCallMax", amongMistakes: .fieldInvalid),
        LimitCounter("appleValuesMax", amongMistakes: .appleMalformed),
        LimitCounter("appleCertificateBytesMax", amongMistakes: .appleCertificate),
        LimitCounter("appleSubmissionValuesMax", amongMistakes: .fieldInvalid),
        LimitCounter("entitlementNameBytesMax", amongMistakes: .fieldInvalid),
        LimitCounter("deadLettersMax", reason: .deadLetterLimit),
        LimitCounter("strangeDeadLettersMax", reason: .deadLetterLimit),
        LimitCounter("intakeQueueMax", reason: .intakeFull),
        LimitCounter("pendingPurchasesMax", reason: .pendingLimit),
        LimitCounter("purchaseIntentsMax", reason: .intentLimit),
        LimitCounter("familyMembersMax", reason: .familyLimit),
        LimitCounter("renewalsPerPurchaseMax", reason: .advanceLimit),
        LimitCounter("advanceMillisecondsMax", reason: .advanceLimit),
        LimitCounter("renewalsPerAdvanceMax", reason: .advanceLimit),
        LimitCounter("readableMilliseconds", amongMistakes: .fieldInvalid),
        LimitCounter("factsPerReadMax", reason: .historyLimit),
        LimitCounter("renewalExtensionMillisecondsMax", amongMistakes: .extensionInvalid),
        LimitCounter("renewalExtensionsMax", amongMistakes: .extensionIneligible),
        LimitCounter("editedOffersMax", amongMistakes: .fieldInvalid),
        LimitCounter("catalogueAssets", amongMistakes: .catalogInvalid),
        LimitCounter("catalogueImageBytes", amongMistakes: .catalogInvalid),
        LimitCounter("catalogueImagesBytes", amongMistakes: .catalogInvalid),
        LimitCounter("helloBytesMax", reason: .frameTooLong),
        LimitCounter("helloTimeoutMilliseconds", reason: .helloTimeout),
        LimitCounter("firstByteTimeoutMilliseconds", reason: .helloTimeout),
        LimitCounter("handshakesMax", reason: .handshakeLimit),
        LimitCounter("handshakesBytesMax", reason: .handshakeLimit),
        LimitCounter("tlsHandshakeBytes", reason: .handshakeLimit),
        LimitCounter("unidentifiedFrameBytesMax", reason: .frameTooLong),
        LimitCounter(
            "tlsHandshakeBytesMax", "perch_tls_handshakes_failed_total", labels: Exposition.label("reason", "limit")),
        LimitCounter("frameBytesMax", reason: .frameTooLong),
        LimitCounter("requestBytesMax", reason: .requestTooLong),
        LimitCounter("catalogRequestBytesMax", reason: .catalogTooLong),
        LimitCounter("partialFramesBytesMax", reason: .partialFramesLimit),
        LimitCounter("frameTimeoutMilliseconds", reason: .frameTimeout),
        LimitCounter("callsBytesMax", reason: .callsBytesLimit),
        LimitCounter("httpControls", reason: .httpFlood),
        LimitCounter("continuationsMax", reason: .httpFlood),
        LimitCounter("headerListBytesMax", "perch_http_heads_too_long_total"),
        LimitCounter("queryFieldsMax", amongMistakes: .messageMalformed),
        LimitCounter("unidentifiedStreamsMax", reason: .handshakeLimit),
        LimitCounter("unidentifiedHeldBytesMax", reason: .partialFramesLimit),
        LimitCounter("healthWatchesMax", reason: .callsBytesLimit),
        LimitCounter("reflectionUnsentBytesMax", reason: .callsBytesLimit),
        LimitCounter("httpRequestsBytesMax", reason: .partialFramesLimit),
        LimitCounter("httpBlockedBytesMax", reason: .callsBytesLimit),
        LimitCounter("protobufDepthMax", reason: .messageTooDeep),
        LimitCounter("protobufSingularFieldsMax", reason: .messageTooManyFields),
        LimitCounter("protobufRepeatedItemsMax", reason: .messageTooManyItems),
        LimitCounter("codecArenaBytesMax", reason: .messageTooManyItems),
        LimitCounter("inflateRatioMax", reason: .inflateRatio),
        LimitCounter("inflateRatioFreeBytes", reason: .inflateRatio),
        LimitCounter("accountKeyBytesMax", amongMistakes: .accountKey),
        LimitCounter("idempotencyKeyBytesMax", amongMistakes: .fieldInvalid),
        LimitCounter("clientIDBytesMax", amongMistakes: .helloInvalid),
        LimitCounter("callsPerConnectionMax", reason: .callsLimit),
        LimitCounter("connectionsPerAddressMax", reason: .connectionLimit),
        LimitCounter("connectionsPerIdentityMax", reason: .connectionLimit),
        LimitCounter("connectsPerAddress", reason: .connectRate),
        LimitCounter("callsPerIdentity", reason: .callRate),
        LimitCounter("firstVerificationsPerTurn", "perch_inputs_deferred_total"),
        LimitCounter("workPerConnection", "perch_inputs_deferred_total"),
        LimitCounter("workPerTurn", "perch_inputs_deferred_total"),
        LimitCounter("workPerConnectionMin", "perch_inputs_deferred_total"),
        LimitCounter("workPausedPerTurn", "perch_inputs_deferred_total"),
        LimitCounter("verificationsPerTurn", reason: .credentialsRate),
        LimitCounter("refusedTokensKept", reason: .credentialsRate),
        LimitCounter("credentialFailuresMax", reason: .credentialsLimit),
        LimitCounter("tokenBytesMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenLifeMilliseconds", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenDepthMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenValuesMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenClaimBytesMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenListMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenKeyIDBytesMax", amongMistakes: .credentialsMalformed),
        LimitCounter("tokenSkewMilliseconds", amongMistakes: .credentialsNotYetValid),
        LimitCounter("endedIdentityMilliseconds", "perch_identities_ended_total"),
        LimitCounter("revocationIDBytesMax", amongMistakes: .fieldInvalid),
        LimitCounter("revocationsMax", reason: .revocationLimit),
        LimitCounter("unsentBytesMax", "perch_read_pauses_total"),
        LimitCounter("writeStallMilliseconds", "perch_connections_stalled_total"),
        LimitCounter(
            "lingerMilliseconds", "perch_connections_cut_off_total", labels: Exposition.label("reason", "linger")),
        LimitCounter(
            "dyingConnectionsMax", "perch_connections_cut_off_total", labels: Exposition.label("reason", "closing")),
        LimitCounter("recordCacheBytesMax", "perch_record_cache_evictions_total"),
        LimitCounter("cursorRetentionMilliseconds", reason: .cursorTooOld),
        LimitCounter("cursorRetentionRevisionsMin", reason: .cursorTooOld),
        LimitCounter(
            "descriptorsReserved", "perch_connections_refused_total", labels: Exposition.label("reason", "limit")),
        LimitCounter("acceptPauseMilliseconds", "perch_accept_pauses_total"),
        LimitCounter("storeLogBytes", "perch_store_checkpoints_total"),
        LimitCounter("catalogueFileBytes", amongMistakes: .catalogInvalid),
        LimitCounter("jsonDepth", amongMistakes: .catalogInvalid),
        LimitCounter("jsonValues", amongMistakes: .catalogInvalid),
        LimitCounter("jsonStringBytes", amongMistakes: .catalogInvalid),
        LimitCounter("httpHeadBytesMax", "perch_http_responses_total", labels: Exposition.label("code", "431")),
        LimitCounter("httpHeadMilliseconds", "perch_http_connections_expired_total"),
        LimitCounter("httpIdleMilliseconds", "perch_http_connections_expired_total"),
        LimitCounter("httpLingerMilliseconds", "perch_http_connections_expired_total"),
        LimitCounter("httpConnectionsMax", "perch_http_connections_refused_total"),
        LimitCounter("probeMilliseconds", "perch_http_late_total"),
        LimitCounter("notesPerTurnMax", "perch_log_notes_dropped_total"),
    ]

    /// The series that count only limits, each once: for the log's warnings and `/status`.
    static let series: [(metric: String, labels: String)] = {
        var seen = Set<String>()
        return Self.all.filter { !$0.isAmongMistakes && seen.insert($0.metric + "{" + $0.labels).inserted }
            .map { ($0.metric, $0.labels) }
    }()
}
