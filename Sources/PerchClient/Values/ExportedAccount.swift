public import PerchModel
package import PerchWire

/// Everything that the store knows of an account.
public struct ExportedAccount: Hashable, Sendable {
    package var message: AccountExport

    package init(_ message: AccountExport) { self.message = message }

    /// Keys that callers use for the account.
    public var keys: [String] { self.message.keys }
    /// The app's own UUIDs for the customer.
    public var appAccountTokens: [String] { self.message.appAccountTokens }
    /// Apple's numbers of the customer in this app.
    public var appTransactionIDs: [String] { self.message.appTransactionIDs }
    /// What the account has, by groups and products.
    public var details: AccountDetails { AccountDetails(self.message.inspection) }
    /// All transactions, oldest first.
    public var transactions: [Verified<Transaction>] { self.message.transactions }
}
