import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Outcomes for a protocol. It also answers requests for which URLSession doesn't ask a cache or rejects the cache's response.
extension Responder {
    /// Returns an entry's response, even if the loader wouldn't accept it from a cache.
    func serve(_ plan: Plan, by substitution: Substitution) -> RequestOutcome {
        guard let url = plan.request.url else { return .failed(plan, URLError(.badURL)) }
        do throws(FileProblem) {
            guard let response = try response(to: plan, by: substitution) else {
                return .failed(plan, URLError(.badURL))
            }
            let answerer: Observers.Answerer = plan.cacheAnswer == nil ? .protocol : .cache
            reportSubstituted(plan, by: substitution, bytes: response.data.count, answerer)
            return RequestOutcome(.answered, plan, .success(response), pace: substitution.pace)
        } catch {
            return unreadable(error, plan, substitution, url)
        }
    }

    /// Returns an entry's response whose file is read in pieces; `nil` if the file isn't large or must be read whole.
    func serveInPieces(_ plan: Plan, by substitution: Substitution) -> RequestOutcome? {
        guard let url = plan.request.url, let name = substitution.fileName, let folder = plan.folder,
            plan.question(about: substitution) == nil, substitution.pace?.isEven ?? true
        else { return nil }
        do throws(FileProblem) {
            guard let file = try LargeFile(opening: name, in: folder) else { return nil }
            let builder = ResponseBuilder(substitution: substitution, file: nil, large: file)
            let range = plan.range.flatMap(builder.range)
            guard
                let response = plan.range.map({ builder.part($0, for: url) }) ?? builder.full(for: url)
            else { return nil }
            use(plan)
            let isHead = plan.request.httpMethod == "HEAD"
            let body = LargeFile.Part(file: file, range: isHead ? 0..<0 : range ?? 0..<file.status.size)
            reportSubstituted(plan, by: substitution, bytes: body.range.count, .protocol)
            return RequestOutcome(
                .answered,
                plan,
                .success(response),
                largeBody: body,
                pace: substitution.pace
            )
        } catch {
            return unreadable(error, plan, substitution, url)
        }
    }

    private func unreadable(
        _ problem: FileProblem,
        _ plan: Plan,
        _ substitution: Substitution,
        _ url: URL
    ) -> RequestOutcome {
        uncount(plan)
        report(problem, of: substitution, url)
        return .failed(plan, .unreadable(problem, url))
    }

    /// Returns the bytes of a stream's piece.
    ///
    /// - Throws: The error that ends the stream: the one that the piece names, or one that says why its file can't be read.
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
        fail(plan, by: substitution, .ofEntry(substitution.key, code, plan.request.url))
    }

    /// Fails a request with the error of its entry's handler.
    func fail(_ plan: Plan, by substitution: Substitution, _ error: URLError) -> RequestOutcome {
        use(plan)
        reportSubstituted(plan, by: substitution, bytes: 0, .protocol)
        return .failed(plan, error)
    }

    /// Fails a request whose handler can't be called, threw an error, or returned an answer that isn't allowed.
    ///
    /// - Parameter message: What's wrong and how to fix it.
    func mishandled(_ plan: Plan, _ message: String) -> RequestOutcome {
        use(plan)
        reportUnanswered(plan, since: message)
        let error = URLError.explained(.badServerResponse, message, plan.request.url)
        return RequestOutcome(.mishandled(message), plan, .failure(error))
    }

    /// Answers with a recorder's kept copy; returns `nil` if there's none.
    ///
    /// - Parameter isConfirmed: Whether the server has just confirmed that the copy is current.
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

    /// Fails a request that nothing answers in a session that isn't allowed to reach the network.
    ///
    /// - Parameter isBrief: Whether the error leaves the explanation to a listener.
    func unmatched(_ plan: Plan, isBrief: Bool) -> RequestOutcome {
        uncount(plan)
        var reason = plan.reasonText
        if case .network? = plan.substitution?.answer {
            reason = "the entry that names it has no “forwardTo”, and the request can't use the network"
        }
        reportUnanswered(plan, since: reason)
        let explanation = Explanation(plan, reason: reason)
        let error = isBrief ? URLError.unmatchedInBrief(explanation) : .unmatched(explanation)
        return RequestOutcome(.unmatched(explanation), plan, .failure(error))
    }

    /// Returns whether the entry for a URL is `null`.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }.map { maps.map.match($0).isExcluded } ?? false
    }

    // MARK: Reporting

    /// Reports that the network answered a request that had a fallback or that an entry forwarded.
    func reportForwarded(_ plan: Plan) {
        let url = plan.request.url
        observers.report(.forwarded, url, key: plan.namingEntry?.key ?? url?.absoluteString)
    }

    /// Reports that the network failed, so the fallback answers.
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
