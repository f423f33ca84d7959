import PerchCore
import PerchLoop
import PerchMetrics
import PerchStore
import PerchWire

// What the server's threads count, under the names that operators know. The same list stands in deploy/README.md.
extension MetricSamples {
    mutating func add(_ counters: LoopCounters, _ census: LoopCensus, _ acceptor: Acceptor.Counters) {
        self.add("perch_connections", census.connections, help: "Open connections.")
        self.add("perch_calls", census.calls, help: "Live calls.")
        self.add("perch_views", census.views, help: "Distinct views that somebody watches.")
        self.add("perch_accounts_watched", census.accounts, help: "Accounts that somebody watches.")
        self.add("perch_payloads", census.payloads, help: "Encoded values held.")
        self.add("perch_loop_memory_bytes", census.memoryBytes, help: "Memory of the loops' tables.")
        if !self.samples.contains(where: { $0.name == "perch_connection_bytes" }) {
            self.add("perch_connection_bytes", census.connectionBytes, help: "Memory of one connection's state.")
            self.add("perch_watch_bytes", census.callBytes, help: "Memory of one watch's state.")
            self.add("perch_view_bytes", census.viewBytes, help: "Memory of one view's state.")
        }
        self.add("perch_connections_accepted_total", counters.connectionsAccepted, help: "Connections accepted.")
        self.add("perch_connections_closed_total", counters.connectionsClosed, help: "Connections closed.")
        self.add(
            "perch_connections_refused_total", labels: "reason=\"descriptors\"", acceptor.refusedForDescriptors,
            help: "Connections closed at once.")
        self.add(
            "perch_connections_refused_total", labels: "reason=\"limit\"", acceptor.refusedForLimit,
            help: "Connections closed at once.")
        self.add(
            "perch_connections_stalled_total", counters.stalledClosed, help: "Connections closed as they took nothing.")
        self.add("perch_calls_opened_total", counters.callsOpened, help: "Calls opened.")
        self.add("perch_calls_ended_total", counters.callsEnded, help: "Calls ended.")
        self.add("perch_calls_refused_total", counters.callsRefused, help: "Calls ended with an error.")
        self.add("perch_frames_received_total", counters.framesIn, help: "Frames received.")
        self.add("perch_frames_sent_total", counters.framesOut, help: "Frames sent.")
        self.add("perch_received_bytes_total", counters.bytesIn, help: "Bytes received.")
        self.add("perch_sent_bytes_total", counters.bytesOut, help: "Bytes sent.")
        self.add("perch_writes_total", counters.writes, help: "System calls that sent.")
        self.add("perch_turns_total", counters.turns, help: "Turns of the loops.")
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
            "perch_unchanged_total", counters.unchangedAnswers, help: "Resumed watches whose value had not changed.")
        self.add("perch_beats_sent_total", counters.beatsSent, help: "Heartbeats and ends of groups sent.")
        self.add("perch_records_asked_total", counters.recordsAsked, help: "Records that loops asked the store for.")
        self.add("perch_crossings_total", counters.crossings, help: "Values that time changed.")
        for (reason, count) in counters.refusalsByReason.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            self.add(
                "perch_refusals_total", labels: "reason=\"\(reason.rawValue)\"", count,
                help: "Calls and connections ended, by reason.")
        }
    }

    mutating func add(_ counters: StoreEngine.Counters, _ batches: Histogram, _ census: StoreCensus) {
        self.add("perch_revision", census.revision, help: "Newest committed revision.")
        self.add("perch_store_batches_total", counters.batches, help: "Group commits.")
        self.add("perch_store_changes_total", counters.changes, help: "Changes committed.")
        self.add("perch_store_reads_total", counters.reads, help: "Reads answered.")
        self.add("perch_store_refusals_total", counters.refusals, help: "Mutations refused.")
        self.add("perch_store_replays_total", counters.replays, help: "Mutations answered from their key.")
        self.add("perch_store_attempts_total", counters.attemptsSettled, help: "Renewal attempts settled.")
        self.add("perch_store_failed_batches_total", counters.failedBatches, help: "Group commits that failed.")
        self.add("perch_store_batch_size_max", counters.batchSizeMax, help: "Most mutations in one group commit.")
        self.add("perch_record_cache_records", census.records, help: "Records in the cache.")
        self.add("perch_record_cache_bytes", census.cacheBytes, help: "Memory of the record cache, estimated.")
        self.add("perch_record_cache_hits_total", census.cacheHits, help: "Records found in the cache.")
        self.add("perch_record_cache_misses_total", census.cacheMisses, help: "Records read from storage.")
        self.add(seconds: "perch_store_batch_seconds", batches, help: "From taking a batch to the end of its commit.")
    }
}
