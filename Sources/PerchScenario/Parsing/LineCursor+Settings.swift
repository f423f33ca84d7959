import PerchBase
import PerchModel

// Settings of the app, armed failures, and edits of the catalogue.
extension LineCursor {
    mutating func settings() throws(ScenarioFault) -> [AppSettingChange]? {
        if let settings = try self.switches() { return settings }
        if self.take("time rate", "set time rate") {
            _ = self.take("to")
            return [.timeRate(try self.timeRate())]
        }
        if self.take("storefront of the app", "app storefront", "storefront", "set storefront") {
            return [.storefront(try self.word("a storefront such as USA"))]
        }
        if self.take("locale", "set locale") { return [.locale(try self.word("a locale such as en_US"))] }
        if self.take("reset settings", "reset to default state", "reset") { return [.reset] }
        if let settings = try self.failure() { return settings }
        return try self.edit()
    }

    private mutating func switches() throws(ScenarioFault) -> [AppSettingChange]? {
        _ = self.take("set")
        if self.take("ask to buy") { return [.askToBuy(try self.requiredSwitch())] }
        if self.take("interrupted purchases") { return [.interruptedPurchases(try self.requiredSwitch())] }
        if self.take("billing retry on renewal", "billing retry") {
            return [.billingRetryOnRenewal(try self.requiredSwitch())]
        }
        if self.take("dialogs") { return [.dialogs(try self.requiredSwitch())] }
        guard self.take("grace period", "grace") else { return nil }
        var settings: [AppSettingChange] = []
        while !self.isAtEnd {
            if let isOn = self.optionalSwitch() {
                settings.append(.gracePeriod(isOn))
            } else if self.take("for all renewals", "all renewals") {
                settings.append(.gracePeriodForAllRenewals(true))
            } else if self.take("for paid renewals only", "for paid renewals", "paid renewals only") {
                settings.append(.gracePeriodForAllRenewals(false))
            } else if let days = try self.optionalDays() {
                settings.append(.gracePeriodDays(days))
            } else {
                throw self.expected("`on`, `off`, a length such as 16 days, or `for all renewals`")
            }
        }
        guard !settings.isEmpty else { throw self.expected("`on`, `off` or a length such as 16 days") }
        try self.requireOneOfEach(settings)
        // A length switches the grace period on, unless the same line has a switch.
        let saysLength = settings.contains { if case .gracePeriodDays = $0 { true } else { false } }
        let saysSwitch = settings.contains { if case .gracePeriod = $0 { true } else { false } }
        if saysLength, !saysSwitch { settings.insert(.gracePeriod(true), at: 0) }
        return settings
    }

    /// A number of whole days.
    private mutating func optionalDays() throws(ScenarioFault) -> UInt32? {
        let place = self.place
        guard let length = try self.optionalDuration() else { return nil }
        let day: Int64 = 86_400_000
        guard length.months == 0, length.milliseconds >= 0, length.milliseconds % day == 0,
            let days = UInt32(exactly: length.milliseconds / day)
        else { throw ScenarioFault(place, "a grace period is a number of whole days, such as 16 days") }
        return days
    }

    private func requireOneOfEach(_ settings: [AppSettingChange]) throws(ScenarioFault) {
        var seen: Set<String> = []
        for setting in settings {
            switch setting {
            case .gracePeriod: try self.requireFirst("the switch", &seen)
            case .gracePeriodDays: try self.requireFirst("the length", &seen)
            default: try self.requireFirst("the renewals", &seen)
            }
        }
    }

    private mutating func timeRate() throws(ScenarioFault) -> Int32 {
        for rate in TimeRate.all where self.takePhrase(rate.name) { return rate.rawValue }
        if let number = self.optionalNumber() { return Int32(clamping: number) }
        throw self.expected("a time rate", among: TimeRate.all.map(\.name))
    }

    // MARK: Failures

