import PerchApple
import PerchBase
import PerchJSON
import PerchLoop
import PerchMetrics
import PerchModel
import PerchReconciler
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore
@testable import PerchServer
@testable import PerchStore

/// Files of this checkout.
enum Repository {
    static let path: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(3).joined(separator: "/")
    }()

    static func text(_ name: String) -> String {
        String(decoding: TemporaryDirectory.read("\(Self.path)/\(name)"), as: UTF8.self)
    }
}

/// Reports of threads after a little work.
enum SampleReports {
    static func loop(_ change: (inout LoopCounters) -> Void = { _ in }) -> LoopReport {
        var counters = LoopCounters()
        change(&counters)
        var measures = LoopMeasures()
        measures.turnMicroseconds.record(120)
        measures.pushMicroseconds.record(900)
        measures.inboxEvents.record(3)
        var copies = CopyCensus()
        copies.add(isFilling: true, behindMilliseconds: 1_500)
        return LoopReport(
            counters: counters,
            census: LoopCensus(
                connections: 2, calls: 3, views: 1, accounts: 1, payloads: 1, memoryBytes: 1_000, connectionBytes: 88,
                callBytes: 40, viewBytes: 96, handshakes: 1, handshakeBytes: 9,
                dying: 0, partialBytes: 0, callsBytes: 500, identities: 1,
                applied: 7, copies: ["a token without subject by 1": copies]),
            acceptor: Acceptor.Counters(), measures: measures)
    }

    static func store(isWithoutRoom: Bool = false, failure: String? = nil) -> StoreReport {
        var measures = StoreMeasures()
        measures.commitMicroseconds.record(5_000)
        measures.batchMicroseconds.record(5_100)
        measures.batchChanges.record(2)
        measures.inboxRequests.record(2)
        var counters = StoreEngine.Counters()
        counters.failedBatches = isWithoutRoom ? 1 : 0
        return StoreReport(
            counters: counters,
            census: StoreCensus(
                records: 1, cacheBytes: 600, cacheHits: 2, cacheMisses: 1, cacheEvictions: 0, revision: 7),
            figures: StorageFigures(), measures: measures, isWithoutRoom: isWithoutRoom, failure: failure,
            failedCommit: isWithoutRoom ? Instant(milliseconds: 5_000) : nil,
            apps: [
                AppReport(
                    bundleID: "com.example.app", environment: .xcode, productCount: 6, catalogueRevision: 1,
                    catalogueLoaded: Instant(milliseconds: 0))
            ],
            subscriptions: SubscriptionReport(
                count: SubscriptionCount(before: 0), counted: Instant(milliseconds: 1_500)))
    }

    /// Of a store that two nodes share; the other one is gone.
    static var sharing: SharingReport {
        func node(_ id: Int64, _ name: String, silent: Int64, at revision: UInt64) -> NodeReport {
            NodeReport(
                id: id, name: name, version: "0.1.0", started: Instant(milliseconds: 0), silentMilliseconds: silent,
                appliedRevision: revision, calls: 3, isDraining: false)
        }
        return SharingReport(
            nodes: [node(1, "here", silent: 20, at: 7), node(2, "there", silent: 60_000, at: 4)], ownID: 1,
            figures: DatabaseFigures(), sinceBeatMilliseconds: 250, clockOffsetMilliseconds: -3)
    }

    static func samples(
        unavailable: UInt64 = 0, late: UInt64 = 0, _ change: (inout LoopCounters) -> Void = { _ in }
    ) -> MetricSamples {
        var samples = MetricSamples()
        var process = ProcessFigures()
        process.storeDiskFreeBytes = 1 << 30
        process.version = "0.1.0"
        process.inboxDepths = [("loops", 0)]
        process.httpResponses = [(200, 1), (431, 0), (503, unavailable)]
        process.httpLate = late
        process.backups.begin(
            Backups.Running(
                path: "/backups/perch.db", loop: 0, ticket: 1, started: Clocks.monotonic(), startedWall: Clocks.wall()))
        process.backups.copied(revision: 7, longestStallMicroseconds: 2_000)
        _ = process.backups.finish(bytes: 4_096, now: Clocks.monotonic(), wall: Clocks.wall())
        process.readKernel()
        samples.add(process)
        samples.add(Self.loop(change), loop: 0)
        samples.add(Self.loop(), loop: 1)
        var store = Self.store()
        store.sharing = Self.sharing
        samples.add(store)
        var intake = IntakeFigures.Counts()
        intake.taken["notification DID_RENEW"] = 3
        intake.refused["APPLE_CHAIN"] = 1
        intake.lastNotification = Instant(milliseconds: 9_000)
        samples.add(intake, waiting: 0)
        samples.add(signed: 2)
        var asked = AppWork.Report(bundleID: "com.example.app", environment: .production)
        asked.lastWalk = Instant(milliseconds: 9_000)
        asked.failures["timeout"] = 1
        samples.add(ReconcileFigures.Counts(reports: [asked]))
        return samples
    }
}

