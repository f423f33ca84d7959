import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// Who watches what: views, the accounts behind them, and what is computed this turn.
struct Views: ~Copyable {
    var slots = Slab<ViewSlot>()
    var accounts = Slab<AccountSlot>()
    var encodings = Slab<Encodings>()

    // Which slot a key stands for.
    var viewTable = SlotTable()
    var accountTable = SlotTable()
    /// The first slot of an account's number.
    var numberTable = SlotTable()

    // Beside the slabs: what is not plain, touched only when a view is made or computed.
    var viewKeys = ViewKeys()
    var accountKeys = KeyStore()
    var updates: [Int32: UpdatesState] = [:]
    /// Digests of what was said last to watches whose view has changed twice or more since.
    var lateReaders: [Int32: Digest] = [:]
    var crossings: [AppNumber: TimerHeap] = [:]
    /// The first message of a call without a token: the same bytes for all.
    let loading: PayloadHandle

    /// Accounts whose views an app-wide change concerns, and how many questions to the store their answers are behind.
    var sweep: [Int32] = []
    var sweptThrough: UInt64 = 0

    // This turn.
    var listedViews: [Int32] = []
    var listedAccounts: [Int32] = []
    /// What came this turn of each of `listedAccounts`.
    var news: [AccountNews] = []

    init(loading: PayloadHandle) { self.loading = loading }
}
