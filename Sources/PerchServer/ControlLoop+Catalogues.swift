import PerchBase
import PerchCatalogue
import PerchCore
import PerchIdentity
import PerchJSON
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore
import PerchWire

/// Catalogues that the store is writing, and who waits for each.
struct CatalogueWrites {
    enum Asker {
        /// The app of this index, whose file was read again.
        case file(Int)
        /// An app of `--apple-apps`, whose file was read again.
        case appleApp(String)
        /// `LoadCatalog`, and what it answers beside the position.
        case call(loop: Int, ticket: UInt64, CatalogSummary)
    }

    private var askers: [UInt64: Asker] = [:]
    private var lastTicket: UInt64 = 0
    /// Files that were read again and are not written yet.
    private(set) var filesAwaited = 0

    mutating func begin(_ asker: Asker) -> UInt64 {
        self.lastTicket += 1
        self.askers[self.lastTicket] = asker
        if case .file = asker { self.filesAwaited += 1 }
        return self.lastTicket
    }

    mutating func end(_ ticket: UInt64) -> Asker {
        guard let asker = self.askers.removeValue(forKey: ticket) else {
            preconditionFailure("answer \(ticket) is for no catalogue")
        }
        if case .file = asker { self.filesAwaited -= 1 }
        return asker
    }
}

// Catalogues have one path: a file's bytes are read on this thread, become one mutation, and the store answers this thread. SIGHUP and
// LoadCatalog differ in where the bytes come from and who hears of the answer. A start decides the same mutation before there are
// threads.
extension ControlLoop {
    func reload() {
        guard self.drain == nil else { return }
        self.parts.manager.reloading()
        self.note(
            AuditEntry(
                at: Clocks.wall(), subject: "the operator", address: "", method: "SIGHUP", what: "reload", bundleID: "",
                environment: ""))
        self.reloadCertificates()
        self.reloadAppleApps()
        for (index, app) in self.parts.apps.enumerated() {
            do throws(ServerError) {
                let loaded = try CatalogueFile.load(app.settings.catalogPath)
                self.write(
                    Self.mutation(
                        app.number, loaded, source: app.settings.catalogPath, timeRate: app.settings.timeRate),
                    for: .file(index))
            } catch {
                self.keepsCatalogue(app.settings, "\(error)")
            }
        }
        if self.catalogues.filesAwaited == 0 { self.parts.manager.ready(self.summary()) }
    }

    /// The apps that take values of the App Store, from their file.
    private func reloadAppleApps() {
        guard let path = self.parts.settings.appleAppsPath, let intake = self.intake else { return }
        do throws(ServerError) {
            let file = try AppleAppsFile(path: path)
            let entries = try file.intakeEntries { self.parts.appleNumbers[AppName(bundleID: $0, environment: $1)] }
            let apps = try AppStoreApps(file, entries)
            do throws(SystemError) {
                try self.ask(about: apps)
            } catch {
                throw ServerError("server_api: \(error)")
            }
            for (entry, app) in zip(file.entries, entries) {
                self.write(AppleAppsFile.mutation(app.number, entry), for: .appleApp(entry.bundleID))
            }
            intake.post(IntakeTask(entries: entries))
            self.reloadedFiles.took(ReloadedFiles.appleApps, fault: nil)
            self.log.info(
                "the apps of the App Store are those of their file", LogField("file", path),
                LogField("apps", entries.count), LogField("asked_about", apps.reconciled.count))
        } catch {
            self.reloadedFiles.took(ReloadedFiles.appleApps, fault: "\(error)")
            self.log.error("the apps of the App Store stay as they were: \(error)")
        }
    }

    private func write(_ mutation: Mutation, for asker: CatalogueWrites.Asker) {
        let ticket = self.catalogues.begin(asker)
        self.parts.store.post(StoreRequest(loop: self.parts.loops.count, ticket: ticket, .mutate(mutation)))
    }

