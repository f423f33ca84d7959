import Glibc

/// A port of loopback that nobody listens at, and nobody else gets while this value lives: bound, and not listening.
package final class SilentPort: Sendable {
    package let address: String
    private let descriptor: Int32

    package init() {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        let status = withUnsafeMutablePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        precondition(status == 0, "no port: errno \(errno)")
        self.address = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
    }

    deinit { close(self.descriptor) }
}
