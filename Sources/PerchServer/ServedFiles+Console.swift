import PerchConsole
import PerchCore
import PerchIdentity
import PerchWire

extension ServedFiles {
    /// The console, if it is served, and the keys that verify passes.
    static func all(withConsole: Bool, _ passKey: TokenKey) -> ServedFiles {
        var served = withConsole ? Self.console() : ServedFiles()
        let keys = TokenKey.publicSet([passKey])
        served.files["/.well-known/jwks.json"] = File(
            contentType: "application/jwk-set+json", bytes: keys, tag: "\"\(passKey.id)\"")
        return served
    }

    /// The console. It is compressed here, once.
    private static func console() -> ServedFiles {
        var served = ServedFiles()
        let codec = MessageCodec(serves: true)
        for file in ConsoleFiles.all {
            var made = File(
                contentType: file.contentType, bytes: file.bytes, tag: file.tag, isImmutable: file.isImmutable)
            // The codec writes gRPC's prefix of five bytes before its message.
            let packed = file.isText ? file.bytes.withUnsafeBytes { codec.gzipped($0) } : nil
            made.gzip = packed.map { Array($0[5...]) } ?? []
            served.files[file.path] = made
        }
        served.moved = ["/console": ConsoleFiles.entrance, "/": ConsoleFiles.entrance]
        return served
    }
}
