public import PerchBase
import PerchWire

// Running a server.
extension PerchClient {
    /// The apps of the server, by bundle identifier.
    public func apps(timeout: Duration? = nil) async throws(PerchError) -> [AppSummary] {
        try await self.call(Calls.listApps, (), timeout: timeout) { list in
            list.apps.map { AppSummary($0) }
        }
    }

    /// Checks a catalogue file on the server, without a change.
    public func checkCatalog(
        _ file: [UInt8], images: [CatalogImage] = [], entitlements: [UInt8] = [], timeout: Duration? = nil
    ) async throws(PerchError) -> CatalogSummary {
        let request = CheckCatalogRequest(
            file: file, images: images.map(\.message), entitlements: entitlements)
        return try await self.call(Calls.checkCatalog, request, timeout: timeout) { answer in
            CatalogSummary(answer.summary)
        }
    }

    /// Replaces the catalogue of the app. The server pushes the changed products. The client never repeats this call.
    ///
    /// `images` must have all images of the catalogue: those of the previous catalogue are dropped. `entitlements` is the file of
    /// named entitlements beside it; if it is empty, the app keeps those that it has. `source` is the file's origin, as a text for
    /// operators.
    public func loadCatalog(
        _ file: [UInt8], images: [CatalogImage] = [], entitlements: [UInt8] = [], source: String = "",
        timeout: Duration? = nil
    ) async throws(PerchError) -> LoadedCatalog {
        let request = LoadCatalogRequest(
            app: self.app, file: file, source: source, images: images.map(\.message), entitlements: entitlements)
        return try await self.call(Calls.loadCatalog, request, timeout: timeout) { answer in
            guard let position = answer.position else { return nil }
            return LoadedCatalog(position: position, summary: CatalogSummary(answer.summary))
        }
    }

    /// The contents of the app's catalogue.
    public func catalog(timeout: Duration? = nil) async throws(PerchError) -> CatalogContents {
        try await self.call(Calls.getCatalog, GetCatalogRequest(app: self.app), timeout: timeout) { contents in
            CatalogContents(contents)
        }
    }

    /// The state of the server: its store, its counters, and its findings about itself.
    public func serverStatus(timeout: Duration? = nil) async throws(PerchError) -> ServerStatus {
        try await self.call(Calls.getServerStatus, (), timeout: timeout) { status in
            ServerStatus(status)
        }
    }

    /// Copies the server's store into a new file on the server's machine, named by its absolute path, while the server
    /// goes on.
    ///
    /// Returns when the copy is complete and on the disk. Cancelling the task does not end the copy.
    public func backup(to path: String, timeout: Duration? = nil) async throws(PerchError) -> BackupSummary {
        try await self.call(Calls.backup, BackupRequest(path: path), timeout: timeout) { summary in
            BackupSummary(summary)
        }
    }

    /// Revokes a token by its `jti`. The streams of its holder end within five seconds.
    ///
    /// `expires` is the end of the token, in the future. The server keeps the revocation until then, and at least for the
    /// longest life of a token that it accepts. Nil keeps it for ever.
    public func revokeToken(
        _ id: String, expires: Instant? = nil, timeout: Duration? = nil
    ) async throws(PerchError) -> TokenRevocation {
        try await self.call(Calls.revokeToken, RevokeTokenRequest(tokenID: id, expires: expires), timeout: timeout) {
            answer in
            TokenRevocation(wasRevoked: answer.wasRevoked, wasSeen: answer.wasSeen)
        }
    }

    /// A code for a token, good once and for a minute: the console in a browser exchanges it for the token.
    package func consoleCode(for token: String, timeout: Duration? = nil) async throws(PerchError) -> String {
        try await self.call(Calls.offerConsoleCode, OfferConsoleCodeRequest(token: token), timeout: timeout) { $0.code }
    }
}
