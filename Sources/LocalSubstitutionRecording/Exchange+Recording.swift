import Foundation
import HTTPSyntax
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How a recorder prepares a request and its response from the network.
extension Exchange {
    /// This exchange without a range if the response has the whole body; otherwise, this exchange unchanged. The body
    /// is whole if the status is 200, or if the status is 206 and `Content-Range` covers all bytes. Media players
    /// request the whole body as a range.
    var withoutRange: Exchange {
        var whole = self
        if response.statusCode != 200 {
            guard response.statusCode == 206, let url = response.url,
                response.value(forHTTPHeaderField: "Content-Range") == "bytes 0-\(body.count - 1)/\(body.count)"
            else { return self }
            var headers = response.headers
            headers[header: "Content-Range"] = nil
            let full = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
            whole.response = full ?? response
        }
        for name in ["Range", "If-Range"] { whole.request.setValue(nil, forHTTPHeaderField: name) }
        return whole
    }
}

extension Exchange {
    /// An exchange whose response is recorded.
    final class Accepted {
        private let exchange: Exchange
        let url: NormalizedURL
        /// The response to write. A closure may have changed it.
        let response: RecordedResponse
        /// The headers that a closure has set, but that aren't recorded.
        private let leftOut: [String]

        fileprivate init(
            _ exchange: Exchange,
            at url: NormalizedURL,
            _ response: RecordedResponse,
            leftOut: [String] = []
        ) {
            (self.exchange, self.url, self.response, self.leftOut) = (exchange, url, response, leftOut)
        }

        var requestHeaders: [String: String] { exchange.request.headers }

        private(set) lazy var choosing = RecordingRules.choosingHeaders(of: exchange.response)

        /// Whether the response replaces a different one that the server may have chosen for another request.
        var replacesAnother = false
        /// Whether the oldest response to another request was dropped for this one, since there were too many.
        var dropsOldest = false

        /// Returns whether the response's request and another one have the same values for all headers by which the
        /// server chose.
        func isForSameRequest(as headers: [String: String], choosing names: [String] = []) -> Bool {
            (choosing.names + names).allSatisfy { requestHeaders[header: $0] == headers[header: $0] }
        }

        /// The body's digest. It's computed at first use, since it's never needed if a later response supersedes this
        /// one.
        private(set) lazy var digest = Digest.hexadecimal(of: response.body)

        /// Clauses about headers that are left out because they may contain a credential, or although a closure has set
        /// them, and about another response that this one replaces or that was dropped for it; `nil` if there are none.
        var note: String? {
            let headers = RecordingRules.Headers.noteOnWithheld(of: exchange.response)
            let notes = [
                headers, leftOut.isEmpty ? nil : "without \(leftOut.listed())",
                replacesAnother ? RecordingRules.keptLast : nil,
                dropsOldest ? RecordingRules.keptNewest : nil,
            ].compactMap(\.self)
            return notes.isEmpty ? nil : notes.joined(separator: "; ")
        }

        /// The date in its notes is 0 until the index sets it.
        func recorded(as file: String, defaults: EntryFields) -> RecorderIndex.Response {
            let notes = RecorderIndex.Notes(
                file: file,
                bytes: response.body.count,
                digest: digest,
                etag: validator("ETag"),
                lastModified: validator("Last-Modified"),
                redirected: !exchange.redirects.isEmpty,
                vary: choosing.names.isEmpty ? nil : choosing.names,
                date: 0
            )
            let written = WrittenEntry(response, at: url, file: file, defaults: defaults)
            return RecorderIndex.Response(written: written, notes: notes)
        }

        /// Returns the value of a validator such as `ETag`. Returns `nil` if the response has no valid one, if a
        /// redirect led to the response, or if the body was changed. After a redirect or a change, a 304 wouldn't mean
        /// that the recorded body is current.
        private func validator(_ name: String) -> String? {
            guard exchange.redirects.isEmpty, response.body == exchange.body,
                let value = exchange.response.value(forHTTPHeaderField: name)
            else { return nil }
            return HTTPSyntax.problem(ofHeader: name, value: value) == nil ? value : nil
        }
    }