@Suite struct `the metrics` {
    @Test func `the metrics are what Prometheus reads`() {
        let checker = ExpositionChecker(String(decoding: Exposition.text(SampleReports.samples()), as: UTF8.self))
        #expect(checker.faults.isEmpty)
        #expect(checker.types.count > 70)
        #expect(checker.values["perch_connections"] == 4)
        #expect(checker.values["perch_loop_applied_revision{loop=\"1\"}"] == 7)
        #expect(checker.values["perch_push_seconds_count"] == 2)
        #expect(checker.values["perch_build_info{version=\"0.1.0\",allocator=\"\(Allocator.name)\"}"] == 1)
        #expect(["jemalloc", "libc"].contains(Allocator.name))
        #expect(checker.values["perch_subscriptions{state=\"inGracePeriod\"}"] == 0)
        #expect(checker.values["perch_subscriptions_counted_timestamp_seconds"] == 1.5)
        // Also before there is any: an alarm has to see it.
        var none = MetricSamples()
        none.add(ProcessFigures())
        #expect(none.value("perch_backup_last_timestamp_seconds") == 0)
        #expect(checker.values["perch_backup_last_timestamp_seconds"] ?? 0 > 1_700_000_000)
        #expect(checker.values["process_open_fds"] ?? 0 > 2)
        #expect(checker.values["process_resident_memory_bytes"] ?? 0 > 1_000_000)
        #expect(checker.values["process_threads"] ?? 0 >= 1)
        #expect(checker.values["process_cpu_seconds_total"] ?? 0 > 0)
    }

    @Test(arguments: [
        "a 1\n", "# HELP a A.\na 1\n", "# HELP a A.\n# TYPE a gauge\na 1", "# HELP a A.\n# TYPE a gauge\na x\n",
        "# HELP a A.\n# TYPE a gauge\na 1\na 1\n", "# HELP a A.\n# TYPE a counter\na 1\n",
        "# HELP a_total A.\n# TYPE a_total counter\na_total -1\n", "# HELP a A.\n# TYPE a gauge\na{b=c} 1\n",
        "# HELP a A.\n# TYPE a gauge\na{b=\"\\x\"} 1\n", "# HELP a A.\n# TYPE a gauge\na{b=\"\",b=\"\"} 1\n",
        "# HELP a A.\n# TYPE a gauge\na 1\n# HELP b B.\n# TYPE b gauge\nb 1\na{c=\"\"} 1\n",
        "# HELP a A.\n# TYPE a histogram\na_sum 1\na_count 1\n",
        "# HELP a A.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
    ])
    func `that are wrong are found to be`(_ text: String) {
        #expect(!ExpositionChecker(text).faults.isEmpty)
    }

    @Test func `the metrics have a row in the table for operators, and nothing else has`() {
        let page = Repository.text("deploy/README.md")
        let section = page.components(after: "## Metrics").components(before: "\n## ")
        var rows: Set<String> = []
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            for (index, piece) in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            where index % 2 == 1 {
                rows.insert(String(piece.prefix { $0 != "{" }))
            }
        }
        let names = Set(SampleReports.samples().families.map(\.name))
        #expect(names.subtracting(rows).sorted() == [], "metrics without a row")
        #expect(rows.subtracting(names).sorted() == [], "rows without a metric")
    }

    @Test func `say their unit last, in the base unit`() {
        for family in SampleReports.samples().families {
            let name = family.name.hasSuffix("_total") ? family.name.dropLast(6) : family.name[...]
            for unit in ["milliseconds", "microseconds", "kilobytes", "kib", "percent", "minutes"] {
                #expect(!name.contains(unit), "\(family.name)")
            }
            #expect(family.name.hasPrefix("perch_") || family.name.hasPrefix("process_"))
            #expect(family.help.hasSuffix("."))
            for unit in ["seconds", "bytes"] where name.contains("_\(unit)") {
                #expect(name.hasSuffix("_\(unit)"), "\(family.name)")
            }
        }
    }

    @Test func `the metrics have labels from small sets only`() {
        let allowed: Set = [
            "reason", "loop", "version", "inbox", "code", "answer", "result", "state", "transport", "wire", "source",
            "event", "call",
            "status",
            // At most 32 for each loop.
            "caller",
        ]
        for family in SampleReports.samples().families {
            for (labels, _) in family.values where !labels.isEmpty {
                #expect(allowed.contains(String(labels.prefix { $0 != "=" })), "\(family.name) {\(labels)}")
            }
        }
    }
}

