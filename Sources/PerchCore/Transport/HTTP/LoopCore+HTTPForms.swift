import PerchBase
import PerchJSON
import PerchWire

/// The form in which a peer reads messages.
enum ReadForm: UInt8 {
    case plain
    case zlib
    case gzip
    case json
    case jsonGzip
    /// An event of `text/event-stream`.
    case event
}

extension HTTPStream {
    var reads: ReadForm {
        @inline(__always) get {
            if self.flags.isDisjoint(with: [.isJSON, .acceptsZlib, .acceptsGzip]) { return .plain }
            guard self.flags.contains(.isJSON) else { return self.flags.contains(.acceptsZlib) ? .zlib : .gzip }
            if self.form == .events { return .event }
            return self.form == .connectStream && self.flags.contains(.acceptsGzip) ? .jsonGzip : .json
        }
    }
}

// Forms of a message: what its peer reads. Each is made once, shared by all that read it, and lives as long as the message.
extension LoopCore {
    /// The form of a watch's next value; none where it is being computed.
    @inline(__always)
    mutating func form(of call: Int32, _ form: ReadForm) -> PayloadHandle {
        let zlib = form == .zlib
        if let part = self.tables.part(call) {
            let whole = self.envelope(ofValue: call, part, zlib: zlib)
            return whole.isNone || zlib ? whole : self.form(of: whole, form, .watch)
        }
        if zlib { self.compressForReader(call) }
        let body = self.views.encoding(for: call, zlib: zlib, self.tables)
        return body.isNone || zlib || form == .plain ? body : self.form(of: body, form, self.tables.calls[call].method)
    }

    private mutating func compressForReader(_ call: Int32) {
        let view = self.tables.calls[call].view
        let flags = self.tables.calls[call].flags
        guard view >= 0, !flags.contains(.owesUnchanged) else { return }
        let place = self.views.slots[view].encodings
        guard place >= 0 else { return }
        if flags.contains(.isFirst) {
            guard !self.views.encodings[place].snapshot.isNone, self.views.encodings[place].snapshotZlib.isNone else {
                return
            }
            self.views.encodings[place].snapshotZlib = self.views.compressed(
                self.views.encodings[place].snapshot, .none, &self.tables)
        } else {
            guard !self.views.encodings[place].change.isNone, self.views.encodings[place].changeZlib.isNone else {
                return
            }
            self.views.encodings[place].changeZlib = self.views.compressed(
                self.views.encodings[place].change, .none, &self.tables)
        }
    }

    /// The form of an event.
    mutating func form(ofEvent event: PayloadHandle, _ call: Int32, _ form: ReadForm) -> PayloadHandle {
        guard let part = self.tables.part(call) else {
            return self.form(of: event, form, self.tables.calls[call].method)
        }
        return self.form(of: self.envelope(of: event, call, part), form, .watch)
    }

    /// The form of a plain message.
    mutating func form(of plain: PayloadHandle, _ form: ReadForm, _ method: Method) -> PayloadHandle {
        switch form {
        case .plain, .zlib: plain
        case .gzip: self.gzipForm(of: plain)
        case .json: self.jsonForm(of: plain, method)
        case .jsonGzip: self.gzipForm(of: self.jsonForm(of: plain, method), plain)
        case .event: self.event(of: plain, method)
        }
    }

    private mutating func gzipForm(of plain: PayloadHandle) -> PayloadHandle {
        if let known = self.tables.payloads.forms[plain.index] {
            if !known.gzip.isNone { return known.gzip }
            if known.isGzipUseless { return plain }
        }
        let made = self.gzipOfZlib(plain)
        self.tables.payloads.setForms(of: plain) { forms in
            forms.gzip = made
            forms.isGzipUseless = made.isNone
        }
        return made.isNone ? plain : made
    }

    /// The gzip form of a plain message, from the deflated bytes of its zlib form.
    private mutating func gzipOfZlib(_ plain: PayloadHandle) -> PayloadHandle {
        guard self.tables.payloads[plain].count >= Limits.compressBytesMin + 5 else { return .none }
        let message = UnsafeRawBufferPointer(rebasing: self.tables.payloads[plain][5...])
        var zlib = self.tables.payloads.forms[plain.index]?.zlib ?? .none
        if zlib.isNone {
            guard let smaller = self.tables.codec.compressed(message) else { return .none }
            self.tables.counters.valuesCompressed += 1
            zlib = self.tables.payloads.insert(smaller.prefixed)
            self.tables.payloads.setForms(of: plain) { $0.zlib = zlib }
        }
        let deflated = UnsafeRawBufferPointer(rebasing: self.tables.payloads[zlib][5...])
        guard let bytes = MessageCodec.gzip(deflated, of: message) else { return .none }
        return self.tables.payloads.insert(bytes)
    }

