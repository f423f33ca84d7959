import PerchBase
import PerchModel
import PerchStore
import PerchWire
import Synchronization

/// Copies of apps' entitlements, and what streams of apps do in this tick.
struct AppStreams {
    var copies: [Int32: CopyState] = [:]
    /// Batches of copies that are encoded in this tick, each with one reference.
    var encodedBatches: [BatchName: PayloadHandle] = [:]
    /// Streams of apps' changes that ask at the end of this tick's input.
    var changesToAsk: [Int32] = []
}

/// Counts of the records that were asked of the store.
struct RecordLoads {
    var asked: UInt64 = 0
    var answered: UInt64 = 0
    /// Number of questions that the answers for an app-wide change come after.
    var sweptThrough: UInt64 = 0
    /// Barriers of the store, each with the number of questions before it.
    var barriers: [(number: UInt64, asked: UInt64)] = []
}

/// The views and their watches, the accounts behind them, and the work of this tick.
struct Views: ~Copyable {
    /// Makes the struct immovable, as that of `LoopCore` does.
    private let anchor = Atomic<Bool>(false)

    var slots = Slab<ViewSlot>()
    var accounts = Slab<AccountSlot>()
    var encodings = Slab<Encodings>()

    // The slots by key.
    var viewTable = SlotTable()
    var accountTable = SlotTable()
    /// The first slot of each account number.
    var numberTable = SlotTable()

    // Outside of the slabs: data that is not plain, used only when a view is created or computed.
    var viewKeys = ViewKeys()
    var accountKeys = KeyStore()
    var updates: [Int32: UpdatesState] = [:]
    var appChanges: [Int32: AppChangesState] = [:]
    /// Changes of apps that are encoded in this tick, each with one reference.
    var encodedChanges: [ChangeName: EncodedChange] = [:]
    /// The newest change of each app that was applied in this tick.
    var newestAppChanges: [AppNumber: UInt64] = [:]
    var appStreams = AppStreams()
    /// Digests of the last sent values of watches whose view has changed at least twice since.
    var lateReaders: [Int32: Digest] = [:]
    var crossings: [AppNumber: TimerHeap] = [:]
    /// The first message of a call without a token: the same bytes for all.
    let loading: PayloadHandle

    var loads = RecordLoads()
    /// Accounts affected by an app-wide change, whose records are asked for in pieces.
    var sweep: [Int32] = []

    /// Views whose last load failed.
    var failedViewCount = 0
    /// Accounts whose record could not be read, and the monotonic millisecond at which one of them is asked for again.
    var failedAccounts: [Int32] = []
    var asksAgainAt: Int64 = 0

    // This turn.
    var listedViews: [Int32] = []
    var listedAccounts: [Int32] = []
    /// The news of each of `listedAccounts` in this tick.
    var news: [AccountNews] = []

    init(loading: PayloadHandle) { self.loading = loading }
}