@Suite struct `every limit` {
    /// Limits that no caller can breach: sizes of steps and of kept memory, and limits of clients and tools.
    private static let unbreached: Set = [
        "responseSingularFieldsMax", "codecBytesKept", "compressBytesMin", "pageSizeDefault", "pageSizeMax",
        "signedPageSizeMax", "databaseProbesMax", "passMillisecondsMax",
        "heartbeatSecondsMin", "heartbeatSecondsMax", "heartbeatSecondsDefault", "idempotencyKeyMilliseconds",
        "eventsPerTurn", "jobsPerTurn", "loopSleepMaxMilliseconds", "loopStackBytes", "inboxCapacityKept",
        "acceptsPerTurn", "bundleIDBytesMax", "connectionsFew", "listenBacklog", "piecesPerSend", "sendBufferBytes",
        "notSentLowWaterBytes",
        "peerTimeoutMilliseconds", "jsonOutputBytes", "catalogueIdentifierBytes", "productJSONBytes",
        "catalogueWarnings", "storePageCacheBytes",
        "generatedAccountsPerBatch", "logValueBytes", "logRepeatMilliseconds", "attentionMilliseconds",
        "statusMilliseconds", "slowCommitMilliseconds", "inheritedListenersMax", "rowsPerLook", "backupPagesPerStep",
        "logLineBytes", "smallRequestBytes", "ageJitterPercent", "dataFrameBytesMax", "httpAheadBytesMax",
        "httpWindowReturnBytes", "reflectionRequestsMax", "statusDetailsBytesMax", "statusTextBytesMax",
        "seenTokensMax", "consoleCodesKept", "consoleCodeMilliseconds",
        "backupTurnMicroseconds", "backupCacheBytes",
        "backupAgeDays", "storeCopyBytes", "storeRoomBytes", "storeRoomWantedBytes", "tlsRecordBytes",
        "tlsPendingBytesMax",
        "tlsFileBytesMax",
        "tlsTicketKeyMilliseconds", "tlsTicketSecretBytesMin", "tlsTicketSecretBytesMax",
        "tlsCertificateWarningMilliseconds",
        "identitiesKeptMax", "addressesTrackedMax", "tokenSecretBytesMin", "mappedPieceBytes",
        "tokenKeysMax", "tokenKeyFileBytesMax", "tokenKeyFilesMax", "certificateIdentitiesMax",
        "certificateIdentitiesBytesMax", "readBytes", "stagingBytes", "copiedFrameBytesMax", "writeBytesMax",
        "bulkBytesPerTurn", "shortWriteBytes",
        "asksAtOnce", "prefetchedAtOnce", "watchersBeforeAnswers", "payloadPiecesKept", "writtenTransactions",
        "writtenTransactionBytesMax", "writtenSales", "writtenRunBytesMax", "recentTexts",
        "recentTextBytesMax", "leaseMilliseconds",
        "leaseRenewalMilliseconds", "attemptsPerBatchMax", "attemptsBeforeMutationMax", "decisionRoundsMax",
        "batchRunsMax", "storageRetryMilliseconds", "feedChangesAtOnce", "dueEntriesHeld",
        "renewalExtensionDays", "earlyEndsKept", "streamGapsKept", "forgivenTokenMilliseconds",
        "httpLastStreamMilliseconds",
        "eventRetryMilliseconds", "refundRequestsKept", "jsonRequestBytesMax",
        "drainFinalMilliseconds", "drainWhenFullMilliseconds", "drainReturnMilliseconds", "drainJitterMilliseconds",
        "drainShortJitterMilliseconds", "tokenLifeMillisecondsRange", "subscriptionCountAccountsPerStep",
        "changesPerPage", "changePageBytes", "changeRowsPerPage", "changeFactsPerPage", "changesPerTick",
        "changeRecordsBytes", "crossingsForgottenAtOnce", "changesMarkerRevisions",
        "copyAccountsPerSlice", "copyRowsPerSlice", "copyBatchBytes", "copyShardsMax", "copyAliasesMax",
        "notificationsKeptMax",
        "erasedKeysKept",
        "sourcesFilledAtOnce", "sourcesFillPauseMilliseconds",
        "clockJumpMilliseconds", "clockToleranceMilliseconds", "databaseGrowthMilliseconds", "databaseGrowthTriesMax",
        "databaseOtherHostMilliseconds", "databaseStartMilliseconds", "passedMilliseconds", "versionGoneMilliseconds",
        "databaseConnectMilliseconds", "databaseAnswerMilliseconds", "databaseLockMilliseconds",
        "databaseIdleMilliseconds",
        "feedPollMilliseconds", "feedRevisionsMin", "feedMilliseconds", "heartbeatMilliseconds",
        "freshnessMilliseconds",
        "migratedRowsAtOnce", "nodeGoneMilliseconds", "nodeForgottenMilliseconds",
        "subscriptionCountMilliseconds", "subscriptionCountPauseMilliseconds", "subscriptionCountTurnMicroseconds",
        "appleChainsKeptMax", "appleRootsMax", "appleAppsFileBytesMax", "appleSignaturesKeptMax", "leewayMilliseconds",
        "sandboxLeewayMilliseconds", "leewayMillisecondsMax", "entitlementRulesMax", "entitlementFileBytesMax",
        "ingestFileBytesMax", "offerCodesMax", "offerCodeBytesMax", "appVersionBytesMax",
        "consumptionAnswerMilliseconds",
        "groupDifferencesMax", "linkedOriginalsMax", "passKeyMilliseconds", "passKeyMillisecondsRange",
        "reportedConsumablesMax",
        "callerClockSeconds", "callerTokenSeconds", "historyEntriesMax", "historyFactsMax", "customerKeysAtOnce",
        "customerPlacesMax", "customersFoundDefault", "customersFoundMax",
        "mishapDelayMillisecondsMax", "mishapPathBytesMax", "mishapReorderMax", "mishapTimesMax", "noteBytesMax",
        "notesMax", "priceMilliunitsMax", "twinAccountsAtOnce", "twinAnswerMilliseconds", "twinBurstSeconds",
        "twinConnectionsMax", "twinDelayMillisecondsMax", "twinEventsAtOnce", "twinEventsMax",
        "twinIdleMilliseconds", "twinMassExtensionsKept", "twinMishapRetryMilliseconds", "twinMishapTimesMax",
        "twinMishapsMax", "twinNotesKept", "twinNoticesKept", "twinPageSize", "twinPageTokenBytesMax",
        "twinPollMilliseconds", "twinRequestBytesMax", "twinTestsKept", "utcOffsetMinutesMax",
        "notificationsKeptMax", "reportedNoticeTextMax", "reportedUnfinishedMax",
    ]

