#if canImport(Testing)
public import Foundation
import Guarded
public import LocalSubstitution
import Testing

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension TestSubstitutions {
    /// Returns a request that the test's code made. If the code hasn't made the request yet, waits for it.
    ///
    /// ```swift
    /// Analytics(session: .substituted).appOpened()
    /// let request = try await TestSubstitutions.current.request("https://api.example.com/events", within: 5)
    /// #expect(try request.json([String: String].self) == ["name": "opened"])
    /// ```
    ///
    /// The returned request may still be under way. To check how it ended, wait until your code is done, then look at
    /// ``requests``.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The request's method, such as `GET`; `nil`, the default, for any method.
    ///   - number: Which of the matching requests to return: 1, the default, for the first, 2 for the second, and so
    ///     on.
    ///   - seconds: How long to wait for the request, in seconds; 1 by default. With 0, doesn't wait.
    /// - Throws: An error that lists the test's requests if the code doesn't make the request in time. A
    ///   `CancellationError` if the test is cancelled before that. Without waiting, an error if the URL, the number or
    ///   the time is invalid, or if the calling code isn't in a test with substitutions.
    public func request(
        _ url: String,
        method: String? = nil,
        number: Int = 1,
        within seconds: Double = 1
    ) async throws -> Request {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        guard number > 0 else {
            throw Complaint("“number” is \(number). Use 1 for the first request.")
        }
        guard seconds >= 0 else {
            throw Complaint("“within” is \(seconds) seconds. Use 0 or more.")
        }
        await log.wait(for: number, search, within: seconds)
        let requests = log.requests
        if let found = requests.lazy.filter({ search.includes($0.request) }).dropFirst(number - 1).first {
            return found
        }
        try Task.checkCancellation()
        throw search.failure(number, among: requests, within: seconds)
    }

    /// Returns the requests for a URL that the test's code has made so far, in the order in which they began.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The requests' method, such as `GET`; `nil`, the default, for any method.
    /// - Throws: An error if `url` is neither a URL nor a match pattern, or if the calling code isn't in a test with
    ///   substitutions.
    public func requests(matching url: String, method: String? = nil) throws -> [Request] {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        return log.requests.filter { search.includes($0.request) }
    }
}

extension TestSubstitutions {
    /// A request that a test's code made, and how the request ended.
    public struct Request: Sendable, CustomStringConvertible {
        /// How a request ended, or that it's still under way.
        public struct Outcome: RawRepresentable, Sendable, Hashable {
            /// The outcome's name, such as `matched` for ``matched``.
            public let rawValue: String

            /// Creates an outcome with a name. Any name is allowed.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The request hasn't ended.
            public static let underWay = Outcome(rawValue: "underWay")
            /// An entry responded, perhaps because the network failed.
            public static let matched = Outcome(rawValue: "matched")
            /// The network responded, even if an entry forwarded the request or changed its headers.
            public static let forwarded = Outcome(rawValue: "forwarded")
            /// The request failed with an error, for example because its entry says so, the network failed, or the
            /// entry's file couldn't be read. An unmatched request has the outcome ``unmatched`` instead.
            public static let failed = Outcome(rawValue: "failed")
            /// The request failed because no entry matches it, and the test doesn't let it reach the network.
            public static let unmatched = Outcome(rawValue: "unmatched")
            /// The code cancelled the request's task before the request had another outcome.
            public static let cancelled = Outcome(rawValue: "cancelled")
        }

        /// The request as the code made it. For its body, use ``body``.
        public internal(set) var request: URLRequest
        /// The request's body; `nil` if the request has no body, or if the body isn't available.
        ///
        /// The body of an `httpBodyStream` isn't available until a condition or a handler has read it. On Linux, the
        /// body of an upload task is never available.
        public internal(set) var body: Data?
        /// How the request ended. It's ``Outcome/underWay`` until then.
        public internal(set) var outcome = Outcome.underWay
        /// The entry that matches the request's URL, even if it didn't respond, for example because of the request's
        /// method. `nil` if no entry matches the URL, or while the request is under way.
        public internal(set) var entry: SubstitutionMap.EntryReference?
        /// The error that the request failed with; `nil` if it succeeded or is under way.
        public internal(set) var error: URLError?

