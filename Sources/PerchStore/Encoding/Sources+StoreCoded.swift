import PerchBase
package import PerchModel

extension EntitlementSource: StoreCoded {
    /// Which instants follow. Those that do not have their usual value: it has begun, it never ends, its end is shown.
    private enum Flag {
        static let from: UInt8 = 1
        static let end: UInt8 = 2
        static let shown: UInt8 = 4
    }

    func write(to writer: inout ByteWriter) {
        var flags: UInt8 = 0
        if self.from != .distantPast { flags |= Flag.from }
        if self.end != .distantFuture { flags |= Flag.end }
        if self.shown != self.end { flags |= Flag.shown }
        writer.write(byte: self.kind.rawValue)
        writer.write(byte: flags)
        writer.write(self.line)
        writer.write(self.productID)
        writer.write(self.groupID)
        writer.write(self.groupProductID)
        if self.from != .distantPast { writer.write(self.from) }
        if self.end != .distantFuture { writer.write(self.end) }
        if self.shown != self.end { writer.write(self.shown) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let start = reader.offset
        guard let kind = Kind(rawValue: try reader.byte()) else { throw .invalid("kind of a source", atOffset: start) }
        let flags = try reader.byte()
        guard flags & ~(Flag.from | Flag.end | Flag.shown) == 0 else {
            throw .invalid("instants of a source", atOffset: start + 1)
        }
        let line = try reader.uint32()
        let productID = try reader.string()
        let groupID = try reader.string()
        let groupProductID = try reader.string()
        let from = try flags & Flag.from == 0 ? Instant.distantPast : Instant(from: &reader)
        let end = try flags & Flag.end == 0 ? Instant.distantFuture : Instant(from: &reader)
        let shown = try flags & Flag.shown == 0 ? end : Instant(from: &reader)
        // Only one form of each value.
        guard flags & Flag.from == 0 || from != .distantPast, flags & Flag.end == 0 || end != .distantFuture,
            flags & Flag.shown == 0 || shown != end
        else { throw .invalid("instants of a source", atOffset: start + 1) }
        self.init(
            kind, productID: productID, groupID: groupID, groupProductID: groupProductID, line: line, from: from,
            end: end, shown: shown)
    }
}

/// The row of what entitles an account.
package enum SourcesRow {
    package static func sealed(_ sources: [EntitlementSource], of account: AccountNumber, app: AppNumber) -> [UInt8] {
        SealedBlob.seal(.sources(account, app: app)) { $0.write(sources) }
    }

    package static func unsealed(
        _ bytes: [UInt8], of account: AccountNumber, app: AppNumber
    ) throws(DecodingFault) -> [EntitlementSource] {
        try SealedBlob.open(bytes, .sources(account, app: app)) { (reader) throws(DecodingFault) in
            try reader.array(of: EntitlementSource.self)
        }
    }
}