    /// Names of the constants in a file of limits.
    private func limits(_ file: String) -> [String] {
        Repository.text("Sources/PerchBase/\(file)").split(separator: "\n").compactMap { line in
            guard let found = line.range(of: "static let ") ?? line.range(of: "static var ") else { return nil }
            return String(line[found.upperBound...].prefix { $0.isLetter || $0.isNumber })
        }
    }

    @Test func `that a peer can reach has a counter`() {
        let counted = Set(LimitCounter.all.map(\.limit))
        // Those of the client, of the command line and of the tools that play a client are not a server's.
        let others = ["Client", "CommandLine", "Bench", "Scenario"].map { "Limits+\($0).swift" }
        let files = TemporaryDirectory.names(in: "\(Repository.path)/Sources/PerchBase").filter {
            $0.hasPrefix("Limits") && !others.contains($0)
        }
        #expect(files.count >= 4)
        let all = Set(files.flatMap { self.limits($0) })
        #expect(all.subtracting(counted).subtracting(Self.unbreached).sorted() == [], "limits without a counter")
        #expect(counted.subtracting(all).sorted() == [], "counters without a limit")
        #expect(counted.intersection(Self.unbreached).sorted() == [])
    }

    @Test func `every limit is counted by a series that is there from the start`() {
        let samples = SampleReports.samples()
        for counter in LimitCounter.all {
            #expect(samples.value(counter.metric, labels: counter.labels) != nil, "\(counter.limit)")
        }
    }
}

