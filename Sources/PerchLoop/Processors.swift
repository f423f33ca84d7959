internal import CPerchLinux
internal import Glibc

/// The processors on which this thread may run, and how to pin it to one.
package enum Processors {
    /// The allowed processors in ascending order. At least one.
    package static func allowed() -> [Int] {
        var words = [UInt64](repeating: 0, count: PERCH_PROCESSOR_WORDS)
        let result = SystemCall.result("sched_getaffinity") { Int(perch_allowed_processors(&words)) }
        precondition(result > 0, "sched_getaffinity answered \(Errno(Int32(-result)))")
        return (0..<words.count * 64).filter { number in
            let bit = UInt64(1) << UInt64(number % 64)
            return words[number / 64] & bit != 0
        }
    }

    /// Pins the calling thread, and threads that it starts later, to one processor.
    package static func pin(to processor: Int) throws(SystemError) {
        let words = try Self.words([processor])
        _ = try SystemCall.check("sched_setaffinity", about: "processor \(processor)") {
            Int(perch_allow_processors(words))
        }
    }

    /// The kernel's bit set of processors.
    static func words(_ processors: [Int]) throws(SystemError) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: PERCH_PROCESSOR_WORDS)
        for processor in processors {
            guard processor >= 0, processor < words.count * 64 else {
                throw SystemError(call: "sched_setaffinity", subject: "processor \(processor)", errno: Errno(EINVAL))
            }
            words[processor / 64] |= 1 << UInt64(processor % 64)
        }
        return words
    }
}

/// The processor time of a thread.
package enum ThreadClock {
    /// Nanoseconds of processor time of the calling thread.
    package static func nanoseconds() -> Int64 { perch_thread_nanoseconds() }
}
