/// Every limit of Perch, with its unit, its reason and what happens when it is reached. Settings may change the ones
/// that say so.
public enum Limits {
    /// Subscription lines and owned products of one account. Beyond it a purchase is refused with RECORD_LIMIT: a record
    /// is read and sent whole.
    public static let recordEntriesMax = 4_096
}
