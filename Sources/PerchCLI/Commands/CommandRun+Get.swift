import PerchBase
import PerchClient
import PerchModel
import PerchWire

extension CommandRun {
    /// `perch get …`
    func get() async throws {
        try await self.withClient { client in
            switch self.invocation.action {
            case .getProducts:
                let answer = try await client.products(
                    self.texts("ID"), locale: self.settings.text("locale") ?? "",
                    storefront: self.settings.text("storefront") ?? "")
                try self.printer.print(.getProducts(answer.message)) {
                    $0.products(answer.value, answer.info)
                }
            case .getStatus:
                let group = self.texts("GROUP").first
                let (account, moment) = (self.text("ACCOUNT"), try await self.moment(client))
                let answer =
                    if let group {
                        try await client.subscriptionStatus(account: account, group: group, asOf: moment)
                    } else {
                        try await client.subscriptionStatusOfAllGroups(account: account, asOf: moment)
                    }
                if try self.printSigned(answer.value.statuses.flatMap { [$0.transaction.jws, $0.renewalInfo.jws] }) {
                    return
                }
                try self.printer.print(.getSubscriptionStatus(answer.message)) {
                    $0.statuses(answer.value, answer.info, group: group)
                }
            case .getEntitlement:
                let answer = try await client.currentEntitlement(
                    account: self.text("ACCOUNT"), product: self.text("PRODUCT"), asOf: try await self.moment(client))
                if try self.printSigned(answer.value.map { [$0.jws] } ?? []) { return }
                try self.printer.print(.getCurrentEntitlement(answer.message)) {
                    $0.entitlement(answer.value, answer.info, product: self.text("PRODUCT"))
                }
            case .getEntitlements:
                let answer = try await client.currentEntitlements(
                    account: self.text("ACCOUNT"), asOf: try await self.moment(client))
                if try self.printSigned(answer.value.map(\.jws)) { return }
                let list = EntitlementList(transactions: answer.value, info: answer.info.message)
                try self.printer.list("transactions", of: .listCurrentEntitlements(list)) { writer in
                    answer.value.map { writer.transaction($0) }
                }
                if !answer.value.contains(where: \.isVerified), self.printer.format != .json {
                    self.console.talk("\(printable(self.text("ACCOUNT"))) is entitled to nothing")
                }
            case .getHistory:
                try await self.list(
                    client.transactions(
                        account: self.text("ACCOUNT"), product: self.settings.text("product"),
                        includingFinishedConsumables: self.settings.flag("finished-consumables")))
            case .getUnfinished:
                try await self.list(client.unfinished(account: self.text("ACCOUNT")))
            case .getLatest:
                try await self.getLatest(client)
            case .getImage:
                try await self.getImage(client)
            case .getApps:
                try await self.getApps(client)
            default:
                try await self.getRules(client)
            }
        }
    }

    /// Plans, offers and settings: reads about the rules rather than about purchases.
    private func getRules(_ client: PerchClient) async throws {
        switch self.invocation.action {
        case .getPlanOptions:
            let group = self.text("GROUP")
            let found = try await client.planOptions(
                account: self.text("ACCOUNT"), group: group, locale: self.settings.text("locale") ?? "")
            let list = PlanOptionList(
                options: found.value, position: found.position, isNotInCatalog: found.isNotInCatalog)
            try self.printer.list("options", of: .listPlanOptions(list)) { writer in
                let width = found.value.map { printable($0.product.id).count }.max() ?? 0
                return found.value.isEmpty
                    ? ["no plans in group \(printable(group))" + writer.unknown(found.isNotInCatalog)]
                    : found.value.map { writer.planOption($0, width: width) }
            }
        case .getOffers:
            let subject = self.settings.text("product")
            let group = self.settings.text("group")
            guard subject != nil || group != nil else {
                throw UsageError("say which offers: --product PRODUCT or --group GROUP", command: self.invocation.name)
            }
            let found = try await client.offerEligibility(
                account: self.text("ACCOUNT"), group: group ?? "", product: subject ?? "")
            let answer = OfferEligibilityAnswer(
                value: found.value, position: found.position, isNotInCatalog: found.isNotInCatalog)
            try self.printer.list("offers", of: .getOfferEligibility(answer)) {
                found.isNotInCatalog
                    ? $0.noEligibilities(
                        of: subject.map { "product \(printable($0))" } ?? "group \(printable(group ?? ""))")
                    : $0.eligibilities(found.value)
            }
        case .getPolicies:
            let found = try await client.policies(locale: self.settings.text("locale") ?? "")
            try self.printer.print(.getAppPolicies(found.message)) {
                $0.policies(found)
            }
        case .getAppTransaction:
            let found = try await client.appTransactionAnswer(account: self.text("ACCOUNT"))
            if try self.printSigned([found.jws]) { return }
            try self.printer.print(.getAppTransaction(found)) { [$0.appTransaction(found)] }
        case .getCanMakePayments:
            let found = try await client.appTransactionAnswer(account: self.text("ACCOUNT"))
            try self.printer.print(.getAppTransaction(found)) {
                let why = found.arePaymentsForbidden ? "payments are forbidden" : "charges are set to fail"
                return [found.canMakePayments ? $0.paint(.green, "yes") : $0.paint(.red, "no") + "  \(why)"]
            }
        case .getSettings:
            let found = try await client.settings()
            try self.printer.list("settings", of: .getSettings(SettingsList(settings: found))) { writer in
                found.compactMap { writer.setting($0) }
            }
        default:
            preconditionFailure("\(self.invocation.action) is no read")
        }
    }

