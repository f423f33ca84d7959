import Glibc
import Synchronization
package import Testing

/// Threads for tests that wait.
///
/// Swift has one pool with a thread for each core, and a test that computes holds one of them until it returns. A test that waits for
/// a socket, a child or another task would then get its result minutes later. Its suite says `.onOwnThreads`, so that the test and its
/// child tasks run here. `Task { … }` does not inherit that: such a test writes `Task(executorPreference: TestingThreads.shared)`.
package final class TestingThreads: TaskExecutor {
    package static let shared = TestingThreads(count: 16)

    private let jobs = Mutex<[UnownedJob]>([])
    /// Counts `jobs`. Never freed, because the threads never end.
    private nonisolated(unsafe) let available = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// More threads than cores, because some tests block theirs in a system call.
    private init(count: Int) {
        precondition(sem_init(self.available, 0, 0) == 0, "no semaphore: errno \(errno)")
        for _ in 0..<count {
            var thread = pthread_t()
            let this = Unmanaged.passRetained(self).toOpaque()
            let status = pthread_create(&thread, nil, runJobs, this)
            precondition(status == 0, "no thread for tests: error \(status)")
        }
        var guardian = pthread_t()
        let this = Unmanaged.passRetained(self).toOpaque()
        precondition(pthread_create(&guardian, nil, watchTests, this) == 0, "no thread for the guard of tests")
    }

    // MARK: The guard against hanging

    /// A test on these threads takes seconds. Only one that hangs takes so long.
    private static let guardSeconds = 900

    /// The tests under way, and when each began on one of these threads. The time in the queue does not count.
    private let running = Mutex<[(name: String, began: Int)]>([])

    fileprivate func run(_ name: String, _ function: @Sendable () async throws -> Void) async throws {
        let began = Self.seconds()
        self.running.withLock { $0.append((name, began)) }
        defer {
            self.running.withLock { running in
                if let place = running.firstIndex(where: { $0 == (name, began) }) { running.remove(at: place) }
            }
        }
        try await function()
    }

    /// Ends the process with the names of all tests under way, once one of them hangs.
    fileprivate func watch() -> Never {
        while true {
            sleep(5)
            let now = Self.seconds()
            let running = self.running.withLock { $0 }
            guard running.contains(where: { now - $0.began > Self.guardSeconds }) else { continue }
            let told = running.map { "\($0.name) for \(now - $0.began) s" }.joined(separator: "; ")
            fatalError("a test hangs. Under way are \(told)")
        }
    }

    private static func seconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.jobs.withLock { $0.append(job) }
        sem_post(self.available)
    }

    fileprivate func run() -> Never {
        while true {
            // Fails only where a signal handler ran.
            guard sem_wait(self.available) == 0 else { continue }
            let job = self.jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

/// A function at file scope, because a closure would inherit an isolation.
private func runJobs(_ threads: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let threads else { return nil }
    Unmanaged<TestingThreads>.fromOpaque(threads).takeUnretainedValue().run()
}

private func watchTests(_ threads: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let threads else { return nil }
    Unmanaged<TestingThreads>.fromOpaque(threads).takeUnretainedValue().watch()
}

/// Runs each test of a suite on the threads of `TestingThreads`.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(TestingThreads.shared) {
            try await TestingThreads.shared.run("\(test.id)", function)
        }
    }
}

extension Trait where Self == OwnThreads {
    /// For a suite whose tests wait for other threads, processes or tasks.
    package static var onOwnThreads: Self { Self() }
}
