import Dispatch
import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The sender of requests to the network. Its sessions have no cache and none of the package's protocols, which would
/// intercept the requests again.
final class Forwarder: Sendable {
    private let configuration: Guarded<URLSessionConfiguration>
    /// The sessions, each created at its first use, since most apps never forward a request. `own` uses the
    /// configuration as it is. `plain` adds no headers and no cookies to requests. Requests are sent with `plain` if
    /// their entries set or remove a header that `own` would add.
    private let sessions = Guarded<(own: URLSession?, plain: URLSession?)>((nil, nil))
    private let collector: ResponseCollector
    private let traits: LoaderTraits

    /// - Parameter configuration: The configuration to send requests with. Later changes to it have no effect.
    init(_ configuration: URLSessionConfiguration, _ traits: LoaderTraits) {
        self.traits = traits
        collector = ResponseCollector(traits)
        let snapshot = configuration.copy() as? URLSessionConfiguration ?? .default
        snapshot.protocolClasses = snapshot.otherProtocolClasses(traits)
        snapshot.urlCache = nil
        self.configuration = Guarded(snapshot)
    }

    deinit { endSessions() }

    /// The configuration that requests are sent with.
    var snapshot: URLSessionConfiguration { configuration.withLock { $0 } }

    /// Ends the sessions, once their tasks have ended. A later request makes new ones.
    private func endSessions() {
        let (own, plain) = sessions.withLock { sessions in
            defer { sessions = (nil, nil) }
            return sessions
        }
        guard own != nil || plain != nil else { return }
        // A session retains its delegate until the session is invalidated. It's invalidated on another queue, since the
        // current queue may be the loader's.
        DispatchQueue.global(qos: .utility).async {
            own?.finishTasksAndInvalidate()
            plain?.finishTasksAndInvalidate()
        }
    }

    private struct Weak: Sendable {
        weak let forwarder: Forwarder?
    }

    /// The forwarders that may have sessions, the one that made its sessions last at the end.
    private static let withSessions = Guarded<[Weak]>([])

    /// The most forwarders that keep their sessions. On Linux, each session that has loaded something holds three file
    /// descriptors. An attached configuration keeps its forwarder until its cache is gone, since nothing says when its
    /// last session is gone.
    private static let most = 8

    /// Notes that the forwarder has made a session, and ends those of the forwarder that made its sessions first.
    private func limitSessions() {
        let oldest = Self.withSessions.withLock { forwarders -> Forwarder? in
            forwarders.removeAll { $0.forwarder == nil || $0.forwarder === self }
            forwarders.append(Weak(forwarder: self))
            return forwarders.count > Self.most ? forwarders.removeFirst().forwarder : nil
        }
        oldest?.endSessions()
    }

    /// Must not be called on the loader's thread.
    func task(for sent: ForwardedRequest) -> URLSessionDataTask {
        let isPlain = adds(sent.fixedHeaders, to: sent.request.url)
        let request = isPlain ? complete(sent.request, but: sent.fixedHeaders) : sent.request
        let (task, isFirst) = sessions.withLock { sessions in
            let isFirst = sessions.own == nil && sessions.plain == nil
            // Under the lock, since a session that has been invalidated makes no tasks.
            let session = session(isPlain: isPlain, &sessions)
            let task = session.dataTask(with: request.own(traits))
            collector.collect(task, of: session, for: sent.collectorOwner)
            return (task, isFirst)
        }
        if isFirst, !traits.contains(.sharesDescriptors) { limitSessions() }
        return task
    }

    /// Returns the name of the header by which the session identifies its user to a URL's server; `nil` if it sends
    /// none.
    func credentialHeader(for url: URL?) -> String? {
        let added = additionalHeaders.map(\.name)
        return HTTPSyntax.credentialHeaders.first { added.contains(where: $0.isSameHeader) }
            ?? storedCookies(for: url).map { _ in "Cookie" }
    }

    private func session(isPlain: Bool, _ sessions: inout (own: URLSession?, plain: URLSession?)) -> URLSession {
        if let made = isPlain ? sessions.plain : sessions.own { return made }
        let configuration = configuration.withLock { $0.copy() as? URLSessionConfiguration ?? .ephemeral }
        if isPlain {
            configuration.httpAdditionalHeaders = nil
            configuration.httpShouldSetCookies = false
        }
        let made = URLSession(
            configuration: configuration,
            delegate: collector,
            delegateQueue: LoaderThread.delegateQueue(traits)
        )
        if isPlain { sessions.plain = made } else { sessions.own = made }
        return made
    }
}

/// The headers that a session adds to a request.
extension Forwarder {
    func storedCookies(for url: URL?) -> String? {
        configuration.withLock { $0.storedCookies(for: url) }
    }

    private var additionalHeaders: [(name: String, value: String)] {
        configuration.withLock { $0.httpAdditionalHeaders ?? [:] }.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
    }

    /// Returns whether the session would add any of the named headers to a request for a URL.
    private func adds(_ names: [String], to url: URL?) -> Bool {
        guard !names.isEmpty else { return false }
        return additionalHeaders.contains { names.contains(where: $0.name.isSameHeader) }
            || (names.contains(where: "Cookie".isSameHeader) && storedCookies(for: url) != nil)
    }

    /// Returns a request with the headers that the session would add, except the headers with the given names.
    private func complete(_ request: URLRequest, but names: [String]) -> URLRequest {
        var request = request
        let added =
            additionalHeaders
            + [("Cookie", storedCookies(for: request.url))].compactMap { name, value in
                value.map { (name, $0) }
            }
        for (name, value) in added
        where !names.contains(where: name.isSameHeader) && request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}

extension URLSessionConfiguration {
    /// Returns the configuration's protocol classes without the package's.
    ///
    /// Linux's loader asks the registered classes, which include those of an installed cache, if no listed one
    /// intercepts the request (`URLSessionTask.swift`, `init(session:request:taskIdentifier:body:)`). So all of
    /// Foundation's are listed there. Elsewhere, the request is marked as the package's own.
    fileprivate func otherProtocolClasses(_ traits: LoaderTraits) -> [AnyClass] {
        let others = (protocolClasses ?? []).filter { !($0 is SubstitutionURLProtocol.Type) }
        guard !traits.contains(.asksRegisteredProtocolsFirst) else { return others }
        let foundations = URLSessionConfiguration.ephemeral.protocolClasses ?? []
        return others + foundations.filter { foundation in !others.contains { $0 == foundation } }
    }
}
