import PerchBase
import PerchJSON
import PerchWire

// Forms of a message: what its stream reads. Each is made once a turn, and shared by all streams that read it.
extension LoopCore {
    /// The form of a watch's next value that its stream reads.
    @inline(__always)
    mutating func form(of call: Int32, _ slot: HTTPStream) -> PayloadHandle {
        if slot.flags.contains(.acceptsZlib), !slot.flags.contains(.isJSON) { self.compressForReader(call) }
        if slot.flags.isDisjoint(with: [.isJSON, .acceptsGzip])
            || slot.flags.contains(.acceptsZlib)
                && !slot.flags.contains(.isJSON)
        {
            return self.encoding(for: call, zlib: slot.flags.contains(.acceptsZlib))
        }
        let plain = self.encoding(for: call, zlib: false)
        return plain.isNone ? .none : self.form(of: plain, slot, self.calls[call].method)
    }

    /// The form of a plain message that a stream reads: made once a turn, and shared by all that read it.
    mutating func form(of plain: PayloadHandle, _ slot: HTTPStream, _ method: Method) -> PayloadHandle {
        if slot.form == .events { return self.event(of: plain, method) }
        if slot.flags.contains(.isJSON) {
            if let known = self.transport.http.forms[plain.index]?.json, !known.isNone { return known }
            let made = self.json(of: plain, method)
            self.keepForm(plain) { $0.json = made }
            return made
        }
        guard slot.flags.contains(.acceptsGzip), !slot.flags.contains(.acceptsZlib) else { return plain }
        if let known = self.transport.http.forms[plain.index] {
            if !known.gzip.isNone { return known.gzip }
            if known.isGzipUseless { return plain }
        }
        let made = self.gzipped(plain)
        self.keepForm(plain) { forms in
            forms.gzip = made
            forms.isGzipUseless = made.isNone
        }
        return made.isNone ? plain : made
    }

    /// A message as an event of `text/event-stream`.
    private mutating func event(of plain: PayloadHandle, _ method: Method) -> PayloadHandle {
        if let known = self.transport.http.forms[plain.index]?.event, !known.isNone { return known }
        let message = UnsafeRawBufferPointer(rebasing: self.payloads[plain][5...])
        let text = self.codec.json(ofResponse: method, message)
        var bytes: [UInt8] = []
        if let id = self.codec.resumeToken(ofResponse: method, message) {
            bytes.append(contentsOf: "id: ".utf8)
            bytes.append(contentsOf: Base64.unpadded(id).utf8)
            bytes.append(10)
        }
        bytes.append(contentsOf: "data: ".utf8)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: [10, 10])
        let made = self.payloads.insert(bytes)
        self.keepForm(plain) { $0.event = made }
        return made
    }

    /// Keeps another form beside a plain message, which stays until the end of the turn.
    private mutating func keepForm(_ plain: PayloadHandle, _ set: (inout MessageForms) -> Void) {
        if self.transport.http.forms[plain.index] == nil { self.payloads.retain(plain) }
        set(&self.transport.http.forms[plain.index, default: MessageForms()])
    }

    /// Once a turn: forms and bookmark are let go.
    mutating func forgetForms() {
        if !self.transport.http.bookmark.isNone {
            self.payloads.release(self.transport.http.bookmark)
            self.transport.http.bookmark = .none
        }
        guard !self.transport.http.forms.isEmpty else { return }
        for (plain, forms) in self.transport.http.forms {
            for form in [forms.gzip, forms.json, forms.event] where !form.isNone { self.payloads.release(form) }
            self.payloads.release(PayloadHandle(index: plain))
        }
        self.transport.http.forms.removeAll(keepingCapacity: true)
    }

    mutating func loadingJSON(_ slot: HTTPStream) -> PayloadHandle {
        self.form(of: self.views.loading, slot, .subscriptionStatusTask)
    }

    /// Up to where everything on a stream has been said: one message for all streams of a turn.
    mutating func bookmark(_ slot: HTTPStream) -> PayloadHandle {
        if self.transport.http.bookmark.isNone {
            let bookmark = Bookmark(revision: self.applied, serverTime: self.now.wall)
            self.transport.http.bookmark = self.encoded { codec throws(MessageError) in
                try codec.encode(bookmark: bookmark)
            }
        }
        return self.form(of: self.transport.http.bookmark, slot, .subscriptionStatusTask)
    }
}
