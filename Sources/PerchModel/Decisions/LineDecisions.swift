import PerchBase

func decideRefund(
    of target: OperationTarget, reason: RevocationReason, share: RefundShare, _ subject: OperationSubject,
    app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideReversal(of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant)
    throws(Refusal) -> OperationDecision
{
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideNothing(about target: OperationTarget, _ subject: OperationSubject) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideForcedRenewal(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideExpiry(of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant) throws(Refusal)
    -> OperationDecision
{
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideAutoRenew(_ isOn: Bool, of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant)
    throws(Refusal) -> OperationDecision
{
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideRecovery(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideCharges(fail: Bool?, _ subject: OperationSubject, now: Instant) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decidePriceIncrease(
    of target: OperationTarget, milliunits: Int64, needsConsent: Bool?, _ subject: OperationSubject, app: AppState,
    now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decidePriceAnswer(
    of target: OperationTarget, agrees: Bool, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideExtension(
    of target: OperationTarget, milliseconds: Int64, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideSharing(
    of target: OperationTarget, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideEndOfSharing(
    of target: OperationTarget?, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideDeletion(
    of id: TransactionID, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}

func decideClearing(_ subject: OperationSubject, app: AppState, now: Instant) throws(Refusal) -> OperationDecision {
    throw Refusal(.purchaseNotAllowed, "not decided yet")
}
