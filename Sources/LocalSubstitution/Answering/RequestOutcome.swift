package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The outcome of a request that a protocol or a ``DirectLoader`` handles. It's a class because the compiler copies the
/// fields of a structure wherever the structure is passed on, which makes an app larger.
package final class RequestOutcome: Sendable {
    package enum Kind: Sendable {
        /// An entry or a recorder's copy answered.
        case answered
        /// A recorder's copy answered, since the server confirmed that it's current.
        case confirmed
        /// The network answered.
        case loaded
        /// The request is left to the client, since no entry answers it.
        case passed
        /// The request failed: its entry says so, the network failed, or a file couldn't be read.
        case failed
        /// The request failed because a handler threw an error or returned an answer that isn't allowed. The text says
        /// what's wrong and how to fix it.
        case mishandled(String)
        /// Nothing answers, and the session isn't allowed to reach the network.
        indirect case unmatched(Explanation)
    }

    package let kind: Kind
    /// What was decided about the request. `nil` if a retained response answered without a lookup, or if the request
    /// failed before a decision.
    private let plan: Plan?
    let result: Result<CachedURLResponse, URLError>
    /// The part of a large file that is the body; `nil` if the body is in the result.
    let largeBody: ResponseBuilder.LargeFile.Part?
    /// Whether the client has already received the body in pieces, so that the result has no body.
    package let isPassedOn: Bool

    init(
        _ kind: Kind,
        _ plan: Plan?,
        _ result: Result<CachedURLResponse, URLError>,
        largeBody: ResponseBuilder.LargeFile.Part? = nil,
        isPassedOn: Bool = false
    ) {
        self.kind = kind
        self.plan = plan
        self.result = result
        self.largeBody = largeBody
        self.isPassedOn = isPassedOn
    }

    static func failed(_ plan: Plan?, _ error: URLError) -> RequestOutcome {
        RequestOutcome(.failed, plan, .failure(error))
    }

    /// The response; `nil` for a request that failed.
    package var response: CachedURLResponse? { try? result.get() }
    package var error: URLError? { if case .failure(let error) = result { error } else { nil } }
    var hasFailed: Bool { error != nil }

    /// How fast the body is sent; `nil` if it's sent at once.
    var pace: Pace? { if case .answered = kind { plan?.substitution?.pace } else { nil } }

    /// The entry that matches the request's URL, even if it doesn't answer; `nil` if no entry matches.
    package var entry: SubstitutionMap.EntryReference? {
        plan?.namingEntry.map { SubstitutionMap.EntryReference($0) }
    }

    /// Whether only the server at the request's URL can answer: no entry answers the request, or its entry only changes
    /// headers.
    package var needsOrigin: Bool { plan?.needsOrigin ?? false }

    /// The alternatives that didn't answer because earlier requests had used up their limit of `times`.
    package var usedUp: [SubstitutionMap.EntryReference] {
        plan?.match?.usedUp.map { SubstitutionMap.EntryReference($0) } ?? []
    }
}

/// The outcomes of requests that reach a protocol. A protocol also answers requests for which URLSession doesn't ask a
/// cache or rejects the cache's response.
extension Responder {
    /// Returns an entry's response, even if the loader wouldn't accept it from a cache. If the entry's file can't be
    /// read, returns a failure.
    ///
    /// - Parameters:
    ///   - mayReadInPieces: Whether the client can read a large file in pieces; `false` by default.
    ///   - isFollowed: Whether the response is a redirect that's followed, so that it isn't reported; `false` by
    ///     default.
    func serve(
        _ plan: Plan,
        by substitution: Substitution,
        mayReadInPieces: Bool = false,
        isFollowed: Bool = false
    ) -> RequestOutcome {
        guard let url = plan.request.url else { return .failed(plan, URLError(.badURL)) }
        do throws(FileProblem) {
            if mayReadInPieces, let outcome = try serveInPieces(plan, by: substitution, url) { return outcome }
            guard let response = try response(to: plan, by: substitution) else {
                return .failed(plan, URLError(.badURL))
            }
            let answerer: Observers.Answerer = plan.cacheAnswer == nil ? .protocol : .cache
            if !isFollowed { reportSubstituted(plan, bytes: response.data.count, by: answerer) }
            return RequestOutcome(.answered, plan, .success(response))
        } catch {
            maps.uncount(plan)
            report(error, key: substitution.key, file: substitution.fileURL, url)
            return .failed(plan, .unreadable(error, url))
        }
    }

