/// Files for browsers, by their paths: what the console is made of.
package struct ServedFiles: Sendable {
    /// One file.
    package struct File: Sendable {
        package var contentType: String
        package var bytes: [UInt8]
        /// The same as gzip; empty where that is not smaller.
        package var gzip: [UInt8] = []
        /// The entity tag, in its quotes.
        package var tag: String
        /// Its path names its content, so that a browser never asks twice.
        package var isImmutable = false
        /// Pages of other origins may load it, where `--allow-origin` names them.
        package var isShared = false

        package init(
            contentType: String, bytes: [UInt8], tag: String, isImmutable: Bool = false, isShared: Bool = false
        ) {
            self.contentType = contentType
            self.bytes = bytes
            self.tag = tag
            self.isImmutable = isImmutable
            self.isShared = isShared
        }
    }

    package var files: [String: File] = [:]
    /// Old paths, with the paths that replace them.
    package var moved: [String: String] = [:]

    package init() {}
}

extension Transport {
    /// Answers a GET of a file. False: there is no file of that path.
    mutating func answerFile(
        _ stream: Int32, _ path: [UInt8], _ head: RequestHead, _ tables: inout Tables, _ views: inout some Source,
        _ service: inout some Gate
    ) -> Bool {
        let files = tables.settings.files
        guard !files.files.isEmpty else { return false }
        let name = String(decoding: path, as: UTF8.self)
        if let place = files.moved[name] {
            self.respond(stream, 302, "the page is at \(place)", extra: [("location", place)], &tables)
            return true
        }
        guard let file = files.files[name] else { return false }
        if let status = self.refusalOfBlocked(stream, tables) {
            self.refuseHTTP(stream, status, &tables, &service)
            return true
        }
        self.accepted(stream, head, nil, &tables, &views, &service)
        var fields: [(name: String, value: String)] = [
            ("etag", file.tag), ("vary", "accept-encoding"),
            ("cache-control", file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache"),
        ]
        fields.append(contentsOf: Self.fileFields)
        fields.append(("cross-origin-resource-policy", file.isShared ? "cross-origin" : "same-origin"))
        // A tag of a list is whole: none of ours is a part of another.
        if !head.knownTags.isEmpty, String(decoding: head.knownTags, as: UTF8.self).contains(file.tag) {
            self.respond(stream, 304, [], contentType: file.contentType, extra: fields, endsCall: -1, &tables)
            return true
        }
        let isGzip = !file.gzip.isEmpty && head.marks.contains(.acceptsGzipBody)
        if isGzip { fields.append(("content-encoding", "gzip")) }
        let body = self.filePayload(isGzip ? file.gzip : file.bytes, isGzip ? name + " gzip" : name, &tables)
        self.respond(stream, 200, body, contentType: file.contentType, extra: fields, endsCall: -1, &tables)
        return true
    }

    /// The bytes of a file, which all its readers share.
    private mutating func filePayload(_ bytes: [UInt8], _ name: String, _ tables: inout Tables) -> PayloadHandle {
        let known = self.http.files[name]
        let payload = known ?? tables.payloads.insert(bytes)
        if known == nil { self.http.files[name] = payload }
        tables.payloads.retain(payload)
        return payload
    }

    /// A page of this server loads from here alone. Images come as bytes of calls.
    private static let fileFields: [(name: String, value: String)] = [
        (
            "content-security-policy",
            "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
                + "frame-ancestors 'none'"
        ),
        ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ]
}
