package import PerchBase

// MARK: What the twin of the App Store remembers

extension Limits {
    /// Notifications that are delivered, given up or lost, and whose attempts are remembered. Twice as many forget the oldest.
    static let twinDeliveriesKept = 50_000

    /// Notifications of an app that wait for an attempt. While there are so many, further ones stay in the changes of the store.
    static let twinOutboxMax = 2_000

    /// Notifications of an app since the oldest one that was not tried, as where a mishap delays it. While there are so many, further ones
    /// stay in the changes of the store. It is less than what `twinDeliveriesKept` remembers, so that a start sends none of them again.
    static let twinUntriedMax = 40_000

    /// Bytes that the file of an outbox may grow by before it is written anew.
    package static let twinOutboxBytes = 16 * 1024 * 1024

    /// Stores whose outboxes stay in the directory of a twin, those that were served last.
    package static let twinStoresKept = 20

    /// Images, and messages, that an app may upload, as at Apple.
    static let twinImagesMax = 2_000
    static let twinMessagesMax = 2_000

    /// Bytes of a request that uploads an image. A longer one closes the connection.
    package static let twinImageBytesMax = 16 * 1024 * 1024

    /// Connections that may upload an image at the same time. One more is refused.
    package static let twinUploadsMax = 4
}
