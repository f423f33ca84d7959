package import PerchApple
package import PerchModel
import PerchStore

extension Reconciler {
    /// An app that may be asked about.
    package struct App: Sendable {
        package var number: AppNumber
        package var app: AppleApp
        package var keyID: String
        /// What the App Store is told about purchases. Updates of the other kind wait in the store.
        package var finishesTransactions: Bool
        package var setsAccountTokens: Bool

        package init(
            number: AppNumber, app: AppleApp, keyID: String, finishesTransactions: Bool, setsAccountTokens: Bool
        ) {
            self.number = number
            self.app = app
            self.keyID = keyID
            self.finishesTransactions = finishesTransactions
            self.setsAccountTokens = setsAccountTokens
        }

        func tells(_ update: AppStoreUpdate) -> Bool {
            switch update.kind {
            case .finish: self.finishesTransactions
            case .token: self.setsAccountTokens
            }
        }
    }
}
