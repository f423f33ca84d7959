import PerchBase

func decideOrder(
    _ order: PurchaseOrder, _ subject: OperationSubject, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decidePending(
    _ id: UInt64, approves: Bool, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideIntent(
    _ productID: String, offer: OrderedOffer?, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideEndOfIntent(_ id: UInt64, _ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideStorefront(_ storefront: String, _ subject: OperationSubject, now: Instant) throws(Refusal)
    -> OperationDecision
{
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideMessage(_ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}
