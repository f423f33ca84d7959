// Stream numbers of perch/1 and of HTTP. The tables hold only slots, so numbers are hashed and compared here.
extension Transport {
    /// The call with a stream number of a connection of perch/1.
    func call(_ connection: Int32, _ stream: UInt32, _ tables: borrowing Tables) -> Int32? {
        let call = self.streams.find(hash(connection, stream)) {
            tables.calls[$0].stream == stream && tables.calls[$0].connection == connection
        }
        return call >= 0 ? call : nil
    }

    /// Enters a new call under its stream number.
    mutating func nameStream(of call: Int32, _ tables: borrowing Tables) {
        let (connection, stream) = (tables.calls[call].connection, tables.calls[call].stream)
        if tables.connections[connection].wire.isHTTP {
            self.http.streams[Int32(bitPattern: stream)].call = call
            return
        }
        if self.streams.isFull {
            self.streams = self.streams.larger { hash(tables.calls[$0].connection, tables.calls[$0].stream) }
        }
        self.streams.insert(call, hash(connection, stream))
    }

    mutating func forgetStream(of call: Int32, _ tables: borrowing Tables) {
        let (connection, stream) = (tables.calls[call].connection, tables.calls[call].stream)
        if tables.connections[connection].wire.isHTTP {
            self.http.streams[Int32(bitPattern: stream)].call = -1
        } else {
            self.streams.remove(call, hash(connection, stream))
        }
    }
}

extension HTTPTables {
    /// The stream that a number of a connection stands for; -1 where there is none.
    func stream(_ connection: Int32, _ id: UInt32) -> Int32 {
        self.table.find(hash(connection, id)) {
            self.streams[$0].id == id && self.streams[$0].connection == connection
        }
    }

    /// Enters a new stream under its number.
    mutating func name(_ stream: Int32) {
        if self.table.isFull {
            self.table = self.table.larger { hash(self.streams[$0].connection, self.streams[$0].id) }
        }
        self.table.insert(stream, hash(self.streams[stream].connection, self.streams[stream].id))
    }

    mutating func forget(_ stream: Int32) {
        self.table.remove(stream, hash(self.streams[stream].connection, self.streams[stream].id))
    }
}

@inline(__always)
private func hash(_ connection: Int32, _ stream: UInt32) -> Int { Int(connection) << 24 | Int(stream) }
