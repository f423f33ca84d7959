/// Variables that Kubernetes and Docker set in each container for every service of the namespace. A service called
/// `perch-http` has variables that begin with `PERCH_HTTP_`, like a setting.
enum ServiceLink {
    /// Whether name and value are those of a service link: `PERCH_PORT=tcp://10.0.0.1:7447`. A misspelt setting has another
    /// value.
    static func explains(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_", omittingEmptySubsequences: false).map { String($0) }
        guard words.first == "PERCH", let last = words.last else { return false }
        if name.hasSuffix("_SERVICE_HOST") { return Self.isAddress(value) }
        if name.contains("_SERVICE_PORT") { return Self.isPort(value) }
        // `…_PORT_7447_TCP`, and `_PROTO`, `_PORT`, `_ADDR` behind it.
        let ofPort = Self.protocols.contains(last.lowercased()) ? words : words.dropLast()
        let isOfPort =
            ofPort.count >= 4 && ofPort[ofPort.count - 3] == "PORT" && Self.isPort(ofPort[ofPort.count - 2])
            && Self.protocols.contains(ofPort[ofPort.count - 1].lowercased())
        guard isOfPort else { return last == "PORT" && Self.isURL(value) }
        switch last {
        case "PROTO": return Self.protocols.contains(value)
        case "PORT": return Self.isPort(value)
        case "ADDR": return Self.isAddress(value)
        default: return Self.isURL(value)
        }
    }

    private static let protocols: Set = ["tcp", "udp", "sctp"]

    private static func isURL(_ value: String) -> Bool {
        guard let separator = value.firstRange(of: "://") else { return false }
        let rest = value[separator.upperBound...]
        guard let colon = rest.lastIndex(of: ":") else { return false }
        return Self.protocols.contains(String(value[..<separator.lowerBound]))
            && Self.isPort(rest[rest.index(after: colon)...])
    }

    private static func isPort(_ value: some StringProtocol) -> Bool {
        value.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt16(value) != nil
    }

    /// An address, or the name of a container.
    private static func isAddress(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !value.contains("/")
    }
}
