/// One thing that an account shares with a member of its family.
package struct FamilyShare: Hashable, Sendable {
    /// The purchaser's line, or its transaction of a non-consumable, by the first transaction's number.
    package var original: TransactionID
    package var member: AccountNumber
    /// The same as the member has it.
    package var memberOriginal: TransactionID

    package init(original: TransactionID, member: AccountNumber, memberOriginal: TransactionID) {
        self.original = original
        self.member = member
        self.memberOriginal = memberOriginal
    }
}
