import PerchBase
import PerchModel
import PerchStore
import PerchWire

// What every part may ask: the present moment, the apps, the calls that carry others.
extension Tables {
    // MARK: Time and position

    func isAt(_ position: Position, of app: AppNumber) -> Bool {
        self.applied >= position.revision && self.clock(of: app) >= position.asOf
    }

    /// The app's clock, as of this tick.
    func clock(of app: AppNumber) -> Instant {
        self.apps[app].map { $0.clock.now(wall: self.now.wall) } ?? self.now.wall
    }

    mutating func scheduleDeadline(_ deadline: Deadline, at time: Int64) {
        _ = self.deadlines.schedule(at: time, payload: deadline.packed)
    }

    // MARK: Tokens and apps

    /// A key as views and tokens compare it.
    func canonical(_ account: [UInt8], _ app: AppNumber) -> [UInt8] {
        guard account.count == AccountToken.textBytes, let state = self.apps[app] else { return account }
        return AccountKey(app: app, bytes: account).canonical(in: state)
    }

    var origin: TokenOrigin { TokenOrigin(store: self.identity, epoch: self.epoch) }

    /// `what`: the kind of token.
    func requireOwn(_ origin: TokenOrigin, _ what: String) throws(CallRefusal) {
        guard origin == self.origin else { throw CallRefusal(tokenOf: origin, what, at: self.origin) }
    }

    /// A position of lost history must not count as reached, because this one came to the same revision with other changes.
    func requireOwn(_ position: Position) throws(CallRefusal) {
        guard position.epoch == 0 || position.epoch == self.epoch else {
            throw CallRefusal(
                .tokenOtherStore,
                "at_least is a position of epoch \(position.epoch), this store has epoch \(self.epoch) since a restore or a "
                    + "failover lost changes; ask without at_least, and make the change again if its result is missing",
                details: [.field("at_least"), .found(Int64(position.epoch))])
        }
    }

    func signing(of app: AppNumber) -> Signing {
        Signing(signer: self.signer, isTestApp: self.apps[app]?.isTestApp == true, now: self.clock(of: app))
    }

    // MARK: Several watches in one call

    /// The parts of a call of several watches; none of another.
    @inline(__always)
    func parts(of whole: Int32) -> [Int32] {
        self.carried.wholes.isEmpty ? [] : self.carried.wholes[whole] ?? []
    }

    /// The part that a call is; nil for a call with a stream of its own.
    @inline(__always)
    func part(_ call: Int32) -> CallPart? {
        self.carried.parts.isEmpty ? nil : self.carried.parts[call]
    }

    // MARK: Messages

    /// Our own messages fit our own limits; otherwise it is a bug in Perch.
    mutating func encoded(
        _ encode: (MessageCodec) throws(MessageError) -> MessageCodec.Encoded
    ) -> PayloadHandle {
        do {
            return self.payloads.insert(try encode(self.codec).prefixed)
        } catch {
            preconditionFailure("a message of our own could not be encoded: \(error)")
        }
    }
}
