import CPerchConsole

/// The files of `Files` by their names, with `_` for `.` and `-`. CPerchConsole holds their bytes.
@dynamicMemberLookup
enum PackageResources {
    private static let all: [String: [UInt8]] = {
        var all: [String: [UInt8]] = [:]
        while let file = perch_console_file(all.count)?.pointee {
            all[String(cString: file.name)] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        }
        return all
    }()

    static subscript(dynamicMember name: String) -> [UInt8] {
        guard let bytes = Self.all[name] else {
            preconditionFailure("Sources/CPerchConsole/files.c lacks the file \(name)")
        }
        return bytes
    }
}