        /// Whether the request was made with `URLSession.shared`, perhaps by another test.
        var mayBeOfAnotherTest = false
        /// The request's position among all requests of the process.
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        /// The request whose response the test's recording gets; see ``RequestOutcome/recorded``.
        var recorded: URLRequest?
        /// Whether the response isn't that of ``recorded``; see ``RequestOutcome/endsAtEntry``.
        var endsAtEntry = false
        /// Whether the request failed or was cancelled before anything was decided about it.
        var isUndecided = false
        /// The response; `nil` if the test isn't recorded, or if the request failed or is under way. It has no body if it
        /// was streamed.
        var response: Response?

        /// What's wrong with the answer of the entry's handler; `nil` if the answer is valid, or no handler was called.
        var mistake: String?
        /// Why no entry matches the request; `nil` if its outcome isn't ``Outcome/unmatched``.
        var explanation: Explanation?
        /// Whether the request is unmatched and belongs to an upload task whose body Foundation hides. Conditions can't
        /// compare such a body.
        var isHiddenUpload = false

        private static let count = Guarded(0)

        init(_ request: URLRequest) {
            self.request = request
            body = request.httpBody
        }

        /// The method, the URL without credentials, and the outcome, such as `GET https://example.com/: matched`.
        public var description: String { "\(signature): \(outcome.rawValue)" }

        /// The method and the URL without credentials, such as `GET https://example.com/`.
        var signature: String { "\(request.httpMethod ?? "GET") \(ShownURL(request.url).text)" }
    }
}

extension TestSubstitutions {
    /// The log of a test's requests. The loader's threads add requests to it, and wake the tests that wait for them.
    final class RequestLog: Sendable {
        private struct State: Sendable {
            var requests: [Request] = []
            var ofHandlers: [Request] = []
            var waits: [UUID: Wait] = [:]
            /// The requests with `URLSession.shared` that the test itself made: the method and URL of each.
            var own: Set<String> = []
            var forgotten: [String] = []
            /// The requests with a session that was made before `begin`: the method and URL of each.
            var unscoped: [String] = []
        }

        /// A test's wait until enough requests have begun.
        private struct Wait: Sendable {
            let search: RequestSearch
            /// How many more matching requests the test waits for.
            var missing: Int
            /// A semaphore without free places, on which the test waits. The last missing request frees a place.
            let end: Places
        }

        private let state = Guarded(State())
        private let keepsResponses: Bool
        private let traits: LoaderTraits

        /// - Parameter keepsResponses: Whether each request gets its whole response, to record it.
        init(keepsResponses: Bool, traits: LoaderTraits = .current) {
            (self.keepsResponses, self.traits) = (keepsResponses, traits)
        }

        var requests: [Request] { state.withLock { $0.requests } }

        /// What handlers requested with `response()`. These aren't requests of the test's code.
        var ofHandlers: [Request] { state.withLock { $0.ofHandlers } }

