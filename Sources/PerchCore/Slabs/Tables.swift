import PerchApple
import PerchBase
import PerchModel
import PerchStore
import PerchWire
import Synchronization

/// What transport, service and views share: connections, calls, outgoing bytes, the apps, the present moment, and what
/// the driver is asked to do.
struct Tables: ~Copyable {
    /// Makes the struct immovable, as that of `LoopCore` does.
    private let anchor = Atomic<Bool>(false)

    let loop: Int
    let identity: StoreIdentity
    let epoch: UInt32
    let settings: CoreSettings
    /// Of all loops together.
    let quotas: SharedQuotas
    let codec: MessageCodec
    /// Signs values of test apps; nil if the store has no authority.
    let signer: SharedAppleSigner?

    // The inputs: time, apps, and the revision up to which every change is applied.
    var now: Moment
    var deadlines = TimerHeap()
    var apps: AppTable
    var applied: UInt64
    /// Whether the store knows what is true: heartbeats are sent, and reads go to the store. See `LoopCore.vouches`.
    var vouches = true
    var storeFailure: String?

    var connections = Slab<Connection>()
    var calls = Slab<CallSlot>()
    var payloads = Payloads()
    // What few calls have, by call.
    /// Until the first value is sent.
    var callTokens: [Int32: ResumeToken] = [:]
    var carried = CarriedWatches()
    /// The questions under way, by the number that the answer has.
    var tickets = Slab<Ticket>()

    // The output for the driver, which empties the lists.
    /// Actions beside writing and asking the store.
    var effects: [Effect] = []
    /// Requests for the store, in order. Apart from the effects, so that thousands in one tick are handed over as one
    /// list.
    var asks: [StoreRequest] = []
    /// Notes for the log.
    var notes: [LoopNote] = []
    /// Notes connections and calls too, because the log is at `debug`.
    var notesEverything = false
    var counters = LoopCounters()

    init(
        loop: Int, identity: StoreIdentity, epoch: UInt32, settings: CoreSettings, quotas: SharedQuotas,
        signer: SharedAppleSigner?,
        now: Moment, apps: AppTable, applied: UInt64
    ) {
        self.loop = loop
        self.identity = identity
        self.epoch = epoch
        self.settings = settings
        self.quotas = quotas
        self.codec = MessageCodec(serves: true, epoch: epoch)
        self.signer = signer
        self.now = now
        self.apps = apps
        self.applied = applied
    }
}

/// Watches that another call carries, and the calls that carry some, each with its own in the order of its request.
struct CarriedWatches {
    var parts: [Int32: CallPart] = [:]
    var wholes: [Int32: [Int32]] = [:]
}