    /// Returns an entry's response whose body is in a large file, which the client reads in pieces. Returns `nil` if
    /// the file isn't large or must be read whole.
    private func serveInPieces(
        _ plan: Plan,
        by substitution: Substitution,
        _ url: URL
    ) throws(FileProblem) -> RequestOutcome? {
        guard let name = substitution.fileName, let folder = plan.folder, plan.question == nil,
            substitution.pace?.isEven ?? true, let file = try ResponseBuilder.LargeFile(opening: name, in: folder)
        else { return nil }
        let builder = ResponseBuilder(substitution: substitution, file: nil, large: file)
        let range = plan.range.flatMap(builder.range)
        guard let response = plan.range.map({ builder.part($0, for: url) }) ?? builder.full(for: url)
        else { return nil }
        maps.use(plan)
        let isHead = plan.request.httpMethod == "HEAD"
        let body = ResponseBuilder.LargeFile.Part(file: file, range: isHead ? 0..<0 : range ?? 0..<file.status.size)
        reportSubstituted(plan, bytes: body.range.count, by: .protocol)
        return RequestOutcome(.answered, plan, .success(response), largeBody: body)
    }

    /// Returns the bytes of one piece of an entry's stream.
    ///
    /// - Throws: The piece's own error if the piece ends the stream with an error, or an error if the piece's file
    ///   can't be read.
    func bytes(of piece: Entry.Piece, _ plan: Plan, _ substitution: Substitution) throws(URLError) -> Data {
        let url = plan.request.url
        switch piece.content {
        case .data(let data): return data
        case .error(let code): throw .ofEntry(substitution.key, code, url)
        case .file(let name):
            guard let url, let folder = plan.folder else { throw .unreadable(.missing, url) }
            do throws(FileProblem) {
                return try read(name.text, in: folder, for: plan).data
            } catch {
                report(error, key: substitution.key, file: folder.url(of: name.text), url)
                throw .unreadable(error, url)
            }
        }
    }

    /// Fails a request because its entry says so.
    func fail(_ plan: Plan, by substitution: Substitution, _ code: URLError.Code) -> RequestOutcome {
        fail(plan, .ofEntry(substitution.key, code, plan.request.url))
    }

    /// Fails a request with an error from its entry or from the entry's handler.
    func fail(_ plan: Plan, _ error: URLError) -> RequestOutcome {
        maps.use(plan)
        reportSubstituted(plan, bytes: 0, by: .protocol)
        return .failed(plan, error)
    }

    /// Fails a request whose handler can't be called, threw an error, or returned an answer that isn't allowed.
    ///
    /// - Parameter message: What's wrong and how to fix it.
    func mishandled(_ plan: Plan, _ message: String) -> RequestOutcome {
        maps.use(plan)
        reportUnanswered(plan, since: message)
        let error = URLError.explained(.badServerResponse, message, plan.request.url)
        return RequestOutcome(.mishandled(message), plan, .failure(error))
    }

    /// Answers with a recorder's kept copy. Returns `nil` if there's no copy, and a failure if the copy can't be read.
    ///
    /// - Parameter isConfirmed: Whether the server has just confirmed that the copy is current; `false` by default.
    func replay(_ plan: Plan, _ recorder: any ResponseRecorder, isConfirmed: Bool = false) -> RequestOutcome? {
        guard let url = plan.request.url else { return nil }
        do throws(FileProblem) {
            guard let response = try recorder.answer(plan.request) else { return nil }
            let (key, bytes) = (url.absoluteString, response.data.count)
            guard isConfirmed else {
                observers.report(.substituted, url, by: .protocol, key: key, bytes: bytes)
                return RequestOutcome(.answered, plan, .success(response))
            }
            observers.report(.confirmed, url, key: key, bytes: bytes)
            return RequestOutcome(.confirmed, plan, .success(response))
        } catch {
            return .failed(plan, .unreadable(error, url))
        }
    }