    /// Writes a line of the audit trail. Where the store refuses it, the log has the event alone.
    func note(_ audit: AuditEntry) {
        self.parts.store.post(StoreRequest(loop: self.parts.loops.count, ticket: Self.noteTicket, .note(audit)))
    }

    /// Of requests whose answer nothing waits for.
    private static let noteTicket = UInt64.max

    /// The store has written a catalogue, or refused it.
    func wroteCatalogue(_ ticket: UInt64, _ answer: StoreAnswer) {
        guard ticket != Self.noteTicket else { return }
        switch self.catalogues.end(ticket) {
        case .file(let index):
            self.wroteFile(self.parts.apps[index].settings, answer)
            if self.catalogues.filesAwaited == 0, self.drain == nil { self.parts.manager.ready(self.summary()) }
        case .appleApp(let bundleID):
            guard case .refused(let refusal) = answer else { return }
            self.reloadedFiles.took(ReloadedFiles.appleApps, fault: refusal.message)
            self.log.error(
                "the settings of an app of the App Store stay as they were: \(refusal.message)",
                LogField("bundle_id", bundleID))
        case .call(let loop, let ticket, let summary):
            let told: ControlAnswer
            switch answer {
            case .mutated(_, let position):
                told = .response(.loadCatalog(LoadCatalogResponse(position: position, summary: summary)))
            case .refused(let refusal): told = .failed(refusal)
            default: preconditionFailure("a mutation was asked for")
            }
            self.parts.loops[loop].post(.control(ticket: ticket, told))
        }
    }

    private func wroteFile(_ app: ServerSettings.AppSettings, _ answer: StoreAnswer) {
        switch answer {
        case .mutated(let result, let position):
            self.reloadedFiles.took(ReloadedFiles.catalogue(of: app.bundleID), fault: nil)
            let keeps = result == .number(1)
            self.reloadedFiles.took(
                ReloadedFiles.entitlements(of: app.bundleID), fault: keeps ? ReloadedFiles.entitlementsAreGone : nil)
            if keeps {
                self.log.warning(
                    "the named entitlements stay as they were: \(ReloadedFiles.entitlementsAreGone)",
                    LogField("bundle_id", app.bundleID), LogField("file", app.catalogPath))
            }
            self.log.info(
                "the catalogue is that of its file", LogField("bundle_id", app.bundleID),
                LogField("file", app.catalogPath), LogField("revision", position.revision))
        case .refused(let refusal): self.keepsCatalogue(app, refusal.message)
        default: preconditionFailure("a mutation was asked for")
        }
    }

    private func keepsCatalogue(_ app: ServerSettings.AppSettings, _ reason: String) {
        self.reloadedFiles.took(ReloadedFiles.catalogue(of: app.bundleID), fault: reason)
        self.log.error("the catalogue stays as it was: \(reason)", LogField("bundle_id", app.bundleID))
    }

    /// A mutation that replaces an app's catalogue, if it differs. Without a file of named entitlements the app keeps those that it has:
    /// a file that is gone is a mistake, and an empty list in it is none. The answer `.number(1)` says that they were kept.
    static func mutation(
        _ app: AppNumber, _ loaded: LoadedCatalogue, source: String, timeRate: TimeRate?
    ) -> Mutation {
        var settings = loaded.settings
        if let timeRate { settings.timeRate = timeRate }
        let fileSettings = settings
        let (catalogue, images) = (loaded.catalogue, loaded.images)
        let hasEntitlements = loaded.hasEntitlements
        return Mutation(.app(app), needsTestApp: false) { view throws(Refusal) in
            let held = view.app.catalogue.entitlements
            let keeps = !hasEntitlements && !held.isEmpty
            let catalogue = keeps ? catalogue.replacing(entitlements: held) : catalogue
            let answer: MutationResult = keeps ? .number(1) : .none
            var change = AppChange()
            change.fileSettings = fileSettings
            if view.app.catalogue != catalogue || view.app.catalogueSource != source {
                change.catalogue = (catalogue, source)
                change.images = images
            } else if view.fileSettings == fileSettings {
                return .unchanged(answer: answer)
            }
            return .commitApp(change, answer: answer)
        }
    }

