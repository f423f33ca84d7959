/// A call as its frame carries it. `request` is a range of the frame's message, so that a catalogue file is not copied.
package struct Call: Hashable, Sendable {
    /// The called method; nil if there is no such method.
    package var method: Method?
    private var unknownPath = ""
    /// 0 for no deadline.
    package var timeoutMilliseconds: UInt64
    package var metadata: [Metadata]
    /// Offsets into the decoded bytes.
    package var request: Range<Int>

    package init(path: String, timeoutMilliseconds: UInt64 = 0, metadata: [Metadata] = [], request: Range<Int> = 0..<0)
    {
        self.timeoutMilliseconds = timeoutMilliseconds
        self.metadata = metadata
        self.request = request
        self.path = path
    }

    /// A call of a known method; its path is not looked up again.
    init(_ method: Method?) {
        self.method = method
        self.timeoutMilliseconds = 0
        self.metadata = []
        self.request = 0..<0
    }

    /// As the caller wrote it.
    package var path: String {
        get { self.method?.path ?? self.unknownPath }
        set {
            self.method = Method(path: newValue)
            self.unknownPath = self.method == nil ? newValue : ""
        }
    }
}
