import PerchBase
package import PerchModel

/// The first byte of a fact: what happened. Numbers are never used again.
private enum FactKind: UInt8 {
    case opened = 1
    case purchased = 2
    case renewed = 3
    case renewalFailed = 4
    case lapsed = 5
    case upgradedFrom = 6
    case autoRenewSet = 7
    case revoked = 8
    case expiredEarly = 9
    case periodCut = 10
    case finished = 11

    init(of body: Fact.Body) {
        self =
            switch body {
            case .opened: .opened
            case .purchased: .purchased
            case .renewed: .renewed
            case .renewalFailed: .renewalFailed
            case .lapsed: .lapsed
            case .upgradedFrom: .upgradedFrom
            case .autoRenewSet: .autoRenewSet
            case .revoked: .revoked
            case .expiredEarly: .expiredEarly
            case .periodCut: .periodCut
            case .finished: .finished
            }
    }
}

extension Fact: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(byte: FactKind(of: self.body).rawValue)
        writer.write(self.effective)
        switch self.body {
        case .opened(let appTransactionID):
            writer.write(appTransactionID)
        case .purchased(let transaction, let terms):
            writer.write(transaction)
            writer.write(terms)
        case .renewed(let transaction, let terms):
            writer.write(transaction)
            writer.write(terms)
        case .renewalFailed(let original, let retry):
            writer.write(original)
            writer.write(retry)
        case .lapsed(let original, let reason):
            writer.write(original)
            reason.write(to: &writer)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction):
            writer.write(transaction)
        case .autoRenewSet(let original, let isOn, let preference):
            writer.write(original)
            writer.write(isOn)
            writer.write(preference)
        case .revoked(let transaction, let fallback):
            writer.write(transaction)
            writer.write(fallback)
        case .finished(let id):
            writer.write(id)
        }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        guard let kind = FactKind(rawValue: try reader.byte()) else {
            throw .invalid("kind of fact", atOffset: start)
        }
        let effective = try Instant(from: &reader)
        let body: Body =
            switch kind {
            case .opened: .opened(appTransactionID: try reader.string())
            case .purchased: .purchased(try reader.value(), terms: try reader.optional())
            case .renewed: .renewed(try reader.value(), terms: try reader.value())
            case .renewalFailed: .renewalFailed(original: try reader.uint64(), retry: try reader.value())
            case .lapsed: .lapsed(original: try reader.uint64(), reason: try reader.value())
            case .upgradedFrom: .upgradedFrom(try reader.value())
            case .autoRenewSet:
                .autoRenewSet(
                    original: try reader.uint64(), isOn: try reader.bool(), preference: try reader.string())
            case .revoked: .revoked(try reader.value(), fallback: try reader.optional())
            case .expiredEarly: .expiredEarly(try reader.value())
            case .periodCut: .periodCut(try reader.value())
            case .finished: .finished(try reader.uint64())
            }
        self.init(body, effective: effective)
    }
}

extension StoredFact {
    package func sealed(at place: EventPlace) -> [UInt8] {
        SealedBlob.seal(.fact(place, account: self.account)) { writer in
            writer.write(self.fact)
            writer.write(self.origin)
        }
    }

    package init(
        unsealing bytes: [UInt8], at place: EventPlace, account: AccountNumber
    ) throws(DecodingFault) {
        self = try SealedBlob.open(bytes, .fact(place, account: account)) { (reader) throws(DecodingFault) in
            let fact = try Fact(from: &reader)
            return StoredFact(account: account, fact: fact, origin: try reader.blob())
        }
    }
}