    /// Fails a request that nothing answers, because its session isn't allowed to reach the network.
    func unmatched(_ plan: Plan) -> RequestOutcome {
        maps.uncount(plan)
        var reason = plan.reason
        if case .network? = plan.substitution?.answer {
            reason = "the entry that names it has no “forwardTo”, and the request can't use the network"
        }
        reportUnanswered(plan, since: reason)
        let explanation = Explanation(plan, reason: reason)
        // If the session's listener explains the failure, the error's description is short.
        let isBrief = plan.rules?.listener?.explainsUnmatched == true
        let error = isBrief ? URLError.unmatchedInBrief(explanation) : .unmatched(explanation)
        return RequestOutcome(.unmatched(explanation), plan, .failure(error))
    }

    /// Returns whether the entry for a URL is `null`.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }.map { maps.map.match($0).isExcluded } ?? false
    }

    // MARK: Reporting

    /// Reports that the network answered a request. Call this if the request had a fallback, or if an entry forwarded
    /// it.
    func reportForwarded(_ plan: Plan) {
        let url = plan.request.url
        observers.report(.forwarded, url, key: plan.namingEntry?.key ?? url?.absoluteString)
    }

    /// Reports that the fallback answers because the network failed.
    func reportFallback(_ plan: Plan, _ error: URLError) {
        let url = plan.request.url
        let key = plan.namingEntry?.key ?? url?.absoluteString
        observers.report(.fellBack, url, key: key, reason: error.localizedDescription)
    }

    /// Reports what a recorder did with a response.
    func report(_ report: Exchange.Report, of url: URL) {
        switch report {
        case .kept(let file, let bytes, let note):
            observers.report(.recorded, url, file: file, bytes: bytes, reason: note)
        case .unchanged: break
        case .notKept(let reason): observers.report(.notRecorded, url, reason: reason)
        }
    }
}

extension URLError {
    /// Returns the error of a request that no entry answers in a strict session. The error's description explains why,
    /// and can be printed: it contains no credentials.
    package static func unmatched(_ explanation: Explanation) -> URLError {
        let shown = ShownURL(explanation.url)
        let text = explanation.text(
            servedBy: "nothing: this session fails requests that no entry answers",
            shownURL: shown.text
        )
        return .explained(
            .resourceUnavailable,
            "No entry answers this request, and it can't use the network.\n\(shown.withoutCredentials(text))",
            URL(string: shown.text)
        )
    }

    /// Returns the error of an unanswered request, with a short description. Use it if the session's listener reports
    /// the full explanation itself, as a test's issue does.
    static func unmatchedInBrief(_ explanation: Explanation) -> URLError {
        let shown = ShownURL(explanation.url)
        return .explained(
            .resourceUnavailable,
            "No entry answers \(explanation.method) \(shown.text). Another issue of this test says why.".printable,
            URL(string: shown.text)
        )
    }

    static func unreadable(_ problem: FileProblem, _ url: URL?) -> URLError {
        let advice = problem == .missing ? " Add it, or correct its name in the map." : ""
        return .explained(.cannotOpenFile, "The entry's file \(problem.message)\(advice)", url)
    }

    /// Returns the error of a request whose entry makes it fail.
    static func ofEntry(_ key: String, _ code: Code, _ url: URL?) -> URLError {
        .explained(
            code,
            "The entry “\(key)” makes this request fail with the error “\(URLErrorNames.text(code))”.",
            url
        )
    }

    /// Returns the error of a request in a session whose cache was detached.
    static func detached(_ url: URL?) -> URLError {
        .explained(
            .resourceUnavailable,
            "This session's cache was detached, usually because its test ended. Use a session made in the current test.",
            url
        )
    }
}
