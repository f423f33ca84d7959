internal import CPerchLinux
internal import Glibc
internal import PerchBase
internal import Synchronization

/// A thread with a name and a fixed stack size. Its creator must join it exactly once, from another thread.
package final class LoopThread: Sendable {
    package let name: String
    private let handle: pthread_t
    private let joined = Atomic<Bool>(false)

    /// Starts a thread. Linux refuses names of more than 15 bytes; `top -H` and core dumps show them.
    package convenience init(
        name: String, stackBytes: Int = Limits.loopStackBytes, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        self.init(name: name, handle: try Self.start(name: name, stackBytes: stackBytes, detached: false, body))
    }

    private init(name: String, handle: pthread_t) {
        self.name = name
        self.handle = handle
    }

    deinit {
        precondition(self.joined.load(ordering: .relaxed), "thread \(self.name) was started and never joined")
    }

    /// Waits until the thread has ended.
    package func join() {
        precondition(pthread_equal(self.handle, pthread_self()) == 0, "thread \(self.name) cannot wait for itself")
        let again = self.joined.exchange(true, ordering: .relaxed)
        precondition(!again, "thread \(self.name) was joined already")
        let code = pthread_join(self.handle, nil)
        precondition(code == 0, "pthread_join answered \(Errno(code))")
    }

    /// Starts a thread that no other thread joins.
    package static func startDetached(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        _ = try Self.start(name: name, stackBytes: Limits.loopStackBytes, detached: true, body)
    }

    private static func start(
        name: String, stackBytes: Int, detached: Bool, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        precondition((1...15).contains(name.utf8.count), "thread name \"\(name)\" must have 1 to 15 bytes")
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        let sized = pthread_attr_setstacksize(&attributes, stackBytes)
        precondition(sized == 0, "a stack of \(stackBytes) bytes is refused: \(Errno(sized))")
        if detached { pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
        var handle = pthread_t()
        let start = ThreadStart(name: name, body: body)
        let retained = Unmanaged.passRetained(start)
        let code = pthread_create(&handle, &attributes, threadMain, retained.toOpaque())
        guard code == 0 else {
            retained.release()
            throw SystemError(call: "pthread_create", subject: name, errno: Errno(code))
        }
        return handle
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// At file scope, because a closure would inherit the isolation of its context and trap on its own thread.
private func threadMain(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<ThreadStart>.fromOpaque(opaque!).takeRetainedValue()
    pthread_setname_np(pthread_self(), start.name)
    start.body()
    return nil
}
