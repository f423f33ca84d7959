import PerchBase
package import PerchModel

extension AppSettings: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.timeRate)
        writer.write(self.storefront)
        writer.write(self.locale)
        writer.write(self.isAskToBuyEnabled)
        writer.write(self.areBillingIssuesEnabled)
        writer.write(self.areRenewalBillingIssuesEnabled)
        writer.write(self.isGracePeriodEnabled)
        writer.write(self.gracePeriodDays)
        // An unused field of form 1: the file's dialogs setting.
        writer.write(false)
        writer.write(self.asksBeforePurchases)
        writer.write(self.hasGracePeriodForAllRenewals)
        writer.write(self.simulatedErrors)
        writer.write(self.leewayMilliseconds != nil)
        if let leeway = self.leewayMilliseconds { writer.write(leeway) }
        writer.write(byte: self.claimPolicy.rawValue)
        guard writer.has(form: 5, isNeeded: self.finishesAtAppStore || self.setsTokensAtAppStore) else { return }
        writer.write(self.finishesAtAppStore)
        writer.write(self.setsTokensAtAppStore)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init()
        self.timeRate = try reader.value()
        self.storefront = try reader.string()
        self.locale = try reader.string()
        self.isAskToBuyEnabled = try reader.bool()
        self.areBillingIssuesEnabled = try reader.bool()
        self.areRenewalBillingIssuesEnabled = try reader.bool()
        self.isGracePeriodEnabled = try reader.bool()
        self.gracePeriodDays = try reader.int64()
        _ = try reader.bool()
        self.asksBeforePurchases = try reader.bool()
        self.hasGracePeriodForAllRenewals = try reader.bool()
        self.simulatedErrors = try reader.value()
        // Before form 4 nothing was reported to an app.
        guard reader.form >= 4 else { return }
        if try reader.bool() { self.leewayMilliseconds = try reader.int64() }
        let start = reader.offset
        guard let policy = ClaimPolicy(rawValue: try reader.byte()) else {
            throw .invalid("claim policy", atOffset: start)
        }
        self.claimPolicy = policy
        // Before form 5 the App Store was told nothing of an app's purchases.
        guard reader.form >= 5 else { return }
        self.finishesAtAppStore = try reader.bool()
        self.setsTokensAtAppStore = try reader.bool()
    }
}

extension AppClock: StoreCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .running(let offset):
            writer.write(byte: 1)
            writer.write(offset)
        case .frozen(let instant):
            writer.write(byte: 2)
            writer.write(instant)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        switch try reader.byte() {
        case 1: self = .running(offsetMilliseconds: try reader.int64())
        case 2: self = .frozen(at: try reader.value())
        default: throw .invalid("kind of clock", atOffset: start)
        }
    }
}

extension StoredAppState {
    /// Without the catalogue, which is another blob because many states share it.
    package func sealed() -> [UInt8] {
        SealedBlob.seal(.appState(self.state.number, revision: self.state.revision)) { self.writeFields(to: &$0) }
    }

    /// `catalogue` is the one that the app loaded at `catalogueRevision`, stored beside the blob. The two must agree.
    package static func unsealed(
        _ bytes: [UInt8], app: AppNumber, revision: UInt64, catalogueRevision: UInt64, catalogue: Catalogue
    ) throws(DecodingFault) -> StoredAppState {
        try SealedBlob.open(bytes, .appState(app, revision: revision)) { (reader) throws(DecodingFault) in
            let start = reader.offset
            return try StoredAppState.read(from: &reader, app: app, revision: revision) {
                (revision) throws(DecodingFault) in
                guard revision == catalogueRevision else { throw .invalid("catalogue revision", atOffset: start) }
                return catalogue
            }
        }
    }

    /// All but the app's number and the revision, which are part of the key, and the catalogue.
    func writeFields(to writer: inout ByteWriter) {
        writer.write(self.state.bundleID)
        self.state.environment.write(to: &writer)
        writer.write(self.state.effective)
        writer.write(self.state.committed)
        writer.write(self.state.catalogueRevision)
        writer.write(self.state.catalogueSource)
        writer.write(self.state.settings)
        writer.write(self.state.clock)
        writer.write(self.fileSettings)
    }

    static func read(
        from reader: inout ByteReader, app: AppNumber, revision: UInt64,
        catalogueOf: (UInt64) throws(DecodingFault) -> Catalogue
    ) throws(DecodingFault) -> StoredAppState {
        let bundleID = try reader.string()
        let environment = try AppEnvironment(from: &reader)
        let effective = try Instant(from: &reader)
        let committed = try Instant(from: &reader)
        let catalogueRevision = try reader.uint64()
        let catalogue = try catalogueOf(catalogueRevision)
        let source = try reader.string()
        let settings = try AppSettings(from: &reader)
        let clock = try AppClock(from: &reader)
        let state = AppState(
            number: app, bundleID: bundleID, environment: environment, revision: revision, effective: effective,
            committed: committed, catalogue: catalogue, catalogueRevision: catalogueRevision,
            catalogueSource: source, settings: settings, clock: clock)
        return StoredAppState(state: state, fileSettings: try reader.value())
    }
}