    private func getLatest(_ client: PerchClient) async throws {
        let product = self.text("PRODUCT")
        let answer = try await client.latestTransaction(account: self.text("ACCOUNT"), product: product)
        if try self.printSigned(answer.value.map { [$0.jws] } ?? []) { return }
        let latest = LatestTransaction(
            transaction: answer.value, position: answer.position, isNotInCatalog: answer.isNotInCatalog)
        try self.printer.print(.getLatestTransaction(latest)) { writer in
            answer.value.map { [writer.transaction($0)] }
                ?? ["no transaction of \(printable(product))" + writer.unknown(answer.isNotInCatalog)]
        }
    }

    /// Writes an image to a file or to standard output, but never to a terminal.
    private func getImage(_ client: PerchClient) async throws {
        let destination = self.settings.text("to")
        guard self.printer.format != .text || destination != nil || !self.console.isTerminal else {
            throw UsageError(
                "an image is not for a terminal; name a file with --to FILE, or redirect the output",
                command: self.invocation.name)
        }
        let image = try await client.image(self.text("ID"))
        let content = image.content ?? []
        if let destination {
            do throws(FileFault) {
                try Files.replace(destination, with: content)
            } catch {
                throw CommandFailure(.failure, "\(error)")
            }
            self.console.talk("\(printable(destination)): \(content.count) bytes, \(printable(image.contentType))")
        } else if self.printer.format == .text {
            try self.console.data(content)
        }
        guard self.printer.format != .text else { return }
        try self.printer.print(.getImage(image.message(withContent: destination == nil))) { _ in [] }
    }

    private func getApps(_ client: PerchClient) async throws {
        let apps = try await client.apps()
        try self.printer.list("apps", of: .listApps(AppList(apps: apps.map(\.message)))) { _ in
            apps.map { app in
                "\(printable(app.bundleID))  \(app.environment)  \(app.productCount) products  "
                    + printable(app.catalogSource)
            }
        }
    }

    /// Prints pages as text and lines when they come, as a document when all are there.
    func list(_ pages: TransactionPages) async throws {
        let limit = self.settings.number("limit") ?? .max
        var all: [Verified<Transaction>] = []
        var count: Int64 = 0
        var token: [UInt8]? = []
        var isNotInCatalog = false
        reading: while let next = token {
            let page = try await pages.page(after: next)
            (token, isNotInCatalog) = (page.nextPageToken, page.isNotInCatalog)
            for transaction in page.transactions {
                if self.printer.format == .json {
                    all.append(transaction)
                } else if try !self.printSigned([transaction.jws]) {
                    try self.list([transaction])
                }
                count += 1
                if count == limit { break reading }
            }
        }
        if self.printer.format == .json {
            let page = PerchWire.TransactionPage(transactions: all, isNotInCatalog: isNotInCatalog)
            try self.printer.print(.listTransactions(page)) { _ in [] }
        } else if count == 0, let product = self.settings.has("product") ? self.settings.text("product") : nil {
            let unknown = isNotInCatalog ? ", which is not in the catalogue" : ""
            self.console.talk("no transactions of \(printable(product))" + unknown)
        } else if count == 0 {
            self.console.talk("no transactions")
        }
    }

    /// Prints signed forms, if they are asked for and the output is text. False: they are not.
    private func printSigned(_ values: [String]) throws -> Bool {
        guard self.settings.has("jws"), self.settings.flag("jws"), self.printer.format == .text else { return false }
        if values.contains("") {
            throw CommandFailure(
                .failure, "Perch signs values of test apps only; those of other apps were signed by the App Store")
        }
        for value in values { try self.console.data(value + "\n") }
        return true
    }

    func list(_ transactions: [Verified<Transaction>]) throws {
        for transaction in transactions {
            let page = PerchWire.TransactionPage(transactions: [transaction])
            try self.printer.list("transactions", of: .listTransactions(page)) { [$0.transaction(transaction)] }
        }
    }
}
