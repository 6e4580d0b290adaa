package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The rules that a session adds to the map's. This is a class, so that the identity of a plan's rules shows for which
/// session the plan was made.
package final class SessionRules: Sendable {
    /// Whether the session fails requests that no entry matches, except for the allowed URLs of `unmatched`.
    let isStrict: Bool
    private let allowed: MapKey.Matcher
    /// `nil` for most sessions.
    let recorder: (any ResponseRecorder)?
    /// Whether the recorder also records redirects, errors and other responses that a site needs: see
    /// ``Exchange/isBrowsed``.
    let isBrowsed: Bool
    /// `nil` for most sessions. With a listener, the protocol intercepts every HTTP request whose body is available to
    /// it.
    let listener: Listener?

    private init() {
        (isStrict, allowed) = (false, MapKey.Matcher())
        (recorder, isBrowsed, listener) = (nil, false, nil)
    }

    /// Copies rules, but with another recorder or none.
    init(copying other: SessionRules, recorder: (any ResponseRecorder)?, isBrowsed: Bool = false) {
        (isStrict, allowed, listener) = (other.isStrict, other.allowed, other.listener)
        (self.recorder, self.isBrowsed) = (recorder, isBrowsed)
    }

    /// The rules of `unmatched: .load`: requests that no entry matches may reach the network.
    static let load = SessionRules()

    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern.
    package init(
        _ unmatched: LocalSubstitutionCache.Unmatched,
        recorder: (any ResponseRecorder)? = nil,
        listener: Listener? = nil
    ) throws(AttachmentError) {
        var matcher = MapKey.Matcher()
        if case .fail(let allowed) = unmatched {
            for key in allowed {
                do throws(Complaint) {
                    try matcher.insert(key)
                } catch {
                    throw AttachmentError(.invalidAllowedURL, "The allowed URL “\(key)” \(error)")
                }
            }
        }
        isStrict = unmatched != .load
        allowed = matcher
        (self.recorder, isBrowsed, self.listener) = (recorder, false, listener)
    }

    var isRecorded: Bool { listener?.isRecorded == true }

    /// Returns whether a request that no entry matches is loaded without being recorded, since its URL is allowed.
    package func allows(_ request: URLRequest) -> Bool { isStrict && !forbidsNetwork(to: request) }

    /// Returns whether a request that no entry matches must fail instead of reaching the network, unless it's loaded
    /// for a recording.
    func forbidsNetwork(to request: URLRequest) -> Bool {
        guard isStrict, let url = request.url.flatMap({ try? NormalizedURL($0.absoluteString) }) else {
            return isStrict
        }
        return !allowed.match(url)
    }
}

extension SessionRules {
    /// Calls handlers as part of a test.
    package protocol HandlerCaller: Sendable {
        /// Starts a call of the handler of a key's entry. Returns a closure that cancels the call.
        func start(_ key: String, _ body: @escaping @Sendable () async -> Void) -> @Sendable () -> Void
        /// Returns whether a handler's error is already an issue of the test.
        func isReported(_ error: any Error) -> Bool
        /// Whether the test has ended.
        var hasEnded: Bool { get }
    }

    /// A listener for the requests of a session.
    package final class Listener: Sendable {
        /// What happens to a request that has started.
        package enum Progress: Sendable {
            /// The request's body was read from its stream, because a condition or a handler needs it.
            case readBody(Data)
            /// The request has ended.
            ///
            /// - Parameter isHiddenUpload: Whether the request is an upload task's, whose body Foundation hides.
            case ended(RequestOutcome, isHiddenUpload: Bool)
            /// What a handler of the request asked the server, with ``SubstitutionMap/Request/response()``, has ended. That
            /// isn't a request of the client's.
            case askedServer(URLRequest, RequestOutcome)
            /// The client cancelled its task before the request had an outcome.
            case cancelled
        }

        /// Called when a request starts. Returns a closure that receives the request's progress.
        package let start: @Sendable (URLRequest) -> @Sendable (Progress) -> Void
        /// Whether a test's recording run records the responses to requests that no entry matches. Then even a strict
        /// session loads them, except those that a `null` entry excludes.
        let isRecorded: Bool
        /// The sentence that says where the listener explains why a request is unmatched. The request's error is then
        /// brief, and ends in this sentence. `nil` if the error explains it itself.
        let unmatchedNote: String?
        /// Calls the handlers as part of a test; `nil` to call them outside any test.
        let handlerCalls: (any HandlerCaller)?

        package init(
            start: @escaping @Sendable (URLRequest) -> @Sendable (Progress) -> Void,
            isRecorded: Bool = false,
            unmatchedNote: String? = nil,
            handlerCalls: (any HandlerCaller)? = nil
        ) {
            self.handlerCalls = handlerCalls
            self.unmatchedNote = unmatchedNote
            self.start = start
            self.isRecorded = isRecorded
        }
    }
}

extension LocalSubstitutionCache {
    /// What happens in an attached session to a request that no entry matches.
    public enum Unmatched: Sendable, Hashable {
        /// The request is loaded from the network, as if nothing were attached.
        case load
        /// The request fails, unless its URL is allowed. Each allowed URL is an exact URL or a match pattern:
        ///
        /// ```swift
        /// let session = try cache.makeSession(unmatched: .fail(allowing: ["http://127.0.0.1:*/*"]))
        /// ```
        ///
        /// If an allowed URL redirects, the redirect is followed only to another allowed URL, or to a URL that an entry
        /// matches.
        ///
        /// On Linux, a download task for an allowed URL fails, because Foundation can't finish a download task that a
        /// protocol intercepts.
        case fail(allowing: [String])

        /// The request fails at once, with an error that explains why.
        ///
        /// The session reaches the network only for entries with `forwardTo`. `untilUpdated` entries respond with their
        /// own files, not with refreshed files. Once you've attached a cache with `.fail`, only its sessions attached
        /// with `.load` request newer files.
        public static var fail: Unmatched { .fail(allowing: []) }
    }
}
