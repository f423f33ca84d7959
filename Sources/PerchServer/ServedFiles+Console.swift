import PerchConsole
import PerchCore
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

extension CoreSettings {
    /// Sets the names that the listeners answer to and the files that they serve.
    mutating func serve(
        on listeners: Listeners, _ settings: ServerSettings, _ secrets: StoreSecrets, _ engine: StoreEngine
    ) {
        self.hosts = listeners.hosts(settings)
        if case .database = settings.store { self.sharesStore = true }
        let passKeys = [secrets.passKey] + secrets.otherPassKeys
        self.files = ServedFiles.all(listeners, settings, passKeys)
        self.hostsGuests =
            listeners.servesConsole(settings) && engine.sharing == nil && engine.apps.states.allSatisfy(\.isTestApp)
    }
}

extension ServedFiles {
    /// The console and the store views, where each is served, and the keys that verify passes.
    static func all(_ listeners: Listeners, _ settings: ServerSettings, _ passKeys: [TokenKey]) -> ServedFiles {
        var served = ServedFiles()
        if listeners.servesConsole(settings) {
            served = Self.packed(ConsoleFiles.all)
            served.moved = ["/console": ConsoleFiles.entrance, "/": ConsoleFiles.entrance]
        }
        // Pages of other sites load the views, as their calls come, where their origin is allowed.
        if listeners.servesConsole(settings) || !settings.origins.isEmpty {
            served.files.merge(Self.packed(ConsoleFiles.views).files) { own, _ in own }
        }
        let keys = TokenKey.publicSet(passKeys)
        served.files["/.well-known/jwks.json"] = File(
            contentType: "application/jwk-set+json", bytes: keys,
            tag: "\"\(passKeys.map(\.id).joined(separator: "-"))\"")
        return served
    }

    /// Files of the console, compressed once.
    private static func packed(_ files: [ConsoleFile]) -> ServedFiles {
        var served = ServedFiles()
        let codec = MessageCodec(serves: true)
        for file in files {
            var made = File(
                contentType: file.contentType, bytes: file.bytes, tag: file.tag, isImmutable: file.isImmutable,
                isShared: file.isShared)
            // The codec writes gRPC's prefix of five bytes before its message.
            let packed = file.isText ? file.bytes.withUnsafeBytes { codec.gzipped($0) } : nil
            made.gzip = packed.map { Array($0[5...]) } ?? []
            served.files[file.path] = made
        }
        return served
    }
}