    // MARK: Envelopes

    /// A message of a watch that another call carries, with the place of the watch. Made once for all calls that have the watch
    /// at the same place.
    mutating func envelope(of plain: PayloadHandle, _ call: Int32, _ part: CallPart) -> PayloadHandle {
        if let known = self.tables.payloads.forms[plain.index]?.envelopes[part.number] { return known }
        guard let field = self.tables.calls[call].method.watchField else {
            preconditionFailure("\(self.tables.calls[call].method.path) is no watch")
        }
        let message = UnsafeRawBufferPointer(rebasing: self.tables.payloads[plain][5...])
        let made = self.tables.payloads.insert(MessageCodec.envelope(message, watch: part.number, field: field))
        self.tables.payloads.setForms(of: plain) { $0.envelopes[part.number] = made }
        return made
    }

    /// The next value of such a watch; none where it is being computed.
    mutating func envelope(ofValue call: Int32, _ part: CallPart, zlib: Bool) -> PayloadHandle {
        let plain = self.views.encoding(for: call, zlib: false, self.tables)
        guard !plain.isNone else { return .none }
        let whole = self.envelope(of: plain, call, part)
        guard zlib else { return whole }
        if let known = self.tables.payloads.forms[whole.index]?.zlib, !known.isNone { return known }
        guard self.tables.payloads[whole].count >= Limits.compressBytesMin + 5,
            let smaller = self.tables.codec.compressed(
                UnsafeRawBufferPointer(rebasing: self.tables.payloads[whole][5...]))
        else { return whole }
        self.tables.counters.valuesCompressed += 1
        let made = self.tables.payloads.insert(smaller.prefixed)
        self.tables.payloads.setForms(of: whole) { $0.zlib = made }
        return made
    }

    private mutating func jsonForm(of plain: PayloadHandle, _ method: Method) -> PayloadHandle {
        if let known = self.tables.payloads.forms[plain.index]?.json, !known.isNone { return known }
        let made = self.transport.json(of: plain, method, &self.tables)
        self.tables.payloads.setForms(of: plain) { $0.json = made }
        return made
    }

    /// The compressed JSON of a plain message.
    private mutating func gzipForm(of json: PayloadHandle, _ plain: PayloadHandle) -> PayloadHandle {
        if let known = self.tables.payloads.forms[plain.index] {
            if !known.jsonGzip.isNone { return known.jsonGzip }
            if known.isJSONGzipUseless { return json }
        }
        let made = self.transport.gzipped(json, &self.tables)
        self.tables.payloads.setForms(of: plain) { forms in
            forms.jsonGzip = made
            forms.isJSONGzipUseless = made.isNone
        }
        return made.isNone ? json : made
    }

    /// A message as an event of `text/event-stream`.
    private mutating func event(of plain: PayloadHandle, _ method: Method) -> PayloadHandle {
        if let known = self.tables.payloads.forms[plain.index]?.event, !known.isNone { return known }
        let message = UnsafeRawBufferPointer(rebasing: self.tables.payloads[plain][5...])
        let text = self.tables.codec.json(ofResponse: method, message)
        var bytes: [UInt8] = []
        if let id = self.tables.codec.resumeToken(ofResponse: method, message) {
            bytes.append(contentsOf: "id: ".utf8)
            bytes.append(contentsOf: Base64.unpadded(id).utf8)
            bytes.append(10)
        }
        bytes.append(contentsOf: "data: ".utf8)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: [10, 10])
        let made = self.tables.payloads.insert(bytes)
        self.tables.payloads.setForms(of: plain) { $0.event = made }
        return made
    }

    /// Number of forms of `loading`, which lives as long as the loop.
    var lastingFormCount: Int {
        guard let forms = self.tables.payloads.forms[self.views.loading.index] else { return 0 }
        let all = forms.all
        var count = 0
        for index in all.indices where !all[index].isNone { count += 1 }
        return count
    }

    /// Once a tick, because the next bookmark has another time.
    mutating func forgetBookmark() {
        guard !self.transport.http.bookmark.isNone else { return }
        self.tables.payloads.release(self.transport.http.bookmark)
        self.transport.http.bookmark = .none
    }

    /// Up to where everything on a stream has been said: one message for all streams of a turn.
    mutating func bookmark(_ form: ReadForm) -> PayloadHandle {
        if self.transport.http.bookmark.isNone {
            let bookmark = Bookmark(revision: self.tables.applied, serverTime: self.tables.now.wall)
            self.transport.http.bookmark = self.tables.encoded { codec throws(MessageError) in
                try codec.encode(bookmark: bookmark)
            }
        }
        return self.form(of: self.transport.http.bookmark, form, .subscriptionStatusTask)
    }
}