@Suite struct `the warnings of the log` {
    @Test func `the warnings of the log is what grew since the last look, once`() {
        var attention = Attention()
        #expect(attention.notices(SampleReports.samples()).isEmpty)
        let reached = SampleReports.samples { counters in
            counters.refusalsByReason[.callsLimit] = 3
            counters.refusalsByReason[.cancelled] = 9
            counters.stalledClosed = 2
        }
        #expect(
            attention.notices(reached).map { "\($0.series) \($0.limits) \($0.count)" } == [
                "perch_refusals_total{reason=\"CALLS_LIMIT\"} --calls-per-connection 3",
                "perch_connections_stalled_total --write-stall 2",
            ])
        #expect(attention.notices(reached).isEmpty)
    }

    /// Words of the contract that are also those of limits.
    @Test(
        arguments: [
            .fieldInvalid, .extensionInvalid, .catalogInvalid, .accountKey, .helloInvalid, .credentialsMalformed,
            .credentialsNotYetValid,
        ] as [ErrorReason])
    func `the warnings of the log is no limit where a client has only made a mistake`(_ reason: ErrorReason) {
        var attention = Attention()
        #expect(attention.notices(SampleReports.samples { $0.refusalsByReason[reason] = 3 }).isEmpty)
    }

    @Test func `a page's 503 counts as a limit only for late threads`() {
        var attention = Attention()
        #expect(attention.notices(SampleReports.samples(unavailable: 3)).isEmpty)
        let late = attention.notices(SampleReports.samples(unavailable: 4, late: 1))
        #expect(late.map { "\($0.series) \($0.limits) \($0.count)" } == ["perch_http_late_total probe milliseconds 1"])
    }
}

@Suite struct `the findings for the doctor` {
    private func findings(_ samples: MetricSamples, http: SocketAddress? = nil, _ subject: String) -> [String] {
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        let now = Instant(milliseconds: 0)
        return Findings(
            samples: samples, store: nil, isStoreInMemory: true, readiness: ReadyState(since: now), awaited: "",
            http: http, manager: ServiceManager(Supervision(), log: log), backups: Backups(), uptimeMilliseconds: 0,
            now: now, sinceProof: nil
        ).all.filter { $0.subject == subject }.map { "\($0.level): \($0.message)" }
    }

    @Test func `limits is those that were reached, and not what clients got wrong`() {
        let none = ["ok: none was reached since the start"]
        #expect(self.findings(SampleReports.samples(), "limits") == none)
        let mistaken = SampleReports.samples(unavailable: 2) { $0.refusalsByReason[.fieldInvalid] = 3 }
        #expect(self.findings(mistaken, "limits") == none)
        let reached = SampleReports.samples { $0.refusalsByReason[.callsLimit] = 3 }
        #expect(
            self.findings(reached, "limits") == [
                "warning: reached since the start: perch_refusals_total{reason=\"CALLS_LIMIT\"} 3"
            ])
    }

    @Test func `connections is the room that is there beside the HTTP listener`() {
        var samples = MetricSamples()
        samples.add("perch_descriptors_limit", 20_000, help: "A.")
        samples.add("process_open_fds", 40, help: "B.")
        let alone = 20_000 - Limits.descriptorsReserved
        #expect(
            self.findings(samples, "descriptors") == ["ok: 40 are open, and there is room for \(alone) connections"])
        let beside = alone - Limits.httpConnectionsMax
        #expect(
            self.findings(samples, http: .loopback(port: 1), "descriptors")
                == ["ok: 40 are open, and there is room for \(beside) connections"])
    }
}

@Suite struct `a question to all threads` {
    private let never = MonotonicTime.distantFuture

    @Test func `a question to all threads is answered when the last has answered`() {
        var desk = ReportDesk(loops: 2)
        let number = desk.open(.watchdog, loops: true, store: true, deadline: self.never)
        #expect(desk.took(number, loop: 1, SampleReports.loop()) == nil)
        #expect(desk.took(number, store: SampleReports.store()) == nil)
        let report = desk.took(number, loop: 0, SampleReports.loop())
        #expect(report?.isComplete == true)
        #expect(report?.awaited == "")
        #expect(report?.loops.compactMap { $0 }.count == 2)
        #expect(desk.count == 0)
    }

