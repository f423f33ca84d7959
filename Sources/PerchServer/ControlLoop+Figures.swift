import PerchApple
import PerchBase
import PerchCore
import PerchHTTP
import PerchLoop
import PerchMetrics
import PerchSQLite
import PerchWire

// Figures of the server, for metrics, `/status` and GetServerStatus.
extension ControlLoop {
    /// The reloadable files that could not be used.
    var filesNotInUse: [String] {
        (self.keeper?.fault.map { ["the certificate: \($0)"] } ?? []) + self.reloadedFiles.told
    }

    /// For `systemctl status`.
    func summary(_ report: ReportDesk.Report? = nil) -> String {
        if let reason = self.readiness.reason { return reason }
        guard let report else { return "serving on \(self.parts.address)" }
        let connections = report.loops.reduce(0) { $0 + ($1?.census.connections ?? 0) }
        return
            "serving on \(self.parts.address): \(connections) connections, revision \(report.store?.census.revision ?? 0)"
    }

    func samples(_ report: ReportDesk.Report) -> MetricSamples {
        var samples = MetricSamples()
        samples.add(self.processFigures())
        for (index, loop) in report.loops.enumerated() {
            if let loop { samples.add(loop, loop: index) }
        }
        if let store = report.store { samples.add(store) }
        samples.add(signed: self.parts.signer?.signaturesMade ?? 0)
        if let intake = self.parts.appStore.intake { samples.add(intake.figures.counts, waiting: intake.inbox.depth) }
        samples.add(self.parts.appStore.reconcile?.figures.counts ?? ReconcileFigures.Counts())
        return samples
    }

    func processFigures() -> ProcessFigures {
        var figures = ProcessFigures()
        figures.version = self.parts.settings.version
        figures.loops = self.parts.loops.count
        figures.uptimeSeconds = Double(Clocks.monotonic().milliseconds(since: self.started)) / 1_000
        figures.startSeconds = Double(self.startedWall.milliseconds) / 1_000
        figures.isReady = self.readiness.reason == nil
        figures.isDraining = self.drain != nil
        figures.backups = self.backups
        figures.inboxDepths = [
            ("loops", self.parts.loops.reduce(0) { $0 + $1.depth }), ("store", self.parts.store.depth),
            ("control", self.parts.inbox.depth),
        ]
        figures.logLinesDropped = self.log.linesDropped
        figures.watchdogPings = self.parts.manager.pings
        let http = self.http
        figures.httpResponses = HTTPResponse.Status.allCases.map { status in
            (status.rawValue, http?.counters.responses[status.rawValue] ?? 0)
        }
        figures.httpLate = self.latePages
        figures.httpConnections = http?.connectionCount ?? 0
        figures.httpRefused =
            http.map {
                $0.counters.closedForPlace + $0.acceptorCounters.refusedForLimit
                    + $0.acceptorCounters.refusedForDescriptors
            } ?? 0
        figures.httpExpired = http?.counters.closedForTime ?? 0
        figures.filesNotInUse = self.filesNotInUse.count
        figures.certificateEndSeconds = self.keeper.map { Double($0.certificateEnd.milliseconds) / 1_000 } ?? 0
        figures.storeDiskFreeBytes = self.parts.settings.store.path.map { StoreFile.roomBytes(at: $0) }
        figures.readKernel()
        return figures
    }

    func status(_ report: ReportDesk.Report) -> ServerStatus {
        let samples = self.samples(report)
        return ServerStatus(
            version: self.parts.settings.version, storeID: self.parts.identity.bytes, epoch: self.parts.epoch,
            revision: report.store?.census.revision ?? 0,
            metrics: samples.samples.map {
                Metric(name: $0.name, labels: $0.labels, value: $0.value, help: $0.help)
            },
            findings: Findings(
                samples: samples, store: report.store, isStoreInMemory: self.parts.settings.store == .memory,
                storePath: self.parts.settings.store.path, database: self.parts.settings.store.database,
                storeRoomBytes: self.parts.settings.store.path.map { StoreFile.roomBytes(at: $0) } ?? .max,
                readiness: self.readiness, awaited: report.awaited, http: self.http?.address,
                manager: self.parts.manager, backups: self.backups,
                uptimeMilliseconds: Clocks.monotonic().milliseconds(since: self.started), now: Clocks.wall(),
                tls: self.keeper.map { TLSFinding($0, isLoopback: self.parts.address.isLoopback, wall: Clocks.wall()) },
                fileFaults: ReloadedFiles.faultsNow(
                    self.parts.settings,
                    catalogues: self.parts.apps.map { app in
                        let held = report.store?.apps.first {
                            $0.bundleID == app.settings.bundleID && $0.environment == app.settings.environment
                        }
                        return ReloadedFiles.HeldCatalogue(
                            bundleID: app.settings.bundleID, path: app.settings.catalogPath,
                            namesEntitlements: held?.namesEntitlements ?? false)
                    }),
                hasIntake: self.intake != nil, hasAuthenticator: self.parts.settings.hasAuthenticator,
                isRemote: !self.parts.address.isLoopback,
                reconciling: ReconcileFinding(
                    counts: self.parts.appStore.reconcile.flatMap { thread in
                        thread.figures.asksAboutApps ? thread.figures.counts : nil
                    },
                    appsWithoutKey: self.asking.withoutKey),
                sinceProof: self.provenAt.map { Clocks.monotonic().milliseconds(since: $0) / 1_000 }
            ).all, appleRootPEM: self.parts.appleRootPEM)
    }
}
