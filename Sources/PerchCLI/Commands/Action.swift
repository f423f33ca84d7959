/// The actions of commands. The table names each once, and `CommandRun.run` switches over all.
package enum Action: Hashable, Sendable, CaseIterable {
    case serve, version
    case watchProducts, watchStatus, watchEntitlement, watchEntitlements, watchUpdates, watchIntents, watchMessages,
        watchChanges
    case getProducts, getStatus, getEntitlement, getEntitlements, getHistory, getUnfinished, getLatest, getImage,
        getApps, getPlanOptions, getOffers, getPolicies, getAppTransaction, getCanMakePayments, getSettings,
        explainAccount, explainStatus, explainEntitlement
    case storeBuy, storeFinish, storeRefund, storeRenew, storeExpire, storeAutoRenew, storeGenerate, storeMigrate
    case storeRestored
    case storeReverseRefund, storeDeclineRefund, storeConsumption, storeResolve, storeCharges, storeExtend
    case storeCanMakePayments, storeAppTransaction
    case storeRaisePrice, storeAgreePrice, storeDeclinePrice, storeShare, storeStopSharing, storeApprove, storeDecline
    case storeIntent, storeEndIntent, storeMessage, storeDelete, storeClear, storeStorefront
    case storeSync, storeRequestRefund, storeRedeem, storeManageSubscriptions
    case storeSet, storeFail, storeReset, storeMishap, storeProduct, storeList, storeInspect, storeWatch
    case clockShow, clockFreeze, clockResume, clockAdvance, clockTo, clockNext, clockRate
    case catalogCheck, catalogLoad, catalogShow
    case scenarioRun, scenarioCheck
    case tokenCreate, tokenInspect, tokenRevoke, tokenKeyCreate
    case appRemove
    case entitlementsList, entitlementsGrant, entitlementsRevoke, entitlementsPass, copyKeep
    case audit
    case appleRootShow, twin
    case ingest, deadLettersList, deadLettersRetry, deadLettersDrop
    case appleReconcile, appleConsumptionList, appleConsumptionAnswer
    case accountNote, accountNotes, accountDeleteNote
    case accountFind, accountUnclaimed, accountAttach, accountDetach, accountMove, accountMerge, accountErase,
        accountExport
    case contextAdd, contextUse, contextList, contextRemove
    case console
    case completion, manual
    case doctor, nodes
    case backup, restore
    case benchHot, benchKeyed, benchMux, benchCatalog, benchStorm, benchResume, benchIdle, benchBuy, benchMixed
    case benchScenario
    case benchCompare, benchFigures, benchFloorServer
}

extension CommandRun {
    /// Runs the command.
    func run() async throws -> ExitCode {
        switch self.invocation.action {
        case .serve: preconditionFailure("a server runs on the main thread, see Serve")
        case .version: try self.console.data(Tool.versionLine)
        case .benchHot, .benchKeyed, .benchMux, .benchCatalog, .benchStorm, .benchResume, .benchIdle, .benchBuy,
            .benchMixed, .benchScenario, .benchCompare, .benchFigures, .benchFloorServer:
            preconditionFailure("a bench runs on the main thread, see BenchRun")
        case .watchProducts, .watchStatus, .watchEntitlement, .watchEntitlements, .watchUpdates, .watchIntents,
            .watchMessages, .watchChanges:
            return try await self.watch()
        case .getProducts, .getStatus, .getEntitlement, .getEntitlements, .getHistory, .getUnfinished, .getLatest,
            .getImage, .getApps, .getPlanOptions, .getOffers, .getPolicies, .getAppTransaction,
            .getCanMakePayments, .getSettings:
            try await self.get()
        case .explainAccount, .explainStatus, .explainEntitlement: try await self.explain()
        case .storeBuy, .storeFinish, .storeRefund, .storeRenew, .storeExpire, .storeAutoRenew:
            try await self.changeStore()
        case .storeReverseRefund, .storeDeclineRefund, .storeConsumption, .storeResolve, .storeCharges, .storeExtend,
            .storeRaisePrice, .storeAgreePrice, .storeDeclinePrice, .storeShare, .storeStopSharing, .storeApprove,
            .storeDecline, .storeIntent, .storeEndIntent, .storeMessage, .storeDelete, .storeClear, .storeStorefront,
            .storeCanMakePayments, .storeAppTransaction:
            try await self.operate()
        case .storeSync, .storeRequestRefund, .storeRedeem, .storeManageSubscriptions: try await self.askAsCustomer()
        case .storeSet, .storeFail, .storeReset, .storeProduct: try await self.configure()
        case .storeMishap: try await self.orderMishap()
        case .storeList, .storeInspect: try await self.look()
        case .storeWatch: return try await self.watchStore()
        case .clockShow, .clockFreeze, .clockResume, .clockAdvance, .clockTo, .clockNext, .clockRate:
            try await self.moveClock()
        case .storeGenerate: try self.generate()
        case .storeMigrate: try self.migrate()
        case .storeRestored: try self.declareRestored()
        case .catalogCheck: try self.checkCatalogue()
        case .catalogLoad: try await self.loadCatalogue()
        case .catalogShow: try await self.showCatalogue()
        case .scenarioRun: return try self.runScenarios()
        case .scenarioCheck: return try self.checkScenarios()
        case .backup: try await self.backUp()
        case .restore: try self.restore()
        case .tokenCreate, .tokenInspect, .tokenRevoke, .tokenKeyCreate: try await self.token()
        case .contextAdd, .contextUse, .contextList, .contextRemove: try self.context()
        case .console: return try await self.openConsole()
        case .completion: try self.complete()
        case .manual: try self.writeManual()
        case .appRemove: try self.removeApp()
        case .appleRootShow: try await self.showAppleRoot()
        case .twin: try self.showTwin()
        case .ingest: try await self.ingest()
        case .audit: try await self.audit()
        case .entitlementsList, .entitlementsGrant, .entitlementsRevoke, .entitlementsPass:
            try await self.entitlements()
        case .copyKeep: return try await self.keepCopy()
        case .deadLettersList, .deadLettersRetry, .deadLettersDrop: try await self.deadLetters()
        case .appleReconcile: return try await self.reconcile()
        case .appleConsumptionList, .appleConsumptionAnswer: try await self.consumption()
        case .accountUnclaimed: try await self.unclaimedPurchases()
        case .accountFind, .accountAttach, .accountDetach, .accountMove, .accountMerge: try await self.account()
        case .accountNote, .accountNotes, .accountDeleteNote: try await self.notes()
        case .accountErase: try await self.eraseAccount()
        case .accountExport: try await self.exportAccount()
        case .doctor: return try await self.examine()
        case .nodes: try await self.listNodes()
        }
        return .success
    }
}
