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
extension Transport {
    /// The form of a watch's next value; none where it is being computed.
    @inline(__always)
    mutating func form(
        of call: Int32, _ form: ReadForm, _ tables: inout Tables, _ views: inout some Source
    ) -> PayloadHandle {
        let zlib = form == .zlib
        if let part = tables.part(call) {
            let whole = self.envelope(ofValue: call, part, zlib: zlib, &tables, &views)
            return whole.isNone || zlib ? whole : self.form(of: whole, form, .watch, &tables, &views)
        }
        if zlib { views.compressForReader(call, &tables) }
        let body = views.encoding(for: call, zlib: zlib, tables)
        return body.isNone || zlib || form == .plain
            ? body : self.form(of: body, form, tables.calls[call].method, &tables, &views)
    }

    /// The form of an event.
    mutating func form(
        ofEvent event: PayloadHandle, _ call: Int32, _ form: ReadForm, _ tables: inout Tables,
        _ views: inout some Source
    ) -> PayloadHandle {
        guard let part = tables.part(call) else {
            return self.form(of: event, form, tables.calls[call].method, &tables, &views)
        }
        return self.form(of: self.envelope(of: event, call, part, &tables, &views), form, .watch, &tables, &views)
    }

    /// The form of a plain message.
    mutating func form(
        of plain: PayloadHandle, _ form: ReadForm, _ method: Method, _ tables: inout Tables, _ views: inout some Source
    ) -> PayloadHandle {
        switch form {
        case .plain, .zlib: plain
        case .gzip: self.gzipForm(of: plain, &tables)
        case .json: self.jsonForm(of: plain, method, &tables)
        case .jsonGzip: self.gzipForm(of: self.jsonForm(of: plain, method, &tables), plain, &tables)
        case .event: self.event(of: plain, method, &tables)
        }
    }

    private mutating func gzipForm(of plain: PayloadHandle, _ tables: inout Tables) -> PayloadHandle {
        if let known = tables.payloads.forms[plain.index] {
            if !known.gzip.isNone { return known.gzip }
            if known.isGzipUseless { return plain }
        }
        let made = self.gzipOfZlib(plain, &tables)
        tables.payloads.setForms(of: plain) { forms in
            forms.gzip = made
            forms.isGzipUseless = made.isNone
        }
        return made.isNone ? plain : made
    }

