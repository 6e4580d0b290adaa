#if !os(watchOS)
public import Foundation
public import LocalSubstitution
public import LocalSubstitutionRecording
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A server on 127.0.0.1 that responds with a cache's map. Use it for web views, players and browsers, which never ask
/// a `URLCache`.
///
/// Each origin, such as `https://www.example.com`, gets a port, which serves the same paths as the origin:
///
/// ```swift
/// let server = try SubstitutionServer(cache: cache)
/// webView.load(URLRequest(url: try server.url(for: page)))
/// ```
///
/// In HTML and CSS, the server rewrites references to the origins that it serves, so that a page loads its parts from
/// the server. Requests that no entry matches are loaded from the network, unless `unmatched` says otherwise. The
/// server stops when it's released, so keep a reference to it.
public final class SubstitutionServer: Sendable {
    private let origins: ServedOrigins

    /// Starts a server and opens the ports in `ports`. The server opens other ports when they're first needed.
    ///
    /// - Parameters:
    ///   - cache: The cache whose map the server uses.
    ///   - unmatched: What happens to requests that no entry matches. By default, they're loaded from the network. A
    ///     request that fails gets a response with status 502 and a text that says why. An entry with `error` is
    ///     different: only a page that someone opens gets a 502, and any other request fails in the client, too. With a
    ///     test's cache, leave `unmatched` out: the test's `unmatched` applies, and the server's requests are in the
    ///     test's `requests`.
    ///   - recorder: Records the network's responses, and responds with them when the network fails; `nil`, the
    ///     default, for none. Unlike in a session, it also records redirects, responses with status 404 or 410, and
    ///     responses to requests with cookies, without the cookies.
    ///   - ports: The ports of origins, such as `["https://www.example.com": 8080]`. By default, each origin gets a
    ///     free port.
    ///   - rewritesReferences: Whether references in HTML and CSS are rewritten; `true` by default.
    ///   - sendsCredentials: Whether the server forwards a client's `Authorization` header to the network; `false` by
    ///     default.
    /// - Throws: An error if a key of `ports` isn't an origin, or two keys name the same origin or have the same port.
    ///   Also throws if a port can't be opened, if the process has no file descriptors left, or if `unmatched` is
    ///   `.fail(allowing:)` with an allowed URL that is neither a URL nor a match pattern. With a test's cache, throws
    ///   if you pass `unmatched`.
    public convenience init(
        cache: LocalSubstitutionCache,
        unmatched: LocalSubstitutionCache.Unmatched? = nil,
        recorder: SubstitutionRecorder? = nil,
        ports: [String: UInt16] = [:],
        rewritesReferences: Bool = true,
        sendsCredentials: Bool = false
    ) throws(SubstitutionServerError) {
        try self.init(
            cache: cache,
            unmatched: unmatched,
            recorder: recorder,
            ports: ports,
            rewritesReferences: rewritesReferences,
            sendsCredentials: sendsCredentials,
            log: nil
        )
    }

    /// Starts a server with a log, and opens the ports in `ports`.
    ///
    /// - Parameters:
    ///   - halfClosedSeconds: How long a client that has closed its side of the connection may wait for the next part
    ///     of the response. The default is 60 seconds, `URLSession`'s own timeout.
    ///   - log: Called for each request, on the thread of its connection; `nil` for no log.
    package init(
        cache: LocalSubstitutionCache,
        unmatched: LocalSubstitutionCache.Unmatched?,
        recorder: SubstitutionRecorder?,
        ports: [String: UInt16],
        rewritesReferences: Bool = true,
        sendsCredentials: Bool = false,
        halfClosedSeconds: Double = 60,
        log: (@Sendable (LoggedRequest) -> Void)?
    ) throws(SubstitutionServerError) {
        let wanted = try Self.origins(ports)
        let loader: DirectLoader
        do throws(AttachmentError) {
            loader = try cache.makeDirectLoader(
                .ofServer,
                unmatched: unmatched,
                recorder: recorder,
                sendsCredentials: sendsCredentials
            )
        } catch {
            let kind = error.kind == .decidedByTest ? SubstitutionServerError.Kind.decidedByTest : .invalidAllowedURL
            throw SubstitutionServerError(kind, error.description)
        }
        do throws(StartError) {
            origins = try ServedOrigins(cache, ports: wanted) { connection, origins in
                ServedConnection(
                    connection: connection,
                    origins: origins,
                    loader: loader,
                    rewritesReferences: rewritesReferences,
                    halfClosedSeconds: halfClosedSeconds,
                    log: log
                ).serve()
            }
        } catch {
            throw SubstitutionServerError(.portUnavailable, "The server can't start (\(error)). \(error.fix)")
        }
        for origin in wanted.keys { _ = try origins.port(for: origin) }
    }

