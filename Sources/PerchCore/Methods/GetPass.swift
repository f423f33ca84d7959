import PerchBase
import PerchIdentity
import PerchJSON
import PerchModel
import PerchWire

/// The named entitlements of an account as a signed statement, which others verify without a question.
struct GetPass: RecordMethod {
    let asked: GetPassRequest

    func answer(_ read: AccountRead) throws(Refusal) -> EntitlementPass {
        guard let key = read.context.access.passKey else {
            throw Refusal(.storeFailed, "this server has no key that signs passes")
        }
        let viewed = namedEntitlements(of: read.record, app: read.app, at: read.now)
        var end = read.now.advanced(byMilliseconds: Limits.passMillisecondsMax)
        for change in [viewed.nextCrossing, viewed.forecast?.at].compactMap({ $0 }) { end = min(end, change) }
        // Claims are in whole seconds, and a pass never outlives what it says.
        end = Instant(milliseconds: end.milliseconds.flooredToSecond)
        let payload = self.payload(of: viewed.value, read, until: end)
        do throws(KeyFault) {
            return EntitlementPass(
                position: read.position, pass: try CompactToken.signing(payload, by: key), expiresAt: end)
        } catch {
            throw Refusal(.storeFailed, "a pass is not signed: \(error)")
        }
    }

    private func payload(of entitlements: [NamedEntitlement], _ read: AccountRead, until end: Instant) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("iss", "perch:\(read.context.origin.store)")
        writer.member("aud", read.app.bundleID)
        writer.member("sub", self.asked.account)
        writer.member("env", "\(read.app.environment)")
        writer.member("iat", read.now.milliseconds.flooredToSecond / 1_000)
        writer.member("exp", end.milliseconds / 1_000)
        writer.key("entitlements")
        writer.beginArray()
        for one in entitlements where one.isActive {
            writer.beginObject()
            writer.member("name", one.name)
            if !one.tier.isEmpty { writer.member("tier", one.tier) }
            if let until = one.until { writer.member("until", until.milliseconds.flooredToSecond / 1_000) }
            if !one.productID.isEmpty { writer.member("product", one.productID) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        do throws(JSONOverflow) {
            return try writer.finish()
        } catch {
            preconditionFailure("an account has \(Limits.grantsMax) grants at most, and a mapping its limit")
        }
    }
}

extension Int64 {
    /// Milliseconds, rounded down to a whole second.
    fileprivate var flooredToSecond: Int64 { self - (self % 1_000 + 1_000) % 1_000 }
}
