import PerchApple
import PerchBase
import PerchModel
import PerchWire

// The signed forms of values, for calls that ask for them. Test apps have them; an App Store app's values were signed by the App Store.

/// Gives the values of an app their signed forms.
struct Signing {
    /// Nil if the store has no authority.
    let signer: SharedAppleSigner?
    let isTestApp: Bool
    /// By the app's clock.
    let now: Instant

    func sign(_ shown: inout Verified<Transaction>) {
        guard self.isTestApp else { return }
        let payload = PayloadWriter.transaction(shown.value)
        shown.jws = self.signed(payload, at: shown.value.signedDate, isGood: shown.isVerified) { _ in payload }.text
    }

    func sign(_ shown: inout [Verified<Transaction>]) {
        for place in shown.indices { self.sign(&shown[place]) }
    }

    /// `position`: of the value.
    func sign(_ shown: inout SubscriptionStatuses, at position: Position) {
        guard self.isTestApp else { return }
        for place in shown.statuses.indices {
            self.sign(&shown.statuses[place].transaction)
            self.sign(&shown.statuses[place].renewalInfo, at: position)
        }
    }

    /// Signed at the value's instant, as a record does not say when a line has changed. So of two values of one line the later one
    /// is newer, which is what their readers go by: equal contents before and after another count as two.
    private func sign(_ shown: inout Verified<RenewalInfo>, at position: Position) {
        let key =
            PayloadWriter.renewalInfo(shown.value, signed: Instant(milliseconds: 0))
            + Array("\(position.revision)".utf8)
        (shown.jws, shown.value.signedDate) = self.signed(key, at: position.asOf, isGood: shown.isVerified) {
            [info = shown.value] in
            PayloadWriter.renewalInfo(info, signed: $0)
        }
    }

    func sign(_ shown: inout ViewValue, at position: Position) {
        switch shown {
        case .statuses(var statuses):
            self.sign(&statuses, at: position)
            shown = .statuses(statuses)
        case .entitlement(var transaction?):
            self.sign(&transaction)
            shown = .entitlement(transaction)
        case .entitlement(nil), .products, .intents, .messages, .entitlements, .failure: break
        }
    }

    func signed(_ transaction: Verified<AppTransaction>) -> String {
        guard self.isTestApp else { return "" }
        let key = PayloadWriter.appTransaction(transaction.value, signed: Instant(milliseconds: 0))
        return self.signed(key, at: self.now, isGood: transaction.isVerified) {
            PayloadWriter.appTransaction(transaction.value, signed: $0)
        }.text
    }

    /// `isGood`: false where the app's settings make the verification fail; then a client's own fails too.
    private func signed(
        _ key: [UInt8], at instant: Instant, isGood: Bool, payload: (Instant) -> [UInt8]
    ) -> (text: String, instant: Instant) {
        guard let signed = self.signer?.sign(key, at: instant, payload: payload) else { return ("", instant) }
        return (isGood ? signed.text : signed.spoiled, signed.instant)
    }
}
