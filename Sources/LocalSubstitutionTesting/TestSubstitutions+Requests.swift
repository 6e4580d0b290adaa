#if canImport(Testing)
public import Foundation
import Guarded
public import LocalSubstitution
import Testing

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension TestSubstitutions {
    /// Returns a request of the test. If it hasn't been made yet, waits for it.
    ///
    /// The request may still be under way. To check how it ended, wait for your code first, and then look at ``requests``.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The request's method; `nil` for any method.
    ///   - number: 1 for the first request that matches, 2 for the second, and so on.
    ///   - seconds: How long to wait for the request, in seconds; 1 by default.
    /// - Throws: An error that lists the test's requests if the request isn't made in time; `CancellationError` if the
    ///   test is cancelled. Throws an error without waiting if the URL, the number or the time is invalid, or outside a
    ///   test with substitutions.
    public func request(
        _ url: String,
        method: String? = nil,
        number: Int = 1,
        within seconds: Double = 1
    ) async throws -> Request {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        guard number > 0 else {
            throw SubstitutionScope.Failure(["The number of a request is \(number). Use 1 for the first one."])
        }
        guard seconds >= 0 else {
            throw SubstitutionScope.Failure(["The time to wait is \(seconds) seconds. Use 0 or more."])
        }
        await log.wait(for: number, search, within: seconds)
        let requests = log.requests
        if let found = requests.lazy.filter({ search.includes($0.request) }).dropFirst(number - 1).first {
            return found
        }
        try Task.checkCancellation()
        throw search.failure(number, among: requests, within: seconds)
    }

    /// Returns the requests made so far for a URL, in order.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The requests' method; `nil` for any method.
    /// - Throws: An error if `url` is neither a URL nor a match pattern, or if there's no test with substitutions.
    public func requests(matching url: String, method: String? = nil) throws -> [Request] {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        return log.requests.filter { search.includes($0.request) }
    }
}

extension TestSubstitutions {
    /// A request that a test's code made, and its outcome.
    public struct Request: Sendable, CustomStringConvertible {
        /// How a request ended.
        public struct Outcome: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// Creates an outcome with a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The request hasn't ended, or it was cancelled.
            public static let underWay = Outcome(rawValue: "underWay")
            /// An entry answered.
            public static let answered = Outcome(rawValue: "answered")
            /// The network answered.
            public static let loaded = Outcome(rawValue: "loaded")
            /// The request failed: its entry or handler says so, it took too long, the network failed, or a file couldn't be read.
            public static let failed = Outcome(rawValue: "failed")
            /// No entry answers the request, and it isn't allowed to reach the network.
            public static let unmatched = Outcome(rawValue: "unmatched")
        }

        /// The request.
        public internal(set) var request: URLRequest
        /// The request's body; `nil` if it has none or it can't be seen. The body of an `httpBodyStream` is included once a
        /// condition or a handler has read it. On Linux, an upload task's body can't be seen.
        public internal(set) var body: Data?
        /// How the request ended.
        public internal(set) var outcome = Outcome.underWay
        /// The entry that matches the request's URL; `nil` if there's none.
        public internal(set) var entry: SubstitutionMap.EntryReference?
        /// Why the request failed; `nil` if it didn't.
        public internal(set) var error: URLError?

        /// Whether the request was made with `URLSession.shared`, perhaps by another test.
        var mayBeOfAnotherTest = false
        /// Whether only the server at the request's URL could answer.
        var needsOrigin = false
        /// The alternatives that had already answered as many requests as their `times` allows.
        var usedUp: [SubstitutionMap.EntryReference] = []
        /// The whole response; `nil` except in a recording run.
        var response: CachedURLResponse?

        /// What's wrong with the answer of the entry's handler; `nil` if the answer is valid.
        var mistake: String?
        /// Why the request is unmatched.
        var explanation: Explanation?
        /// Whether this is an unmatched request of an upload task, whose body can't be seen.
        var isHiddenUpload = false

        init(_ request: URLRequest) {
            self.request = request
            body = request.httpBody
        }

        /// The method, the URL without credentials, and the outcome.
        public var description: String { "\(signature): \(outcome.rawValue)" }

        /// The method, and the URL without credentials.
        var signature: String { "\(request.httpMethod ?? "GET") \(ShownURL(request.url).text)" }
    }
}

extension TestSubstitutions {
    /// The requests of a test, in the order in which they began. The loader's threads add requests, and end the waits
    /// for them.
    final class RequestLog: Sendable {
        private struct State: Sendable {
            var requests: [Request] = []
            var waits: [UUID: Wait] = [:]
            /// The requests to `URLSession.shared` that the test itself made, by method and URL.
            var own: Set<String> = []
        }

        private struct Wait: Sendable {
            let search: RequestSearch
            /// How many more requests to wait for.
            var missing: Int
            /// Gets its only place when the last of them begins.
            let end: Places
        }

        private let state = Guarded(State())
        private let keepsResponses: Bool

        init(keepsResponses: Bool) { self.keepsResponses = keepsResponses }

        var requests: [Request] { state.withLock { $0.requests } }

