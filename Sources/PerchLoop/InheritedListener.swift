internal import CPerchLinux

/// A listener opened by the process that started this one, such as systemd with a `.socket` unit.
package struct InheritedListener: Equatable, Sendable {
    /// Owned by this process.
    package let number: Int32
    /// The unit's `FileDescriptorName=`.
    package let name: String
    package let address: SocketAddress

    /// Takes ownership of a descriptor: makes it non-blocking and close-on-exec, and sets the connection options.
    package init(_ number: Int32, name: String, options: ConnectionOptions? = ConnectionOptions())
        throws(InheritedFault)
    {
        guard perch_is_tcp_listener(number) else { throw .notAListener(number, name: name) }
        do throws(SystemError) {
            _ = try SystemCall.check("fcntl", about: "the inherited socket \(name)") { Int(perch_make_ours(number)) }
            if let options { try Sockets.prepare(number, options) }
        } catch {
            throw .system(error)
        }
        self.number = number
        self.name = name
        self.address = Sockets.localAddress(number)
    }

    /// Duplicates the listener's descriptor, because each loop accepts from its own.
    package func duplicate() throws(SystemError) -> Descriptor {
        let number = try SystemCall.check("dup", about: "the inherited socket \(self.name)") {
            Int(perch_duplicate(self.number))
        }
        return Descriptor(owning: Int32(number))
    }
}

/// The reason why an inherited descriptor cannot be used.
package enum InheritedFault: Error, Equatable, Sendable, CustomStringConvertible {
    case notAListener(Int32, name: String)
    case system(SystemError)

    package var description: String {
        switch self {
        case .notAListener(let number, let name):
            "the inherited descriptor \(number) (\(name)) is not a listening TCP socket; the .socket unit needs ListenStream= with an IP address and a port, and Accept=no"
        case .system(let error):
            "\(error)"
        }
    }
}