    private mutating func failure() throws(ScenarioFault) -> [AppSettingChange]? {
        if self.take("disarm everything", "disarm all") {
            return StoreKitAPI.names.indices.dropFirst().map {
                .simulatedError(StoreKitAPI(rawValue: Int32($0)), nil)
            }
        }
        if self.take("disarm") { return [.simulatedError(try self.api(), nil)] }
        guard self.take("arm", "fail") else { return nil }
        let api = try self.api()
        if self.take("with"), self.isAtBreak { throw self.expected("an error of StoreKit") }
        var error =
            api == .verification ? SimulatedError(named: "invalidSignature") : SimulatedError(named: "networkError")
        if !self.isAtBreak { error = try self.name(SimulatedError.self, "an error of StoreKit") }
        return [.simulatedError(api, error)]
    }

    private mutating func api() throws(ScenarioFault) -> StoreKitAPI {
        if let api = self.optionalName(StoreKitAPI.self) { return api }
        if self.take("products") { return .loadProducts }
        if self.take("purchases") { return .purchase }
        if self.take("statuses", "status") { return .subscriptionStatus }
        if self.take("current entitlements", "entitlements", "entitlement") { return .currentEntitlement }
        if self.take("sync") { return .appStoreSync }
        if self.take("refund requests", "refund request sheet") { return .refundRequest }
        if self.take("offer code redeem sheet", "code redemption") { return .offerCodeRedeem }
        if self.take("manage subscriptions sheet") { return .manageSubscriptions }
        throw self.expected(
            "what fails", among: StoreKitAPI.names.filter { $0 != "unspecified" } + ["renewals"])
    }

    // MARK: The catalogue

    private mutating func edit() throws(ScenarioFault) -> [AppSettingChange]? {
        if self.take("withdraw") { return try self.editing { (_, edit) in edit.isWithdrawn = true } }
        if self.take("reinstate", "return to sale") {
            return try self.editing { (_, edit) in edit.isWithdrawn = false }
        }
        if self.take("rename") {
            return try self.editing { (line, edit) throws(ScenarioFault) in
                _ = line.take("to")
                edit.displayName = try line.word("the new name")
            }
        }
        if self.take("set price of", "price of", "set the price of", "price") {
            return try self.editing { (line, edit) throws(ScenarioFault) in
                _ = line.take("to")
                edit.priceMilliunits = try line.price()
            }
        }
        if self.take("remove offer") {
            let product = try self.product()
            var offer = try self.offerName()
            offer.isRemoved = true
            return [Self.edit(product, offer)]
        }
        if self.take("offer") {
            let (product, offer) = try self.offerEdit()
            return [Self.edit(product, offer)]
        }
        guard self.take("edit") else { return nil }
        return try self.editing { (line, edit) throws(ScenarioFault) in
            _ = line.take(.colon)
            var seen: Set<String> = []
            repeat {
                let option = line.peek?.normalised ?? ""
                if line.take("price") {
                    edit.priceMilliunits = try line.price()
                } else if line.take("name") {
                    edit.displayName = try line.word("the new name")
                } else if line.take("family shareable", "shareable") {
                    edit.isFamilyShareable = line.optionalSwitch() ?? true
                } else if line.take("withdrawn") {
                    edit.isWithdrawn = line.optionalSwitch() ?? true
                } else {
                    throw line.expected("`price`, `name`, `shareable` or `withdrawn`")
                }
                try line.requireFirst("the \(option)", &seen)
            } while line.take(.comma) || line.take("and") || !line.isAtBreak
        }
    }

    private static func edit(_ product: String, _ offer: OfferEdit) -> AppSettingChange {
        var edit = ProductEdit(productID: product)
        edit.offers = [offer]
        return .product(edit)
    }

    private mutating func editing(
        _ change: (inout LineCursor, inout ProductEdit) throws(ScenarioFault) -> Void
    ) throws(ScenarioFault) -> [AppSettingChange] {
        var edit = ProductEdit(productID: try self.product())
        try change(&self, &edit)
        return [.product(edit)]
    }
}