        /// Adds a request, and ends the waits that it completes. Returns a closure to call with the request's progress.
        ///
        /// - Parameter isShared: Whether the request uses `URLSession.shared`, so that another test may have made it.
        func begin(_ request: URLRequest, isShared: Bool) -> @Sendable (RequestListener.Progress) -> Void {
            let index = state.withLock { state in
                var new = Request(request)
                new.mayBeOfAnotherTest = isShared && !state.own.contains(Self.name(request))
                state.requests.append(new)
                for (id, wait) in state.waits where wait.search.includes(request) {
                    state.waits[id]?.missing -= 1
                    if wait.missing == 1 { wait.end.giveBack() }
                }
                return state.requests.count - 1
            }
            return { progress in
                self.state.withLock { state in
                    switch progress {
                    case .readBody(let body): state.requests[index].body = body
                    case .ended(let outcome, let isHiddenUpload):
                        state.requests[index].end(outcome, isHiddenUpload, keepsResponse: self.keepsResponses)
                    }
                }
            }
        }

        /// Returns a closure that decides whether the running test's map answers a request to `URLSession.shared`. The
        /// map answers the test's own requests and those made outside any test, such as in a detached task.
        func answersShared() -> @Sendable (URLRequest) -> Bool {
            let owner = Test.current?.id
            return { request in
                let test = Test.current?.id
                if test == owner { self.state.withLock { _ = $0.own.insert(Self.name(request)) } }
                return test == owner || test == nil
            }
        }

        private static func name(_ request: URLRequest) -> String {
            "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
        }

        /// Waits until enough requests that match a search have begun, the time is up, or the task is cancelled.
        fileprivate func wait(for number: Int, _ search: RequestSearch, within seconds: Double) async {
            let (id, end) = (UUID(), Places(0, patience: seconds))
            state.withLock { state in
                let missing = number - state.requests.count { search.includes($0.request) }
                guard missing > 0 else { return end.giveBack() }
                state.waits[id] = Wait(search: search, missing: missing, end: end)
            }
            _ = await end.take()
            state.withLock { $0.waits[id] = nil }
        }
    }
}

extension TestSubstitutions.Request {
    fileprivate mutating func end(_ outcome: RequestOutcome, _ isHiddenUpload: Bool, keepsResponse: Bool) {
        (entry, error) = (outcome.entry, outcome.error)
        switch outcome.kind {
        case .answered, .confirmed: self.outcome = .answered
        case .loaded, .passed: self.outcome = .loaded
        case .failed: self.outcome = .failed
        case .mishandled(let mistake): (self.outcome, self.mistake) = (.failed, mistake)
        case .unmatched(let explanation):
            self.outcome = .unmatched
            self.explanation = explanation
            // The error that the code gets may be brief.
            error = .unmatched(explanation)
            self.isHiddenUpload = isHiddenUpload
        }
        needsOrigin = outcome.needsOrigin
        usedUp = outcome.usedUp
        if keepsResponse, !outcome.isPassedOn { response = outcome.response }
    }
}

/// What a test looks for among its requests: a URL or a match pattern, and perhaps a method.
private struct RequestSearch: Sendable {
    private let url: String
    private let method: String?
    private var key = MapKey.Matcher()

    /// - Parameter method: `nil` for any method.
    /// - Throws: An error if the URL is neither a URL nor a match pattern.
    init(_ url: String, method: String?) throws(SubstitutionScope.Failure) {
        (self.url, self.method) = (url, method)
        do throws(URLParts.SyntaxError) {
            try key.insert(url)
        } catch {
            throw SubstitutionScope.Failure(["The URL or match pattern “\(url)” \(error.message)".printable])
        }
    }

    /// Returns whether a request matches the URL or pattern, and has the method if there is one.
    func includes(_ request: URLRequest) -> Bool {
        guard method == nil || method == request.httpMethod ?? "GET" else { return false }
        return request.url.flatMap { try? NormalizedURL($0.absoluteString) }.map(key.match) ?? false
    }

    /// Returns the error for fewer requests than the test waits for. It lists all requests.
    ///
    /// - Parameters:
    ///   - number: How many requests the test waits for.
    ///   - requests: All requests of the test.
    func failure(
        _ number: Int,
        among requests: [TestSubstitutions.Request],
        within seconds: Double
    ) -> SubstitutionScope.Failure {
        let count = requests.count { includes($0.request) }
        let wanted = [method, "request"].compactMap { $0 }.joined(separator: " ") + (number == 1 ? "" : "s")
        let url = URL(string: url).map { ShownURL($0).text } ?? url
        let time = "\(seconds.formatted) \(seconds == 1 ? "second" : "seconds")"
        let beginning =
            number == 1
            ? "No \(wanted) for “\(url)” was made" : "\(count) of \(number) \(wanted) for “\(url)” were made"
        let list = requests.map { "\n  \($0)" }.joined()
        return SubstitutionScope.Failure([
            "\(beginning) within \(time). "
                + (list.isEmpty ? "The test has made no requests at all." : "These requests were made:\(list)")
                + "\nCorrect the URL or the method, or wait longer (“within:”)."
        ])
    }
}

extension Double {
    /// The number as text, without a decimal point if it's an integer.
    fileprivate var formatted: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
#endif
