internal import CPerchLinux
internal import Glibc

/// The processors that this thread may run on, and how to keep to one of them.
package enum Processors {
    /// In ascending order. At least one.
    package static func allowed() -> [Int] {
        var words = [UInt64](repeating: 0, count: PERCH_PROCESSOR_WORDS)
        let result = SystemCall.result("sched_getaffinity") { Int(perch_allowed_processors(&words)) }
        precondition(result > 0, "sched_getaffinity answered \(Errno(Int32(-result)))")
        return (0..<words.count * 64).filter { number in
            let bit = UInt64(1) << UInt64(number % 64)
            return words[number / 64] & bit != 0
        }
    }

    /// Keeps the calling thread, and threads that it starts from now on, to one processor.
    package static func pin(to processor: Int) throws(SystemError) {
        _ = try SystemCall.check("sched_setaffinity", about: "processor \(processor)") {
            Int(perch_pin(Int32(clamping: processor)))
        }
    }
}

/// How long a thread has computed.
package enum ThreadClock {
    /// Nanoseconds of processor time of the calling thread.
    package static func nanoseconds() -> Int64 { perch_thread_nanoseconds() }
}
