import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Responses for a protocol, which answers where URLSession doesn't ask a cache or rejects its response.
extension Responder {
    /// Returns an entry's response, even if the loader wouldn't take it from a cache.
    func serve(_ lookup: Lookup, by substitution: Substitution) -> RequestOutcome {
        guard let url = lookup.request.url else { return .failed(lookup, URLError(.badURL)) }
        do throws(FileProblem) {
            guard let response = try response(to: lookup, by: substitution) else {
                return .failed(lookup, URLError(.badURL))
            }
            if lookup.decision.cacheAnswer != nil {
                reportSubstituted(url, by: substitution, response)
            } else {
                reportServed(url, key: substitution.key, file: substitution.fileURL, bytes: response.data.count)
            }
            return .answered(lookup, response)
        } catch {
            return unreadable(error, lookup, substitution, url)
        }
    }

    /// Returns an entry's response whose large file is read in pieces; `nil` if the entry doesn't have a large file.
    func serveInPieces(_ lookup: Lookup, by substitution: Substitution) -> RequestOutcome? {
        guard let url = lookup.request.url, let name = substitution.fileName, let folder = lookup.folder,
            lookup.question(about: substitution) == nil
        else { return nil }
        do throws(FileProblem) {
            guard let file = try LargeFile(opening: name, in: folder) else { return nil }
            let builder = ResponseBuilder(substitution: substitution, file: nil, large: file)
            let range = lookup.request.rangeHeader.flatMap(builder.range)
            guard
                let response = lookup.request.rangeHeader.map({ builder.part($0, for: url) }) ?? builder.full(for: url)
            else { return nil }
            use(lookup)
            let isHead = lookup.request.httpMethod == "HEAD"
            let body = LargeFile.Part(file: file, range: isHead ? 0..<0 : range ?? 0..<file.status.size)
            reportServed(url, key: substitution.key, file: substitution.fileURL, bytes: body.range.count)
            var outcome = RequestOutcome.answered(lookup, response)
            outcome.largeBody = body
            return outcome
        } catch {
            return unreadable(error, lookup, substitution, url)
        }
    }

    private func unreadable(
        _ problem: FileProblem,
        _ lookup: Lookup,
        _ substitution: Substitution,
        _ url: URL
    ) -> RequestOutcome {
        uncount(lookup)
        report(problem, of: substitution, url)
        return .failed(lookup, .unreadable(problem, url))
    }

    /// Fails a request because its entry says so.
    func fail(_ lookup: Lookup, by substitution: Substitution, _ code: URLError.Code) -> RequestOutcome {
        use(lookup)
        observers.count { $0.served += 1 }
        if let url = lookup.request.url {
            observers.emit(.substituted(url, key: substitution.key, file: nil, bytes: 0))
        }
        return .failed(lookup, .ofEntry(substitution.key, code, lookup.request.url))
    }

    /// Returns the copy that was kept; `nil` if it has none.
    ///
    /// - Parameter isConfirmed: Whether the network has just said that the copy is current.
    func replay(_ lookup: Lookup, _ keeper: any ResponseKeeper, isConfirmed: Bool = false) -> RequestOutcome? {
        guard let url = lookup.request.url else { return nil }
        do throws(FileProblem) {
            guard let response = try keeper.answer(lookup.request) else { return nil }
            let (key, bytes) = (url.absoluteString, response.data.count)
            guard isConfirmed else {
                reportServed(url, key: key, file: nil, bytes: bytes)
                return .answered(lookup, response)
            }
            // It's counted already: the network's answer is reported before.
            observers.emit(.confirmed(url, key: key, bytes: bytes))
            return RequestOutcome(.confirmed, lookup, .success(response))
        } catch {
            return .failed(lookup, .unreadable(error, url))
        }
    }

    /// Fails a request that nothing answers in a session that isn't allowed to reach the network.
    ///
    /// - Parameter isBrief: Whether a listener explains the failure, so that the error needn't.
    func unmatched(_ lookup: Lookup, isBrief: Bool) -> RequestOutcome {
        uncount(lookup)
        var reason = lookup.decision.reason
        if case .forward = lookup.decision.outcome {
            reason = "its entry has no “forwardTo”, and the request can't use the network"
        }
        reportUnanswered(lookup, since: reason)
        let explanation = Explanation(lookup.request, lookup.decision, lookup.map, reason: reason)
        let error = isBrief ? URLError.unmatchedInBrief(explanation) : .unmatched(explanation)
        return RequestOutcome(.unmatched(explanation), lookup, .failure(error))
    }

    /// Returns whether the entry for a URL is `null`.
    func excludes(_ url: URL?) -> Bool {
        url.flatMap { try? NormalizedURL($0.absoluteString) }.map { maps.map.match($0).isExcluded } ?? false
    }

    // MARK: Reporting

    private func reportServed(_ url: URL, key: String, file: URL?, bytes: Int) {
        observers.count {
            $0.served += 1
            $0.bytes += bytes
        }
        observers.emit(.substituted(url, key: key, file: file, bytes: bytes))
    }

    /// Counts and reports that the network answered a request that had a fallback or that an entry sent on.
    func reportForwarded(_ lookup: Lookup) {
        observers.count { $0.forwarded += 1 }
        guard let url = lookup.request.url else { return }
        observers.emit(.forwarded(url, key: lookup.decision.namingEntry?.key ?? url.absoluteString))
    }

    /// Counts and reports that the network failed, so the fallback answers.
    func reportFallback(_ lookup: Lookup, _ error: URLError) {
        observers.count { $0.fellBack += 1 }
        guard let url = lookup.request.url else { return }
        let key = lookup.decision.namingEntry?.key ?? url.absoluteString
        observers.emit(.fellBack(url, key: key, reason: error.localizedDescription))
    }

    /// Counts and reports what became of a response that may be kept.
    func report(_ report: Exchange.Report, _ lookup: Lookup) {
        guard let url = lookup.request.url else { return }
        switch report {
        case .kept(let file, let bytes, let note):
            observers.count { $0.recorded += 1 }
            observers.emit(.recorded(url, file: file, bytes: bytes, reason: note))
        case .unchanged:
            break
        case .notKept(let reason):
            observers.emit(.notRecorded(url, reason: reason))
        }
    }
}