    /// The gzip form of a plain message, from the deflated bytes of its zlib form.
    private mutating func gzipOfZlib(_ plain: PayloadHandle, _ tables: inout Tables) -> PayloadHandle {
        guard tables.payloads[plain].count >= Limits.compressBytesMin + 5 else { return .none }
        let message = UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...])
        var zlib = tables.payloads.forms[plain.index]?.zlib ?? .none
        if zlib.isNone {
            guard let smaller = tables.codec.compressed(message) else { return .none }
            tables.counters.valuesCompressed += 1
            zlib = tables.payloads.insert(smaller.prefixed)
            tables.payloads.setForms(of: plain) { $0.zlib = zlib }
        }
        let deflated = UnsafeRawBufferPointer(rebasing: tables.payloads[zlib][5...])
        guard let bytes = MessageCodec.gzip(deflated, of: message) else { return .none }
        return tables.payloads.insert(bytes)
    }

    // MARK: Envelopes

    /// A message of a watch that another call carries, with the place of the watch. Made once for all calls that have the watch
    /// at the same place.
    mutating func envelope(
        of plain: PayloadHandle, _ call: Int32, _ part: CallPart, _ tables: inout Tables, _ views: inout some Source
    ) -> PayloadHandle {
        if let known = tables.payloads.forms[plain.index]?.envelopes[part.number] { return known }
        guard let field = tables.calls[call].method.watchField else {
            preconditionFailure("\(tables.calls[call].method.path) is no watch")
        }
        let message = UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...])
        let made = tables.payloads.insert(MessageCodec.envelope(message, watch: part.number, field: field))
        tables.payloads.setForms(of: plain) { $0.envelopes[part.number] = made }
        return made
    }

    /// The next value of such a watch; none where it is being computed.
    mutating func envelope(
        ofValue call: Int32, _ part: CallPart, zlib: Bool, _ tables: inout Tables, _ views: inout some Source
    ) -> PayloadHandle {
        let plain = views.encoding(for: call, zlib: false, tables)
        guard !plain.isNone else { return .none }
        let whole = self.envelope(of: plain, call, part, &tables, &views)
        guard zlib else { return whole }
        if let known = tables.payloads.forms[whole.index]?.zlib, !known.isNone { return known }
        guard tables.payloads[whole].count >= Limits.compressBytesMin + 5,
            let smaller = tables.codec.compressed(UnsafeRawBufferPointer(rebasing: tables.payloads[whole][5...]))
        else { return whole }
        tables.counters.valuesCompressed += 1
        let made = tables.payloads.insert(smaller.prefixed)
        tables.payloads.setForms(of: whole) { $0.zlib = made }
        return made
    }

    private mutating func jsonForm(of plain: PayloadHandle, _ method: Method, _ tables: inout Tables) -> PayloadHandle {
        if let known = tables.payloads.forms[plain.index]?.json, !known.isNone { return known }
        let made = self.json(of: plain, method, &tables)
        tables.payloads.setForms(of: plain) { $0.json = made }
        return made
    }

    /// The compressed JSON of a plain message.
    private mutating func gzipForm(of json: PayloadHandle, _ plain: PayloadHandle, _ tables: inout Tables)
        -> PayloadHandle
    {
        if let known = tables.payloads.forms[plain.index] {
            if !known.jsonGzip.isNone { return known.jsonGzip }
            if known.isJSONGzipUseless { return json }
        }
        let made = self.gzipped(json, &tables)
        tables.payloads.setForms(of: plain) { forms in
            forms.jsonGzip = made
            forms.isJSONGzipUseless = made.isNone
        }
        return made.isNone ? json : made
    }

    /// A message as an event of `text/event-stream`.
    private mutating func event(of plain: PayloadHandle, _ method: Method, _ tables: inout Tables) -> PayloadHandle {
        if let known = tables.payloads.forms[plain.index]?.event, !known.isNone { return known }
        let message = UnsafeRawBufferPointer(rebasing: tables.payloads[plain][5...])
        let text = tables.codec.json(ofResponse: method, message)
        var bytes: [UInt8] = []
        if let id = tables.codec.resumeToken(ofResponse: method, message) {
            bytes.append(contentsOf: "id: ".utf8)
            bytes.append(contentsOf: Base64.unpadded(id).utf8)
            bytes.append(10)
        }
        bytes.append(contentsOf: "data: ".utf8)
        bytes.append(contentsOf: text)
        bytes.append(contentsOf: [10, 10])
        let made = tables.payloads.insert(bytes)
        tables.payloads.setForms(of: plain) { $0.event = made }
        return made
    }

    /// Number of forms of `loading`, which lives as long as the loop.
    func lastingFormCount(_ tables: borrowing Tables, _ views: borrowing some Source) -> Int {
        guard let forms = tables.payloads.forms[views.loading.index] else { return 0 }
        let all = forms.all
        var count = 0
        for index in all.indices where !all[index].isNone { count += 1 }
        return count
    }

    /// Once a tick, because the next bookmark has another time.
    mutating func forgetBookmark(_ tables: inout Tables) {
        guard !self.http.bookmark.isNone else { return }
        tables.payloads.release(self.http.bookmark)
        self.http.bookmark = .none
    }

    /// Up to where everything on a stream has been said: one message for all streams of a turn.
    mutating func bookmark(_ form: ReadForm, _ tables: inout Tables, _ views: inout some Source)
        -> PayloadHandle
    {
        if self.http.bookmark.isNone {
            let bookmark = Bookmark(revision: tables.applied, serverTime: tables.now.wall)
            self.http.bookmark = tables.encoded { codec throws(MessageError) in
                try codec.encode(bookmark: bookmark)
            }
        }
        return self.form(of: self.http.bookmark, form, .subscriptionStatusTask, &tables, &views)
    }
}