    /// What a recorder does with a response that has arrived.
    enum Decision {
        /// The response replaces an earlier one to the same request.
        case record(Accepted)
        /// If `dropping` is a URL, the earlier response to the same request is dropped, since it's out of date or can't
        /// be recorded any more. If it's `nil`, earlier responses stay.
        case refuse(Complaint, dropping: NormalizedURL?)
    }

    /// Decides whether to record the response, first as the server sent it and then as `redact` has changed it.
    ///
    /// - Parameters:
    ///   - foreign: The entries that the recorder didn't write. The response isn't recorded if one of them matches the
    ///     URL.
    ///   - limit: The largest total size of a recorder's files, in bytes. One body may have a twentieth of the limit.
    ///   - redact: Called once if the rules allow the server's response; `nil` to record that response.
    func decision(
        _ foreign: ForeignEntries,
        limit: Int,
        redact: RecordedResponse.Redaction?
    ) -> Decision {
        let decision = decision(foreign, limit: limit)
        guard let redact, case .record(let accepted) = decision else { return decision }
        var recorded = accepted.response
        do throws(Complaint) {
            let leftOut = try recorded.redact(redact)
            let refusal =
                RecordingRules.refusal(ofStatus: recorded.status, isBrowsed: isBrowsed)
                ?? RecordingRules.refusal(ofBytes: recorded.body.count, most: limit / 20)
            if let refusal { throw refusal }
            return .record(Accepted(self, at: accepted.url, recorded, leftOut: leftOut))
        } catch {
            return .refuse(error, dropping: accepted.url)
        }
    }

    /// The response as the server sent it, with the headers that are recorded; `nil` if the request has no URL.
    ///
    /// A server may allow just the page that asks to read a response. If the recording had that page's origin, no other
    /// page could read the response, so these headers are left out. `SubstitutionServer` sends them for each page.
    private var recorded: RecordedResponse? {
        var headers = RecordingRules.Headers.recorded(of: response)
        if !(300..<400 ~= response.statusCode) { headers["Location"] = nil }
        if headers["Access-Control-Allow-Origin"] != "*" {
            for name in ["Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"] { headers[name] = nil }
        }
        return RecordedResponse(self, headers: headers)
    }

    private func decision(_ foreign: ForeignEntries, limit: Int) -> Decision {
        let url: NormalizedURL
        do throws(Complaint) {
            url = try RecordingRules.url(of: request)
            if let reason = RecordingRules.refusal(of: request, url) ?? foreign.refusal(of: url) { throw reason }
            for name in isBrowsed ? ["Range"] : ["Range", "Cookie"]
            where request.value(forHTTPHeaderField: name) != nil {
                throw name == "Range" && response.statusCode == 206 ? .part : .requestHeader(name)
            }
        } catch {
            return .refuse(error, dropping: nil)
        }
        let refusal =
            RecordingRules.refusal(ofRedirects: redirects) ?? exclusionOfTarget(foreign)
            ?? RecordingRules.refusal(of: response, bytes: body.count, most: limit / 20, isBrowsed: isBrowsed)
            ?? notHeld
        guard let refusal else {
            return recorded.map { .record(Accepted(self, at: url, $0)) } ?? .refuse(.url("is missing"), dropping: url)
        }
        return .refuse(refusal, dropping: [200, 404, 410].contains(response.statusCode) ? url : nil)
    }

    /// Returns why the map excludes the target of the redirects; `nil` if it doesn't, or if there was no redirect. If
    /// the target is excluded, the response must not be recorded under the original URL either.
    private func exclusionOfTarget(_ foreign: ForeignEntries) -> Complaint? {
        guard let target = response.url, target != request.url, let url = try? NormalizedURL(target.absoluteString)
        else { return nil }
        return foreign.exclusion(of: url).map { .excluded(key: $0) }
    }
}