        /// Adds a request that begins. Ends each wait for which this was the last missing request. Returns a closure to
        /// call with the request's progress.
        ///
        /// - Parameter isShared: Whether the request uses `URLSession.shared`, so that another test may have made it.
        func begin(_ request: URLRequest, isShared: Bool) -> @Sendable (SessionRules.Listener.Progress) -> Void {
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
                    case .askedServer(let request, let outcome):
                        var asked = Request(request)
                        asked.mayBeOfAnotherTest = state.requests[index].mayBeOfAnotherTest
                        asked.end(outcome, false, keepsResponse: self.keepsResponses)
                        // Unlike the error that `end` sets, this one says that a handler asked.
                        asked.error = outcome.error
                        state.ofHandlers.append(asked)
                    case .cancelled:
                        state.requests[index].outcome = .cancelled
                        state.requests[index].isUndecided = true
                        state.requests[index].error = URLError(.cancelled)
                    }
                }
            }
        }

        /// Returns a closure that decides whether the running test's map is used for a request with
        /// `URLSession.shared`. The closure returns `true` for the test's own requests, and for requests made outside
        /// any test, such as in a detached task.
        func answersShared() -> @Sendable (URLRequest) -> Bool {
            let owner = Test.current?.id
            return { request in
                let test = Test.current?.id
                if test == owner { self.state.withLock { _ = $0.own.insert(Self.name(request)) } }
                return test == owner || test == nil
            }
        }

        /// The requests with `URLSession.shared` that an entry would have responded to, if the test had the option
        /// `sharedSession`: the method and URL of each, without credentials.
        var forgotten: [String] {
            state.withLock { state in
                // The test's own sessions may have asked the registered protocols, too.
                guard traits.contains(.asksRegisteredProtocolsFirst) else { return state.forgotten }
                let own = Set(state.requests.map(\.signature))
                return state.forgotten.filter { !own.contains($0) }
            }
        }

        /// Does nothing if the request is already there.
        func addForgotten(_ request: URLRequest) { add(request, to: \.forgotten) }

        /// The requests with a session that was made before `begin`, so that each failed: the method and URL of each, without
        /// credentials.
        var unscoped: [String] { state.withLock { $0.unscoped } }

        /// Does nothing if the request is already there.
        func addUnscoped(_ request: URLRequest) { add(request, to: \.unscoped) }

        /// Adds a request's method and URL to a list, unless the list already has them.
        private func add(_ request: URLRequest, to list: WritableKeyPath<State, [String]>) {
            let signature = Request(request).signature
            state.withLock { if !$0[keyPath: list].contains(signature) { $0[keyPath: list].append(signature) } }
        }

        /// Requests without a method use `GET`.
        private static func name(_ request: URLRequest) -> String {
            "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
        }

        /// Waits until enough requests that match a search have begun. Returns earlier when the time is over, or if
        /// the task is cancelled.
        ///
        /// - Parameter number: How many matching requests must have begun, counting earlier ones.
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
        case .matched, .usedOffline, .confirmed: self.outcome = .matched
        case .forwarded, .passed: self.outcome = .forwarded
        case .failed, .erred: self.outcome = .failed
        case .mishandled(let mistake): (self.outcome, self.mistake) = (.failed, mistake)
        case .unmatched(let explanation):
            self.outcome = .unmatched
            self.explanation = explanation
            // The code may get a brief error without the explanation. The test's request has the full one.
            error = .unmatched(explanation)
            self.isHiddenUpload = isHiddenUpload
        }
        (recorded, endsAtEntry, isUndecided) = (outcome.recorded, outcome.endsAtEntry, outcome.isUndecided)
        if keepsResponse {
            response = outcome.response
        }
    }
}

/// A search among a test's requests, by a URL or match pattern, and perhaps by a method.
private struct RequestSearch: Sendable {
    private let url: String
    /// The method to look for; `nil` for any method.
    private let method: String?
    private var key = MapKey.Matcher()

    /// - Throws: An error if `url` is neither a URL nor a match pattern.
    init(_ url: String, method: String?) throws(Complaint) {
        (self.url, self.method) = (url, method)
        do throws(Complaint) {
            try key.insert(url)
        } catch {
            throw Complaint("The URL or match pattern “\(url)” \(error)".printable)
        }
    }

    func includes(_ request: URLRequest) -> Bool {
        guard method == nil || method == request.httpMethod ?? "GET" else { return false }
        return request.url.flatMap { try? NormalizedURL($0.absoluteString) }.map(key.match) ?? false
    }

    /// Returns the error for a test that waited for more requests than its code made. The error lists all requests of
    /// the test.
    ///
    /// - Parameters:
    ///   - number: How many requests the test waits for.
    ///   - requests: All requests of the test.
    func failure(
        _ number: Int,
        among requests: [TestSubstitutions.Request],
        within seconds: Double
    ) -> Complaint {
        let count = requests.count { includes($0.request) }
        let wanted = [method, "request"].compactMap { $0 }.joined(separator: " ") + (number == 1 ? "" : "s")
        let url = URL(string: url).map { ShownURL($0).text } ?? url
        let time = "\(seconds.formatted) \(seconds == 1 ? "second" : "seconds")"
        let beginning =
            number == 1
            ? "No \(wanted) for “\(url)” was made" : "\(count) of \(number) \(wanted) for “\(url)” were made"
        let list = requests.map { "\n  \($0)" }.joined()
        return Complaint(
            "\(beginning) within \(time). "
                + (list.isEmpty ? "The test has made no requests at all." : "These requests were made:\(list)")
                + "\nCorrect the URL or the method, or wait longer (“within:”)."
        )
    }
}

extension Double {
    /// Such as `1` or `0.5`. An integer has no decimal point.
    fileprivate var formatted: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
#endif