    func handle(_ request: ControlRequest, loop: Int, ticket: UInt64) {
        switch request {
        case .serverStatus:
            self.ask(
                .call(loop: loop, ticket: ticket), loops: true, store: true,
                deadline: Clocks.monotonic().advanced(byMilliseconds: Limits.statusMilliseconds))
        case .ingest: preconditionFailure("the intake has a thread of its own")
        case .mishap(let asked, let bundleID, let audit):
            self.order(asked, bundleID) { answer in
                if case .response = answer, let audit { self.note(audit) }
                self.parts.loops[loop].post(.control(ticket: ticket, answer))
            }
        case .reconcile(let app, let run, let isRehearsal, let isWhole, let audit):
            let answer = self.reconcile(app, run: run, isRehearsal: isRehearsal, isWhole: isWhole, audit)
            self.parts.loops[loop].post(.control(ticket: ticket, answer))
        case .backup(let path, let audit):
            self.backUp(to: path, loop: loop, ticket: ticket, audit: audit)
        case .checkCatalog(let files):
            self.answer(loop, ticket) { () throws(CatalogueError) in
                let loaded = try files.load()
                return .response(.checkCatalog(CheckCatalogResponse(summary: Self.summary(loaded))))
            }
        case .openGuest(let files, let bundleID, let source, let audit):
            self.answer(loop, ticket) { () throws(CatalogueError) in
                let loaded = try files.load()
                var settings = loaded.settings
                // As the operator wants time to pass.
                if let rate = self.parts.settings.apps.first?.timeRate { settings.timeRate = rate }
                var mutation = Mutation(
                    opening: GuestOpening(
                        bundleID: bundleID, catalogue: loaded.catalogue, images: loaded.images,
                        source: source.isEmpty ? "a call" : source, settings: settings))
                mutation.audit = audit
                self.write(mutation, for: .call(loop: loop, ticket: ticket, Self.summary(loaded)))
                return nil
            }
        case .loadCatalog(let files, let app, let source, let origin, let audit):
            self.answer(loop, ticket) { () throws(CatalogueError) in
                let loaded = try files.load()
                var mutation = Self.mutation(app, loaded, source: source.isEmpty ? "a call" : source, timeRate: nil)
                mutation.origin = origin
                mutation.audit = audit
                self.write(mutation, for: .call(loop: loop, ticket: ticket, Self.summary(loaded)))
                return nil
            }
        }
    }

    private func answer(_ loop: Int, _ ticket: UInt64, _ work: () throws(CatalogueError) -> ControlAnswer?) {
        let answer: ControlAnswer?
        do throws(CatalogueError) {
            answer = try work()
        } catch {
            let what = error.isOfEntitlements ? "the file of named entitlements" : "the catalogue"
            answer = .refused(
                .catalogInvalid, "\(what) cannot be used: \(error)",
                [
                    StatusDetail(key: "line", value: "\(error.place.line)"),
                    StatusDetail(key: "column", value: "\(error.place.column)"),
                ])
        }
        if let answer { self.parts.loops[loop].post(.control(ticket: ticket, answer)) }
    }

    private static func summary(_ loaded: LoadedCatalogue) -> CatalogSummary {
        var summary = CatalogSummary(counting: loaded.catalogue)
        summary.warnings = loaded.warnings.map {
            CatalogWarning(
                line: UInt32(clamping: $0.place.line), column: UInt32(clamping: $0.place.column),
                productID: $0.productID, message: $0.message)
        }
        return summary
    }
}

extension CatalogFiles {
    fileprivate func load() throws(CatalogueError) -> LoadedCatalogue {
        try StoreKitFile.load(
            self.file, images: self.images.map { ImageFile(id: $0.id, bytes: $0.content) },
            entitlements: self.entitlements.isEmpty ? nil : self.entitlements)
    }
}