    @Test func `that is late says who has not answered, and what they say then is dropped`() {
        var desk = ReportDesk(loops: 3)
        let deadline = MonotonicTime(nanoseconds: 100)
        let number = desk.open(.attention, loops: true, store: true, deadline: deadline)
        _ = desk.took(number, loop: 0, SampleReports.loop())
        #expect(desk.nextDeadline == deadline)
        #expect(desk.late(now: MonotonicTime(nanoseconds: 99)).isEmpty)
        let late = desk.late(now: deadline)
        #expect(late.map(\.awaited) == ["loop 1 and loop 2 and the store"])
        #expect(late.first?.isComplete == false)
        #expect(desk.took(number, loop: 1, SampleReports.loop()) == nil)
        #expect(desk.count == 0)
    }

    @Test func `a question to one thread does not wait for another`() {
        var desk = ReportDesk(loops: 2)
        let health = desk.open(.page(connection: 1, .health), loops: true, store: false, deadline: self.never)
        let readiness = desk.open(.page(connection: 2, .readiness), loops: false, store: true, deadline: self.never)
        #expect(desk.took(readiness, store: SampleReports.store()) != nil)
        _ = desk.took(health, loop: 0, SampleReports.loop())
        #expect(desk.took(health, loop: 1, SampleReports.loop()) != nil)
    }
}

@Suite struct `the status page` {
    private func page(_ readiness: ReadyState, store: StoreReport?, awaited: String = "") throws -> JSONValue {
        let page = StatusPage(
            version: "0.1.0", started: Instant(milliseconds: 0), now: Instant(milliseconds: 61_000),
            readiness: readiness, storeIdentity: "ab", epoch: 1, storeKind: "file",
            loops: [SampleReports.loop(), nil], loopInboxes: [0, 12], store: store, storeInbox: 4, controlInbox: 0,
            process: ProcessFigures(),
            samples: SampleReports.samples(unavailable: 1) {
                $0.stalledClosed = 2
                $0.refusalsByReason[.fieldInvalid] = 1
            },
            filesNotInUse: ["the certificate: it has ended"], awaited: awaited)
        return try JSONReader.read(page.json())
    }

    @Test func `the status page lists the nodes of a shared store, and one that is gone`() throws {
        var store = SampleReports.store()
        store.sharing = SampleReports.sharing
        let text = try "\(self.page(ReadyState(since: Instant(milliseconds: 1_000)), store: store))"
        for part in ["here", "there", "milliseconds_since_heartbeat", "behind"] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test func `the status page says since when, and what was reached`() throws {
        let text = try "\(self.page(ReadyState(since: Instant(milliseconds: 1_000)), store: SampleReports.store()))"
        let parts = [
            "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "--write-stall", "com.example.app", "it has ended",
        ]
        for part in parts {
            #expect(text.contains(part), "\(part)")
        }
        for part in ["readable milliseconds", "probe milliseconds", "descriptorsReserved"] {
            #expect(!text.contains(part), "\(part)")
        }
    }

    @Test func `the status page of an unready server has the reason, the start, and the late threads`() throws {
        var readiness = ReadyState(since: Instant(milliseconds: 1_000))
        let isFirst = readiness.set("no room", at: Instant(milliseconds: 2_000))
        let isSecond = readiness.set("less room", at: Instant(milliseconds: 3_000))
        #expect(isFirst && !isSecond)
        #expect(readiness.since == Instant(milliseconds: 2_000))
        let text = try "\(self.page(readiness, store: nil, awaited: "loop 1 and the store"))"
        for part in ["less room", "1970-01-01T00:00:02Z", "loop 1 and the store"] {
            #expect(text.contains(part), "\(part)")
        }
        let isThird = readiness.set(nil, at: Instant(milliseconds: 9_000))
        #expect(isThird)
        #expect(readiness.since == Instant(milliseconds: 9_000))
    }
}

extension String {
    fileprivate func components(after text: String) -> String {
        self.range(of: text).map { String(self[$0.upperBound...]) } ?? ""
    }

    fileprivate func components(before text: String) -> String {
        self.range(of: text).map { String(self[..<$0.lowerBound]) } ?? self
    }
}

extension StringProtocol {
    /// Without Foundation.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = self.startIndex
        while start < self.endIndex {
            if self[start...].hasPrefix(text) { return start..<self.index(start, offsetBy: text.count) }
            start = self.index(after: start)
        }
        return nil
    }
}
