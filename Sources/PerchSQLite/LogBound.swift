import PerchBase

/// The length of the log at which it is moved into the file.
///
/// All callers wait for a checkpoint, and its duration depends on the number of different pages. A thousand busy accounts
/// change the same few hundred pages again and again. There a log four times as long has hardly more different pages, and a
/// fourth as many purchases wait for a checkpoint. With many accounts nearly every page is different, and a longer log only
/// means a longer wait.
struct LogBound {
    private(set) var bytes = Limits.storeLogBytes

    /// Adapts the bound to the number of pages of a checkpoint. Between the two limits the bound stays: a log of twice the length
    /// has at most twice the pages, so a bound that grew does not shrink at once.
    mutating func wasMoved(pages: Int) {
        if pages <= Limits.checkpointPagesFew {
            self.bytes = min(2 * self.bytes, Limits.storeLogFileBytes)
        } else if pages > 2 * Limits.checkpointPagesFew {
            self.bytes = max(self.bytes / 2, Limits.storeLogBytes)
        }
    }
}
