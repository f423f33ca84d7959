import PerchBase
import PerchModel
import Testing

@testable import PerchStore

/// Every read of a small store, one line each. `keys` are idempotency keys whose answers may be kept.
func storeTranscript(of storage: any Storage, keys: [String]) throws -> [String] {
    func digest(_ bytes: [UInt8]?) -> String { bytes.map { Digest(of: $0).description } ?? "none" }
    let header = try storage.header()
    let apps = try storage.appStates()
    var lines = [
        "store \(header.identity) epoch \(header.epoch) revision \(header.revision) next \(header.nextTransaction) "
            + "\(header.nextAccount)"
    ]
    for revision in 1...header.revision + 1 {
        lines.append("commit \(revision) at \(try storage.commitTime(of: revision).map { "\($0)" } ?? "none")")
    }
    for token in try storage.revokedTokens() { lines.append("revoked \(token.id) until \(token.expires)") }
    for app in apps {
        let number = app.state.number
        lines.append("app \(number) \(app.state.bundleID) \(app.state.environment) \(digest(sealedInForm1(app)))")
        for revision in 1...header.revision {
            guard let state = try storage.appState(number, at: revision), state.state.revision == revision else {
                continue
            }
            let catalogue = sealedInForm1(state.state.catalogue, app: number)
            lines.append("  state \(revision) \(digest(sealedInForm1(state))) catalogue \(digest(catalogue))")
            let inForce = try storage.appState(number, inForceAt: state.state.effective)
            lines.append("  in force at \(state.state.effective): \(inForce?.state.revision ?? 0)")
        }
        for key in keys {
            let key = MutationKey(app: number, bytes: Array(key.utf8))
            lines.append("  answer \(digest(try storage.answer(to: key)?.sealed(to: key)))")
        }
        for entry in try storage.due(number, through: .distantFuture, limit: 1_000) {
            lines.append("  due \(entry.instant) account \(entry.account)")
        }
        for bytes in try storage.keys(of: number, after: [], limit: 1_000) {
            let account = try storage.account(AccountKey(app: number, bytes: bytes)) ?? 0
            lines.append("  account \(String(decoding: bytes, as: UTF8.self)) \(account)")
            lines += try accountTranscript(of: account, app: number, storage)
        }
    }
    return lines
}

private func accountTranscript(of account: AccountNumber, app: AppNumber, _ storage: any Storage) throws -> [String] {
    func digest(_ bytes: [UInt8]?) -> String { bytes.map { Digest(of: $0).description } ?? "none" }
    func text(_ row: TransactionRow) -> String {
        "\(row.transaction.id)\(row.isFinished ? "f" : "") \(digest(row.transaction.sealed(account: account)))"
    }
    var lines = ["    record \(digest(try storage.record(account).map(sealedInForm2)))"]
    for dated in try storage.facts(of: account, after: 0, through: .max, limit: 1_000) {
        let transaction = digest(dated.fact.event?.transaction.sealed(account: account))
        lines.append("    fact of \(dated.revision) at \(dated.fact.effective): \(dated.fact.cause) \(transaction)")
    }
    let start = EventPlace(revision: 0, ordinal: 0)
    for event in try storage.events(of: account, after: start, limit: 1_000) {
        lines.append(
            "    event \(event.place.revision)/\(event.place.ordinal) \(event.committed) \(event.kind) \(event.origin) "
                + "\(event.transaction.id)")
    }
    for choice in 0..<8 {
        var query = TransactionQuery(limit: 1_000)
        query.isNewestFirst = choice & 1 != 0
        query.includesFinishedConsumables = choice & 2 != 0
        query.unfinishedOnly = choice & 4 != 0
        lines.append("    list \(choice): \(try storage.transactions(of: account, query).map(text))")
        query.productID = "app.perch.coins"
        lines.append("    coins \(choice): \(try storage.transactions(of: account, query).map(\.transaction.id))")
        query.productID = nil
        for row in try storage.transactions(of: account, query) where choice == 2 {
            let found = try storage.transaction(app, row.transaction.id)
            lines.append("    transaction \(found.map { "\($0.account) \(text($0))" } ?? "none")")
        }
    }
    return lines
}

/// A record as form 2 sealed it, to compare it with what earlier code wrote. Later forms end with four more fields, which are
/// empty in a record of an earlier form.
private func sealedInForm2(_ record: AccountRecord) -> [UInt8] {
    let value = record.sealed().dropFirst().dropLast(4)
    #expect(value.suffix(4) == [0, 0, 0, 0], "a later field in a store of an earlier form")
    return sealed([2] + value.dropLast(4), .record, bigEndian(record.account))
}

/// An app state as form 1 sealed it: later settings end with two more fields.
private func sealedInForm1(_ state: StoredAppState) -> [UInt8] {
    func settings(_ settings: AppSettings) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(settings)
        #expect(writer.bytes.suffix(4) == [0, 0, 0, 0], "a later setting in a store of an earlier form")
        // Two settings of form 5, which is not sealed where nothing needs it.
        return Array(writer.bytes.dropLast(2))
    }
    var clock = ByteWriter()
    clock.write(state.state.clock)
    let (own, file) = (settings(state.state.settings), settings(state.fileSettings))
    let value = state.sealed().dropFirst().dropLast(4)
    let start = value.dropLast(own.count + clock.bytes.count + file.count)
    let earlier = start + own.dropLast(2) + clock.bytes + file.dropLast(2)
    let key = bigEndian(UInt64(state.state.number)) + bigEndian(state.state.revision)
    return sealed([1] + earlier, .appState, key)
}

/// A catalogue as form 1 sealed it, without named entitlements.
private func sealedInForm1(_ catalogue: Catalogue, app: AppNumber) -> [UInt8] {
    let value = catalogue.sealed(app: app, revision: 0).dropFirst().dropLast(4)
    #expect(value.last == 0, "named entitlements in a store of an earlier form")
    return sealed([1] + value.dropLast(), .catalogue, bigEndian(UInt64(app)) + bigEndian(UInt64(0)))
}

private func sealed(_ value: [UInt8], _ kind: BlobKey.Kind, _ key: [UInt8]) -> [UInt8] {
    value + bigEndian(CRC32C.checksum([kind.rawValue] + key + value))
}

private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

/// Reports the first different line of two transcripts, which a comparison of the whole ones hides.
func expectEqual(
    _ found: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found != expected else { return }
    let difference = zip(found, expected).first { $0 != $1 }
    Issue.record(
        "\(difference.map { "\($0), not \($1)" } ?? "\(found.count) lines, not \(expected.count)")",
        sourceLocation: sourceLocation)
}
