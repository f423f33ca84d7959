import PerchBase
import PerchJSON
import PerchModel
import PerchStore

/// An extension of all subscriptions to a product. The App Store works on it for hours; a test store is done before it answers.
struct MassExtension {
    struct Name: Hashable {
        var app: AppNumber
        var product: String
        var request: String
    }

    var completed = Instant.distantPast
    var succeeded: Int64 = 0
    var failed: Int64 = 0
}

extension TwinDesk {
    func extendAll(_ call: Call) throws(TwinError) -> TwinStep {
        let fields = try call.request.fields()
        let order = try ExtensionOrder(fields)
        guard let product = fields["productId"]?.string, !product.isEmpty else { throw .invalidProductID }
        var storefronts: Set<String> = []
        if let countries = fields["storefrontCountryCodes"]?.array {
            guard !countries.isEmpty else { throw .noCountries }
            for country in countries {
                guard let code = country.string, code.utf8.count == 3 else { throw .invalidCountry }
                storefronts.insert(code)
            }
        }
        let name = MassExtension.Name(app: call.app.number, product: product, request: order.request)
        // Asked again, nothing is extended twice.
        guard call.request.host != .production, self.massExtensions[name] == nil else { return Self.accepted(order) }
        if self.massExtensions.count >= Limits.twinMassExtensionsKept { self.massExtensions = [:] }
        self.massExtensions[name] = MassExtension()
        return self.extend(
            [], after: [], isLast: false, name, order, includes: { storefronts.isEmpty || storefronts.contains($0) },
            call)
    }

    private static func accepted(_ order: ExtensionOrder) -> TwinStep {
        .answer { $0.member("requestIdentifier", order.request) }
    }

    /// Extends the lines that are known, one after another, and then those of the next accounts.
    private func extend(
        _ lines: ArraySlice<TransactionID>, after key: [UInt8], isLast: Bool, _ name: MassExtension.Name,
        _ order: ExtensionOrder, includes: @escaping (String) -> Bool, _ call: Call
    ) -> TwinStep {
        if let line = lines.first {
            let operation = StoreOperation.extendRenewal(.transaction(line), milliseconds: order.milliseconds)
            var mutation = Mutation.operation(operation, account: nil, app: call.app.number)
            mutation.audit = Self.audit("extendAll", "\(line) by \(order)", call)
            return .ask(.mutate(mutation)) { answer throws(TwinError) in
                switch answer {
                case .mutated: self.massExtensions[name]?.succeeded += 1
                case .refused: self.massExtensions[name]?.failed += 1
                default: preconditionFailure("a mutation was asked for")
                }
                return self.extend(
                    lines.dropFirst(), after: key, isLast: isLast, name, order, includes: includes, call)
            }
        }
        guard !isLast else {
            self.massExtensions[name]?.completed = call.wall
            return Self.accepted(order)
        }
        let asked = StoreRequest.Body.accounts(
            call.app.number, after: key, limit: Limits.twinAccountsAtOnce, once: true)
        return .ask(asked) { answer throws(TwinError) in
            switch answer {
            case .accounts(let accounts, let next):
                let lines = accounts.flatMap { $0.record.lines }.filter { line in
                    line.isOwn && line.latest.productID == name.product && line.latest.revocation == nil
                        && includes(line.latest.storefront.countryCode)
                }
                return self.extend(
                    lines.map(\.latest.id)[...], after: next ?? [], isLast: next == nil, name, order,
                    includes: includes, call)
            case .refused(let refusal):
                self.massExtensions[name] = nil
                throw TwinError(refusal)
            default: preconditionFailure("accounts were asked for")
            }
        }
    }

    func extendedAll(_ product: String, _ request: String, _ call: Call) throws(TwinError) -> TwinStep {
        let name = MassExtension.Name(app: call.app.number, product: product, request: request)
        guard call.request.host != .production, let done = self.massExtensions[name] else { throw .requestNotFound }
        return .answer { writer in
            let isComplete = done.completed > .distantPast
            writer.member("requestIdentifier", request)
            writer.member("complete", isComplete)
            if isComplete { writer.member("completeDate", done.completed.milliseconds) }
            writer.member("succeededCount", done.succeeded)
            writer.member("failedCount", done.failed)
        }
    }
}