    deinit { stop() }

    /// Checks the ports that a server is to open, without opening them. Throws the error that would keep the server
    /// from starting.
    package static func check(ports: [String: UInt16]) throws(SubstitutionServerError) {
        try ServedOrigins.check(try origins(ports))
    }

    /// Returns the local URL for a URL, such as `http://127.0.0.1:49152/a` for `https://www.example.com/a`. Load it in
    /// place of the original.
    ///
    /// The first call for an origin opens the origin's port.
    ///
    /// - Parameter url: An http or https URL with a host and without user info. Its path, query and fragment don't
    ///   change. If it has no path, the local URL's path is `/`.
    /// - Throws: An error if the URL has another form, the port can't be opened, the server was stopped, or the server
    ///   already has the largest number of origins, at most 256.
    public func url(for url: URL) throws(SubstitutionServerError) -> URL {
        let text = url.absoluteString
        let unservable = SubstitutionServerError(
            .invalidURL,
            "“\(text)” can't be served. Use an http or https URL with a host and without a user name."
        )
        guard let origin = WebOrigin(of: text) else { throw unservable }
        let port = try origins.port(for: origin)
        let rest = Self.afterAuthority(of: text)
        let path = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
        guard let local = URL(string: ServedOrigins.local(port) + path) else { throw unservable }
        return local
    }

    /// Closes all ports and connections, and releases the recorder once no request is under way. You can't start a
    /// stopped server again.
    public func stop() { origins.stop() }

    /// The largest number of origins that a server in this process can have: at most 256.
    package static var mostOrigins: Int { ServedOrigins.most }

    /// Returns each given origin with its local origin, in the same order. If an origin has no port yet, but a key of
    /// the map names or matches it, opens a port. Leaves out origins without a port, and texts that aren't origins.
    package func served(in origins: [String]) -> [(local: String, origin: String)] {
        origins.compactMap { WebOrigin(of: $0) }.compactMap { origin in
            self.origins.local(for: origin).map { ($0, origin.description) }
        }
    }

    /// The path, query and fragment of a URL, unchanged.
    private static func afterAuthority(of url: String) -> Substring {
        url.drop { $0 != ":" }.dropFirst(3).drop { !"/?#".contains($0) }
    }

    private static func origins(_ ports: [String: UInt16]) throws(SubstitutionServerError) -> [WebOrigin: UInt16] {
        var origins: [WebOrigin: UInt16] = [:]
        for (text, port) in ports {
            guard let origin = WebOrigin(of: text), ["", "/"].contains(afterAuthority(of: text)) else {
                throw SubstitutionServerError(
                    .invalidPorts,
                    "“\(text)” isn't an origin. Use only scheme, host and port, such as “http://localhost:8080”."
                )
            }
            guard port == 0 || !origins.values.contains(port) else {
                throw SubstitutionServerError(
                    .invalidPorts,
                    "Two origins have the port \(port). Give each origin a different port."
                )
            }
            guard origins.updateValue(port, forKey: origin) == nil else {
                throw SubstitutionServerError(.invalidPorts, "The origin “\(origin)” is named twice. Name it once.")
            }
        }
        return origins
    }
}

extension SubstitutionServer {
    /// A request to a server, for its log.
    package struct LoggedRequest: Sendable {
        package enum Source: Sendable {
            case matched
            /// The recorded response was sent, after the network confirmed that it's current.
            case confirmed
            case network
            /// The request failed, was refused, or got no response. The associated value is the reason.
            case failed(String)
        }

        /// `?` if the request couldn't be read.
        package let method: String
        /// The URL at the origin; the request's target if the target isn't a valid path; `?` if the request couldn't be
        /// read.
        package let url: String
        /// `nil` if no response was sent, because an entry says that the request fails.
        package let status: Int?
        package let source: Source
        /// What a browser can't use of the response, and how to fix it; `nil` if there's nothing.
        package let warning: String?
        /// The response before the server adapted it; `nil` if the server created the response itself, for example
        /// because the request failed.
        package let response: HTTPURLResponse?
        /// The number of body bytes that were sent, or are about to be sent when the request is logged.
        package let bytes: Int
        /// The time from the request's arrival until the response's last bytes were about to be sent, in seconds.
        package let seconds: Double
    }
}

extension URLSessionConfiguration {
    /// A configuration without cookies and credentials, since a server's clients have their own.
    fileprivate static var ofServer: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        return configuration
    }
}
#endif
