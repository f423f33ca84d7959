import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct FindCustomers: MethodHandler {
    let asked: FindCustomersRequest

    func check() throws(CallRefusal) {
        try Check.present(self.asked.text, "text")
        try Check.atMost(Limits.accountKeyBytesMax, self.asked.text, "text")
        guard self.asked.pageSize <= Limits.customersFoundMax else {
            throw CallRefusal(
                .fieldInvalid, "page_size is \(self.asked.pageSize), the limit is \(Limits.customersFoundMax)",
                details: [.field("page_size"), .found(self.asked.pageSize), .limit(Limits.customersFoundMax)])
        }
        for kind in self.asked.kinds where !kind.isKnown {
            throw CallRefusal(
                .fieldInvalid, "kinds has \(kind.rawValue), which this server does not know; leave it out",
                details: [.field("kinds"), .found(kind.rawValue)])
        }
    }

    func begin(_ context: MethodContext) -> Step {
        let limit = self.asked.pageSize == 0 ? Limits.customersFoundDefault : Int(self.asked.pageSize)
        return .ask(
            .customers(
                context.app.number, CustomersSought(self.asked.text, kinds: Set(self.asked.kinds), limit: limit)))
    }

    func finish(_ found: StoreAnswer, _ context: MethodContext) -> Step {
        guard case .customers(let names, let hasMore) = found else { preconditionFailure("customers were sought") }
        let customers = names.map { name in
            FoundCustomer(
                account: String(decoding: name.key, as: UTF8.self), isUnclaimed: name.key.isEmpty, kind: name.kind,
                name: name.name, originalTransactionID: name.original ?? 0)
        }
        return Self.step(CustomersFound(customers: customers, hasMore: hasMore))
    }
}
