/// One thing that an account shares with a member of its family.
package struct FamilyShare: Hashable, Sendable {
    /// The purchaser's line or non-consumable, by the ID of its first transaction.
    package var original: TransactionID
    package var member: AccountNumber
    /// The member's line or non-consumable, by the ID of its first transaction.
    package var memberOriginal: TransactionID

    package init(original: TransactionID, member: AccountNumber, memberOriginal: TransactionID) {
        self.original = original
        self.member = member
        self.memberOriginal = memberOriginal
    }
}
