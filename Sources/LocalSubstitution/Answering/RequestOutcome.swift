package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The outcome of a request that a protocol or a ``DirectLoader`` handles, or what's known of it while the response is
/// arriving. It's a class because the compiler copies the fields of a structure wherever the structure is used, which
/// makes an app larger.
package final class RequestOutcome: Sendable {
    package enum Kind: Sendable {
        /// An entry or a recording responded.
        case matched
        /// An entry or a recording responded, since the network failed.
        case usedOffline(URLError)
        /// A recording responded, since the server confirmed that it's current.
        case confirmed
        /// The network responded.
        case forwarded
        /// The client loads the request itself, since no entry matches it.
        case passed
        /// The request failed: the network failed, a file couldn't be read, or it was cancelled.
        case failed
        /// The request failed because its entry or the entry's handler says so.
        case erred
        /// The request failed because a handler threw an error or returned an answer that isn't allowed. The text says
        /// what's wrong and how to fix it.
        case mishandled(String)
        /// Nothing responds, and the session isn't allowed to reach the network.
        indirect case unmatched(Explanation)
    }

    package let kind: Kind
    /// What was decided about the request, or about the last one after redirects. `nil` if a response in memory was
    /// found without a lookup, or if the request failed before a decision.
    let plan: Plan?
    package let result: Result<Response, URLError>
    /// Whether the client has already received the response in pieces.
    let wasStreamed: Bool
    /// The size of the body that the client gets, or of the part that it got before the request failed.
    let bytes: Int
    /// The file of the recording that responded; `nil` if none did.
    let recordedFile: URL?
    /// What to do once the outcome is reported, before the client gets it; `nil` for nothing.
    let then: (@Sendable () -> Void)?
    /// The request that a server redirected to a URL for which an entry decides; `nil` if there's none, or if the request
    /// isn't to be recorded.
    private let redirected: URLRequest?

    /// - Parameters:
    ///   - bytes: The size of the body; `nil`, the default, if it's that of the result's body.
    ///   - recordedFile: The file of the recording that responds; `nil`, the default, if none does.
    @inline(never)  // Otherwise, some twenty callers would each contain a copy.
    init(
        _ kind: Kind,
        _ plan: Plan?,
        _ result: Result<Response, URLError>,
        wasStreamed: Bool = false,
        bytes: Int? = nil,
        recordedFile: URL? = nil,
        then: (@Sendable () -> Void)? = nil,
        redirected: URLRequest? = nil
    ) {
        self.redirected = redirected
        self.kind = kind
        self.plan = plan
        self.result = result
        self.wasStreamed = wasStreamed
        self.bytes = bytes ?? (try? result.get())?.body?.length ?? 0
        self.recordedFile = recordedFile
        self.then = then
    }

    @inline(never)  // Otherwise, some thirty callers would each contain a copy.
    static func failed(_ plan: Plan?, _ error: URLError) -> RequestOutcome {
        RequestOutcome(.failed, plan, .failure(error))
    }

    /// Returns this outcome, with what happened to its request before.
    ///
    /// - Parameters:
    ///   - error: The network's error; `nil` if the network hadn't failed.
    ///   - redirected: The request to record that a server redirected to this one; `nil`, the default, for none.
    func after(_ error: URLError?, redirectOf redirected: URLRequest? = nil) -> RequestOutcome {
        var kind = kind
        if case .matched = kind, let error { kind = .usedOffline(error) } else if redirected == nil { return self }
        return copy(kind, wasStreamed: wasStreamed, redirected: redirected)
    }

    /// Returns this outcome if there's no error, and otherwise a failure with the error.
    func failing(with error: URLError?) -> RequestOutcome {
        guard let error else { return self }
        if case .failed = kind { return self }
        if case .unmatched = kind { return RequestOutcome(kind, plan, .failure(error)) }
        return hasFailed ? self : .failed(plan, error)
    }

    /// This outcome, once the client has received the response in pieces.
    var streamed: RequestOutcome { copy(kind, wasStreamed: true, redirected: redirected) }

    private func copy(_ kind: Kind, wasStreamed: Bool, redirected: URLRequest?) -> RequestOutcome {
        RequestOutcome(
            kind,
            plan,
            result,
            wasStreamed: wasStreamed,
            bytes: bytes,
            recordedFile: recordedFile,
            then: then,
            redirected: redirected
        )
    }

    package var response: Response? { try? result.get() }
    package var error: URLError? { if case .failure(let error) = result { error } else { nil } }
    var hasFailed: Bool { error != nil }

    /// Whether the response is an entry's stream that is arriving. Each piece of a stream arrives when it's due.
    package var isStream: Bool {
        guard case .matched = kind, case .arriving? = response?.body else { return false }
        return true
    }

    /// How fast the body is sent; `nil` if it's sent at once, or as it arrives.
    package var rate: Rate? {
        switch kind {
        case .matched, .usedOffline: plan?.substitution?.rate
        default: nil
        }
    }

    /// The entry that matches the request's URL, even if it doesn't respond; `nil` if no entry matches.
    package var entry: SubstitutionMap.EntryReference? { plan?.namingReference }

    /// The request whose response a test's recording run records, since no entry matches it. After redirects by
    /// entries, it's the request for the last target. `nil` if an entry decides how the request ends, if its URL is
    /// allowed, or if the test isn't recorded.
    package var recorded: URLRequest? { redirected ?? plan.flatMap { $0.isRecorded ? $0.request : nil } }

    /// Whether the response isn't that of ``recorded``, since a server redirects that request to a URL for which an entry
    /// decides how the request ends.
    package var endsAtEntry: Bool { redirected != nil && plan?.needsOrigin == false }

    /// Whether the request failed before anything was decided about it.
    package var isUndecided: Bool { plan == nil && hasFailed }
}

extension URLError {
    /// For a request that no entry matches in a strict session. The error's description explains why, and can be
    /// printed: it contains no credentials.
    package static func unmatched(_ explanation: Explanation) -> URLError {
        let shown = ShownURL(explanation.url)
        let text = explanation.text(ofSession: shown.text)
        return .explained(
            .resourceUnavailable,
            "No entry matches this request, and it can't use the network.\n\(shown.withoutCredentials(text))",
            URL(string: shown.text)
        )
    }

    /// As ``unmatched(_:)``, with a short description. Use it if the session's listener reports the full explanation
    /// itself, as a test's issue does.
    static func unmatched(_ explanation: Explanation, note: String) -> URLError {
        let shown = ShownURL(explanation.url)
        return .explained(
            .resourceUnavailable,
            "No entry matches \(explanation.method) \(shown.text). \(note)".printable,
            URL(string: shown.text)
        )
    }

    static func ofEntry(_ key: String, _ code: Code, _ url: URL?) -> URLError {
        .explained(
            code,
            "The entry “\(key)” makes this request fail with the error “\(URLErrors.text(code))”.",
            url
        )
    }

    static func detached(_ url: URL?) -> URLError {
        .explained(
            .resourceUnavailable,
            "This session's cache was detached, usually because its test ended. Use a session made in the current test.",
            url
        )
    }
}
