/// What commands do. The table names each once; who runs them switches over all.
package enum Action: Hashable, Sendable, CaseIterable {
    case serve
    case watchProducts, watchStatus, watchEntitlement, watchUpdates
    case getProducts, getStatus, getEntitlement, getEntitlements, getHistory, getUnfinished, getLatest, getImage,
        getApps
    case storeBuy, storeFinish, storeRefund, storeRenew, storeExpire, storeAutoRenew, storeGenerate
    case clockShow, clockFreeze, clockResume, clockAdvance, clockTo, clockNext, clockRate
    case catalogCheck, catalogLoad, catalogShow
    case doctor
}
