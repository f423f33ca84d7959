import PerchBase

/// How long the log may become before it is moved into the file.
///
/// Everybody waits for a checkpoint, for as long as it has different pages to write. A thousand accounts that are busy
/// change the same few hundred pages over and over: four times the log holds hardly more of them, and a fourth as many
/// purchases meet a checkpoint. Where accounts are many, each page is its own, and a longer log is only a longer wait.
struct LogBound {
    private(set) var bytes = Limits.storeLogBytes

    /// So many pages the log held in the end. Between the two figures nothing changes: the double of a log has at most twice
    /// the pages, so what grew does not shrink at once.
    mutating func wasMoved(pages: Int) {
        if pages <= Limits.checkpointPagesFew {
            self.bytes = min(2 * self.bytes, Limits.storeLogFileBytes)
        } else if pages > 2 * Limits.checkpointPagesFew {
            self.bytes = max(self.bytes / 2, Limits.storeLogBytes)
        }
    }
}
