package import PerchBase
package import PerchModel

/// A question of the App Store about a purchase whose customer wants a refund, and what became of it. It is stored with the
/// notification that asks, so a kill forgets none.
package struct ConsumptionCase: Hashable, Sendable {
    package var transaction: TransactionID
    package var original: TransactionID
    /// Apple's word; empty for none.
    package var reason: String
    /// When the App Store signed it.
    package var asked: Instant
    package var deadline: Instant
    package var state = ConsumptionState.open
    /// Why the App Store refused the answer.
    package var message = ""
    package var answer: ConsumptionAnswer?

    package init(transaction: TransactionID, original: TransactionID, reason: String, asked: Instant) {
        self.transaction = transaction
        self.original = original
        self.reason = reason
        self.asked = asked
        self.deadline = asked.advanced(byMilliseconds: Limits.consumptionAnswerMilliseconds)
    }

    package static func key(_ transaction: TransactionID, app: AppNumber) -> ItemKey {
        var key = ByteWriter()
        key.write(fixed: transaction)
        return ItemKey(.consumption, group: ItemKey.appGroup(app), key: key.bytes)
    }

    package func item(_ app: AppNumber) -> StoredItem {
        var writer = ByteWriter()
        writer.write(self.transaction)
        writer.write(self.original)
        writer.write(self.reason)
        writer.write(self.asked.milliseconds)
        writer.write(self.deadline.milliseconds)
        writer.write(Int64(self.state.rawValue))
        writer.write(self.message)
        writer.write(byte: self.answer == nil ? 0 : 1)
        if let answer = self.answer {
            writer.write(byte: answer.hasConsent ? 1 : 0)
            writer.write(byte: answer.hasSample ? 1 : 0)
            writer.write(Int64(answer.delivery.rawValue))
            writer.write(answer.consumedMilli)
            writer.write(Int64(answer.preference.rawValue))
        }
        return StoredItem(Self.key(self.transaction, app: app), writer.bytes)
    }

    /// Reads an item; nil if it is damaged, which its checksum would have shown before.
    package init?(_ item: StoredItem) {
        var reader = ByteReader(item.value)
        do throws(DecodingFault) {
            self.init(
                transaction: try reader.uint64(), original: try reader.uint64(), reason: try reader.string(),
                asked: Instant(milliseconds: try reader.int64()))
            self.deadline = Instant(milliseconds: try reader.int64())
            self.state = ConsumptionState(rawValue: Int32(clamping: try reader.int64()))
            self.message = try reader.string()
            guard try reader.byte() == 1 else { return }
            self.answer = ConsumptionAnswer(
                hasConsent: try reader.byte() == 1, hasSample: try reader.byte() == 1,
                delivery: ConsumptionDelivery(rawValue: Int32(clamping: try reader.int64())),
                consumedMilli: try reader.uint32(),
                preference: RefundPreference(rawValue: Int32(clamping: try reader.int64())))
        } catch {
            return nil
        }
    }
}

extension StoreEngine {
    /// Keeps a question that a notification asks for the first time. One that comes again keeps the earlier deadline; one that comes
    /// after that deadline, or after the App Store has taken or refused an answer, is asked anew.
    func open(
        _ noted: NotedNotification, about original: TransactionID, _ work: inout ReportedWork
    ) throws(StorageError) {
        let transaction = noted.notice.transactionID == 0 ? original : noted.notice.transactionID
        let asked = ConsumptionCase(
            transaction: transaction, original: original, reason: noted.consumptionReason, asked: noted.notice.signed)
        guard asked.deadline > work.now else { return }
        if let known = try self.consumption(transaction, work),
            known.asked >= asked.asked
                || known.deadline > work.now && (known.state == .open || known.state == .answered)
        {
            return
        }
        work.side.items.append(asked.item(work.app.number))
    }

    /// The answer that an administrator gives.
    func answer(
        _ transaction: TransactionID, with answer: ConsumptionAnswer, _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard var known = try self.consumption(transaction, work) else {
            return Refusal(
                .transactionUnknown,
                "the App Store asks nothing about the transaction \(transaction); `perch apple consumption list` shows what it asks",
                field: "transaction_id")
        }
        if known.answer == answer, known.state == .answered || known.state == .sent { return nil }
        guard known.state != .sent else {
            return Refusal(.refundNotPossible, "the App Store has taken another answer about \(transaction) already")
        }
        guard work.now < known.deadline else {
            return Refusal(
                .refundNotPossible,
                "the App Store took answers about \(transaction) until \(known.deadline), and now it is \(work.now)")
        }
        known.answer = answer
        known.state = .answered
        known.message = ""
        return try self.keep(known, &work)
    }

    /// What the App Store said to an answer. Another one may have been given meanwhile.
    func note(
        _ transaction: TransactionID, took answer: ConsumptionAnswer, refusing message: String?,
        _ work: inout ReportedWork
    ) throws(StorageError) -> Refusal? {
        guard var known = try self.consumption(transaction, work), known.state == .answered, known.answer == answer
        else { return nil }
        known.state = message == nil ? .sent : .refused
        known.message = message ?? ""
        return try self.keep(known, &work)
    }

    private func keep(_ known: ConsumptionCase, _ work: inout ReportedWork) throws(StorageError) -> Refusal? {
        work.side.items.append(known.item(work.app.number))
        work.noted = try self.account(.original(known.original, app: work.app.number), work)
        return nil
    }

    private func consumption(
        _ transaction: TransactionID, _ work: ReportedWork
    ) throws(StorageError) -> ConsumptionCase? {
        let key = ConsumptionCase.key(transaction, app: work.app.number)
        if let item = work.side.items.last(where: { $0.key == key }) { return ConsumptionCase(item) }
        return try self.storage.item(key).flatMap { ConsumptionCase($0) }
    }
}
