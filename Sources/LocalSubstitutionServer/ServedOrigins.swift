#if !os(watchOS)
import Foundation
import Guarded
import LocalSubstitution
import Loopback
import WebReferences

/// The origins that a server serves, each with a port of 127.0.0.1.
final class ServedOrigins: Sendable {
    private struct State: Sendable {
        /// The listener of the ports, and the closure that serves each connection on a separate thread. Both are `nil`
        /// once the server was stopped: the closure holds the recorder, which a stopped server must release.
        var running: (listener: Listener, serve: @Sendable (Listener.Connection, ServedOrigins) -> Void)?
        var ports: [WebOrigin: UInt16] = [:]
        /// The origins of the map that `isNamed(_:)` read last; `nil` before its first call.
        var named: MapOrigins?
    }

    private let cache: LocalSubstitutionCache
    /// The ports that the caller chose for origins. Any other origin gets a free port.
    private let wanted: [WebOrigin: UInt16]
    private let state = Guarded(State())

    /// The largest number of origins that can have a port: 256 or a quarter of the descriptors that the process can
    /// have, whichever is less. Without a limit, the ports could use up the descriptors, since a pattern can match any
    /// number of origins.
    static var most: Int { min(256, Int(getdtablesize()) / 4) }

    /// Starts a listener without ports.
    ///
    /// - Parameters:
    ///   - ports: The ports that the caller chose for origins. They aren't opened yet.
    ///   - serve: Called for each connection, on a separate thread, to serve it.
    init(
        _ cache: LocalSubstitutionCache,
        ports: [WebOrigin: UInt16],
        serve: @escaping @Sendable (Listener.Connection, ServedOrigins) -> Void
    ) throws(StartError) {
        self.cache = cache
        wanted = ports
        // The reference is weak, since the listener's threads may outlive the server.
        let listener = try Listener { [weak self] connection in
            if let self, let serve = state.withLock({ $0.running?.serve }) { serve(connection, self) }
        }
        state.withLock { $0.running = (listener, serve) }
    }

    /// `nil` if the port isn't open.
    func origin(of port: UInt16) -> WebOrigin? { state.withLock { $0.ports.first { $0.value == port }?.key } }

    /// Opens the port if necessary. Throws if the server was stopped, already has ``most`` origins, or can't open the
    /// port.
    func port(for origin: WebOrigin) throws(SubstitutionServerError) -> UInt16 {
        try state.withLock { state throws(SubstitutionServerError) in
            guard let listener = state.running?.listener else {
                throw SubstitutionServerError(.stopped, "The server was stopped. Make another server.")
            }
            if let port = state.ports[origin] { return port }
            let port = try Self.open(wanted[origin] ?? 0, for: origin, beside: state.ports.count) {
                wanted throws(StartError) in try listener.listen(on: wanted)
            }
            state.ports[origin] = port
            return port
        }
    }

    /// Checks that a server could open the ports of origins. Doesn't listen on them, so that no client takes
    /// them for the server's.
    static func check(_ ports: [WebOrigin: UInt16]) throws(SubstitutionServerError) {
        var sockets: [Socket] = []
        for (origin, wanted) in ports {
            sockets.append(
                try open(wanted, for: origin, beside: sockets.count) { wanted throws(StartError) in
                    try Socket.bound(to: wanted)
                }
            )
        }
    }

    /// Calls a closure that opens a port for an origin. Throws an error with a fix if the server has too many origins,
    /// or if the closure fails.
    private static func open<Result>(
        _ wanted: UInt16,
        for origin: WebOrigin,
        beside count: Int,
        _ body: (UInt16) throws(StartError) -> Result
    ) throws(SubstitutionServerError) -> Result {
        guard count < most else {
            throw SubstitutionServerError(
                .tooManyOrigins,
                "“\(origin)” can't be served, because the server already has \(most) origins, the most it can have. "
                    + "Make another server for this origin."
            )
        }
        do throws(StartError) {
            return try body(wanted)
        } catch {
            let place = wanted == 0 ? "any port" : "port \(wanted)"
            let fix = wanted == 0 ? error.fix : "Use another port, or leave out the port to get a free one."
            throw SubstitutionServerError(
                .portUnavailable,
                "“\(origin)” can't be served on \(place) of 127.0.0.1 (\(error)). \(fix)"
            )
        }
    }

    /// Returns the local origin, such as `http://127.0.0.1:49152`, that serves an origin. If the origin has no port
    /// yet, but a key of the map names or matches it, opens a port for it.
    ///
    /// Returns `nil` if the origin has no port and no such key, or its port can't be opened.
    func local(for origin: WebOrigin) -> String? {
        let port = state.withLock { $0.ports[origin] } ?? (isNamed(origin) ? try? port(for: origin) : nil)
        return port.map(Self.local)
    }

    /// `nil` if the text isn't a local origin, or the port isn't open.
    func origin(ofLocal text: String) -> WebOrigin? {
        // Browsers leave out port 80, the default for http.
        if ["http://127.0.0.1", "http://localhost"].contains(text) { return origin(of: 80) }
        let prefixes = ["http://127.0.0.1:", "http://localhost:"]
        guard let prefix = prefixes.first(where: text.hasPrefix), let port = UInt16(text.dropFirst(prefix.count)) else {
            return nil
        }
        return origin(of: port)
    }

    /// Also closes all connections. Afterwards, no port can be opened.
    func stop() {
        // The listener is stopped without holding the lock, since requests that are under way take the lock.
        let running = state.withLock { $0.running.take() }
        running?.listener.stop()
        withExtendedLifetime(running) {}
    }

    /// Such as `http://127.0.0.1:49152`.
    static func local(_ port: UInt16) -> String { "http://127.0.0.1:\(port)" }

    /// Whether a key of the map names the origin, or matches it with a wildcard.
    private func isNamed(_ origin: WebOrigin) -> Bool {
        let map = cache.map
        if let named = state.withLock({ $0.named }), named.isOf(map) { return named.contains(origin.description) }
        // The map is read without holding the lock: a map with many keys takes time, and each request takes the lock.
        let named = MapOrigins(map)
        state.withLock { $0.named = named }
        return named.contains(origin.description)
    }
}
#endif
