import PerchBase
import PerchModel

extension MutationResult: StoreCoded {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .none:
            writer.write(byte: 0)
        case .transaction(let transaction, let wasHeld, let failure):
            writer.write(byte: failure == .noFailure ? 1 : 6)
            writer.write(transaction)
            writer.write(wasHeld)
            if failure != .noFailure { failure.write(to: &writer) }
        case .clock(let now, let isFrozen, let offset, let timeRate, let settled):
            writer.write(byte: 2)
            writer.write(now)
            writer.write(isFrozen)
            writer.write(offset)
            writer.write(timeRate)
            // A kept answer is written before its renewals are settled, so only the sum is kept.
            writer.write(settled.settled)
        case .pending(let id):
            writer.write(byte: 3)
            writer.write(id)
        case .cancelled:
            writer.write(byte: 4)
        case .number(let number):
            writer.write(byte: 5)
            writer.write(number)
        case .reported(let outcome):
            writer.write(byte: 7)
            for count in [outcome.news, outcome.stale, outcome.duplicates, outcome.moved] { writer.write(count) }
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        switch try reader.byte() {
        case 0: self = .none
        case 1: self = .transaction(try reader.value(), wasHeld: try reader.bool())
        case 2:
            self = .clock(
                now: try reader.value(), isFrozen: try reader.bool(), offsetMilliseconds: try reader.int64(),
                timeRate: try reader.value(), settled: RenewalCount(settled: try reader.uint64()))
        case 3: self = .pending(id: try reader.uint64())
        case 4: self = .cancelled
        case 5: self = .number(try reader.uint64())
        case 6:
            self = .transaction(
                try reader.value(), wasHeld: try reader.bool(), failure: try VerificationFailure(from: &reader))
        case 7:
            var outcome = ReportedOutcome()
            outcome.news = try reader.uint32()
            outcome.stale = try reader.uint32()
            outcome.duplicates = try reader.uint32()
            outcome.moved = try reader.uint32()
            self = .reported(outcome)
        default: throw .invalid("kind of answer", atOffset: start)
        }
    }
}

extension KeptAnswer {
    package func sealed(to key: MutationKey) -> [UInt8] {
        SealedBlob.seal(.answer(key)) { writer in
            writer.write(self.digest)
            if let refusal = self.refusal {
                writer.write(byte: Self.refused)
                refusal.write(to: &writer)
            } else {
                writer.write(self.result)
            }
            writer.write(self.position)
            writer.write(self.kept)
        }
    }

    package init(unsealing bytes: [UInt8], to key: MutationKey) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .answer(key)) { (reader) throws(DecodingFault) in
            let digest = try Digest(from: &reader)
            let start = reader
            let isRefused = try reader.byte() == Self.refused
            if !isRefused { reader = start }
            let refusal = isRefused ? try Refusal(from: &reader) : nil
            let result = isRefused ? .none : try MutationResult(from: &reader)
            let position = try Position(from: &reader)
            return KeptAnswer(
                digest: digest, result: result, refusal: refusal, position: position, kept: try reader.value())
        }
    }

    /// Where the kind of a `MutationResult` stands otherwise.
    private static let refused: UInt8 = 255
}

extension Refusal: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.reason.rawValue)
        writer.write(self.message)
        writer.write(self.field)
        for number in [self.found, self.limit] {
            writer.write(number != nil)
            if let number { writer.write(number) }
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        let (name, message, field) = (try reader.string(), try reader.string(), try reader.string())
        guard let reason = Reason(rawValue: name) else { throw .invalid("reason of a refusal", atOffset: start) }
        let found = try reader.bool() ? try reader.int64() : nil
        let limit = try reader.bool() ? try reader.int64() : nil
        self.init(reason, message, field: field, found: found, limit: limit)
    }
}

extension StoreHeader {
    package func sealed() -> [UInt8] {
        SealedBlob.seal(.header) { writer in
            writer.write(self.identity)
            writer.write(self.epoch)
            writer.write(self.revision)
            writer.write(self.nextTransaction)
            writer.write(self.nextAccount)
            writer.write(self.lease)
        }
    }

    package init(unsealing bytes: [UInt8]) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .header) { (reader) throws(DecodingFault) in
            let identity = try StoreIdentity(from: &reader)
            let epoch = try reader.uint32()
            let revision = try reader.uint64()
            let nextTransaction = try reader.uint64()
            let nextAccount = try reader.uint64()
            return StoreHeader(
                identity: identity, epoch: epoch, revision: revision, nextTransaction: nextTransaction,
                nextAccount: nextAccount, lease: try reader.value())
        }
    }
}

extension RevokedToken {
    package func sealed() -> [UInt8] {
        SealedBlob.seal(.revocation(Array(self.id.utf8))) { $0.write(self.expires) }
    }

    package init(unsealing bytes: [UInt8], id: [UInt8]) throws(DecodingFault) {
        let expires = try SealedBlob.open(bytes, .revocation(id)) { (reader) throws(DecodingFault) in
            try Instant(from: &reader)
        }
        self.init(id: String(decoding: id, as: UTF8.self), expires: expires)
    }
}
