import PerchApple
import PerchBase
import PerchLoop
import PerchModel
import PerchStore
import PerchTLS
import PerchTwin

/// What the twin needs, opened before the first thread: its files, and its listener, whose address stands in its certificates.
final class TwinSetup {
    private let files: TwinFiles
    private let context: TLSContext
    /// The authority that signs values.
    let values: AppleAuthority
    private let callers: CallerTokens
    private var listener: Int32
    /// Nil where notifications stand in the history alone.
    private let post: TwinPost?

    init(
        directory: String, notifying backend: String?, _ listeners: Listeners, wall: Instant
    ) throws(ServerError) {
        do {
            let descriptor = try listeners.openTwin()
            let address = Sockets.localAddress(descriptor.number)
            self.listener = descriptor.release()
            self.files = try TwinFiles(directory: directory, responder: "http://\(address)/ocsp")
            self.post = try backend.map { (backend) throws(ServerError) in
                try TwinPost(to: backend, directory: directory)
            }
            self.values = try self.files.authority.values
            guard let callers = self.files.authority.callers else { throw AuthorityFault.noKey }
            self.callers = callers
            let (certificate, key) = self.files.authority.serverPEM
            self.context = try TLSContext(
                server: TLSContext.ServerFiles(certificates: certificate, key: key), tickets: TicketKeys(wall: wall))
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError("the twin of the App Store (--twin-listen): \(error)")
        }
    }

    /// Starts to listen on a control loop. May be called once.
    fileprivate func service(
        _ parts: ControlLoop.Parts, _ apps: [AppState], _ signer: SharedAppleSigner, _ clock: StoreClock
    ) throws(SystemError) -> TwinService {
        let served = apps.filter { $0.isTestApp && !$0.isGuest }.map {
            TwinApp(bundleID: $0.bundleID, number: $0.number)
        }
        let name = Array("\(parts.identity.description) \(parts.epoch)".utf8)
        let (store, loops) = (parts.store, parts.loops.count)
        let desk = TwinDesk(apps: served, callers: self.callers, signer: signer, store: name)
        try self.post?.begin(desk, parts.inbox, parts.log)
        let listener = Descriptor(owning: self.listener)
        self.listener = -1
        return try TwinService(
            listener, on: parts.loop,
            TwinService.Parts(
                desk: desk,
                authority: self.files.authority, context: self.context, clock: { clock.now() },
                machine: { Clocks.wall() },
                ask: { ticket, body in store.post(StoreRequest(loop: loops, ticket: ticket, body)) }, log: parts.log,
                post: self.post))
    }
}

extension ControlLoop {
    /// Starts HTTP and the twin, as far as they are on; returns the address of HTTP. Must be called before the loop runs.
    func listen(
        _ listeners: Listeners, for twin: TwinSetup?, _ apps: [AppState], _ clock: StoreClock
    ) throws(SystemError) -> SocketAddress? {
        if let twin, let signer = self.parts.signer {
            self.twin = try twin.service(self.parts, apps, signer, clock)
        }
        guard listeners.isHTTPOn else { return nil }
        return try self.listenForHTTP(listeners.openHTTP(), listeners.httpHosts(self.parts.settings))
    }
}
