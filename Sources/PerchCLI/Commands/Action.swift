/// The actions of commands. The table names each once, and `CommandRun` switches over all.
package enum Action: Hashable, Sendable, CaseIterable {
    case serve, version
    case watchProducts, watchStatus, watchEntitlement, watchUpdates, watchIntents, watchMessages
    case getProducts, getStatus, getEntitlement, getEntitlements, getHistory, getUnfinished, getLatest, getImage,
        getApps, getPlanOptions, getOffers, getPolicies, getAppTransaction, getCanMakePayments, getSettings,
        explainStatus,
        explainEntitlement
    case storeBuy, storeFinish, storeRefund, storeRenew, storeExpire, storeAutoRenew, storeGenerate
    case storeReverseRefund, storeDeclineRefund, storeConsumption, storeResolve, storeCharges, storeExtend
    case storeRaisePrice, storeAgreePrice, storeDeclinePrice, storeShare, storeStopSharing, storeApprove, storeDecline
    case storeIntent, storeEndIntent, storeMessage, storeDelete, storeClear, storeStorefront
    case storeSync, storeRequestRefund, storeRedeem, storeManageSubscriptions
    case storeSet, storeFail, storeReset, storeProduct, storeList, storeInspect, storeWatch
    case clockShow, clockFreeze, clockResume, clockAdvance, clockTo, clockNext, clockRate
    case catalogCheck, catalogLoad, catalogShow
    case scenarioRun, scenarioCheck
    case tokenCreate, tokenInspect, tokenRevoke, tokenKeyCreate
    case appRemove
    case contextAdd, contextUse, contextList, contextRemove
    case console
    case completion, manual
    case doctor
    case backup, restore
    case benchHot, benchKeyed, benchMux, benchCatalog, benchStorm, benchResume, benchIdle, benchBuy, benchMixed
    case benchScenario
    case benchCompare, benchFigures, benchFloorServer
}
