internal import CPerchLinux

/// A listener that was opened by whoever started this process, as systemd does for a `.socket` unit.
package struct InheritedListener: Equatable, Sendable {
    /// Belongs to this process from now on.
    package let number: Int32
    /// As the unit's `FileDescriptorName=` says.
    package let name: String
    package let address: SocketAddress

    /// Takes a descriptor over: makes it non-blocking, closed on exec, and gives it the options of a connection.
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

    /// One more descriptor of the same listener: each loop takes from one of its own.
    package func duplicate() throws(SystemError) -> Descriptor {
        let number = try SystemCall.check("dup", about: "the inherited socket \(self.name)") {
            Int(perch_duplicate(self.number))
        }
        return Descriptor(owning: Int32(number))
    }
}

/// Why an inherited descriptor is not served on.
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
