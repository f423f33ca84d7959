import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchStore

// The endpoints that read.
extension TwinDesk {
    func transactionInfo(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        return try self.transaction(id, call, else: .transactionNotFound) { _, row in
            .answer { $0.member("signedTransactionInfo", self.signed(row.transaction)) }
        }
    }

    func appTransaction(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        return try self.customer(of: id, call, else: .transactionNotFound) { account in
            self.record(of: account, call) { record, app throws(TwinError) in
                do throws(Refusal) {
                    let found = try PerchModel.appTransaction(of: record, app: app).value
                    let now = app.clock.now(wall: call.wall)
                    return .answer { $0.member("signedAppTransactionInfo", self.signed(found, at: now)) }
                } catch {
                    throw TwinError(error)
                }
            }
        }
    }

    // MARK: Statuses

    func statuses(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        var wanted: Set<Int32> = []
        for text in call.request.values("status") {
            guard let status = Int32(text), (1...5).contains(status) else { throw .invalidStatus }
            wanted.insert(status)
        }
        return try self.customer(of: id, call, else: .transactionNotFound) { account in
            self.record(of: account, call) { record, app in
                let now = app.clock.now(wall: call.wall)
                let statuses = statusesOfAllGroups(of: record, app: app, at: now).value.statuses.filter {
                    wanted.isEmpty || wanted.contains($0.state.rawValue)
                }
                return .answer { writer in
                    self.heading(call.app, &writer)
                    writer.key("data")
                    writer.beginArray()
                    var rest = statuses[...]
                    // Statuses of one group are neighbours.
                    while let group = rest.first?.transaction.value.subscriptionGroupID {
                        let own = rest.prefix { $0.transaction.value.subscriptionGroupID == group }
                        rest = rest.dropFirst(own.count)
                        writer.beginObject()
                        writer.member("subscriptionGroupIdentifier", group)
                        writer.key("lastTransactions")
                        writer.beginArray()
                        for status in own { self.write(status, of: record, at: now, &writer) }
                        writer.endArray()
                        writer.endObject()
                    }
                    writer.endArray()
                }
            }
        }
    }

    private func write(
        _ status: SubscriptionStatus, of record: AccountRecord, at now: Instant, _ writer: inout JSONWriter
    ) {
        writer.beginObject()
        // The numbers of the model are Apple's: 1 active, 2 expired, 3 in retry, 4 in grace, 5 revoked.
        writer.member("status", status.state.rawValue)
        writer.member("originalTransactionId", "\(status.renewalInfo.value.originalTransactionID)")
        writer.member("signedTransactionInfo", self.signed(status.transaction.value))
        writer.member("signedRenewalInfo", self.signed(status.renewalInfo.value, of: record, at: now))
        writer.endObject()
    }

    func heading(_ app: TwinApp, _ writer: inout JSONWriter) {
        writer.member("environment", "Sandbox")
        writer.member("bundleId", app.bundleID)
    }

    // MARK: Orders

    /// The order of a transaction. The App Store mails its number to the customer; a test store has no mail, so the number follows from
    /// the transaction.
    static func orderID(of id: TransactionID) -> String { "MT\(id)" }

    func order(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let unknown = TwinStep.answer { writer in
            writer.member("status", 1)
            writer.key("signedTransactions")
            writer.beginArray()
            writer.endArray()
        }
        guard call.request.host != .production, text.hasPrefix("MT"),
            let id = try? Self.number(String(text.dropFirst(2)), else: .badRequest), Self.orderID(of: id) == text
        else { return unknown }
        return .ask(.find(call.app.number, .transaction(id))) { answer throws(TwinError) in
            switch answer {
            case .found(let account?):
                return self.rows(of: AccountKey(app: call.app.number, bytes: account.key)) { rows in
                    guard let row = rows.first(where: { $0.transaction.id == id }) else { return unknown }
                    return .answer { writer in
                        writer.member("status", 0)
                        writer.key("signedTransactions")
                        writer.beginArray()
                        writer.string(self.signed(row.transaction))
                        writer.endArray()
                    }
                }
            case .found(nil): return unknown
            case .refused(let refusal): throw TwinError(refusal)
            default: preconditionFailure("an account was sought")
            }
        }
    }
}
