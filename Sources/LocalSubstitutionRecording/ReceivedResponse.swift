import Foundation
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response from the network that a recorder may keep.
struct ReceivedResponse: Sendable {
    private(set) var request: URLRequest
    private(set) var response: HTTPURLResponse
    /// The body to keep. The client receives what the server sent.
    private(set) var body: Data
    /// The requests for the targets of the redirects that led to the response.
    let redirects: [URLRequest]
    /// Whether the response is part of a site that will be shown again: a client of the server received it, or it was loaded with a
    /// page. Such a recording needs the site's redirects, its 404s, and its responses to requests with cookies.
    let isBrowsed: Bool
    /// Why the response can't be kept even if the rules allow it; `nil` if it can.
    private(set) var obstacle: RecordingRules.Refusal?
    /// Whether the body is as the server sent it, so that the server's validators describe it.
    private(set) var isOriginal = true

    init(_ exchange: Exchange) {
        self.init(
            request: exchange.request,
            response: exchange.response,
            body: exchange.body,
            redirects: exchange.redirects,
            isBrowsed: exchange.isBrowsed
        )
        if case .notHeld(let most) = exchange.obstacle { obstacle = .notHeld(most: most) }
    }

    init(
        request: URLRequest,
        response: HTTPURLResponse,
        body: Data,
        redirects: [URLRequest],
        isBrowsed: Bool = false
    ) {
        (self.request, self.response, self.body) = (request, response, body)
        (self.redirects, self.isBrowsed) = (redirects, isBrowsed)
        if isBrowsed { becomeWhole() }
    }

    /// Turns this into the response to a request without a range, if its range covers the whole body. Players request such ranges.
    private mutating func becomeWhole() {
        if response.statusCode == 200 { removeRange() }
        guard response.statusCode == 206, let url = response.url,
            response.value(forHTTPHeaderField: "Content-Range") == "bytes 0-\(body.count - 1)/\(body.count)"
        else { return }
        var headers = response.allHeaderFields as? [String: String] ?? [:]
        headers[header: "Content-Range"] = nil
        let whole = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        response = whole ?? response
        removeRange()
    }

    private mutating func removeRange() {
        for name in ["Range", "If-Range"] { request.setValue(nil, forHTTPHeaderField: name) }
    }

    /// Separates the redirect that led to a response from the response, if it's part of a site.
    ///
    /// Then this becomes the response to a request for the redirect's target, since its relative URLs would mean other URLs under
    /// the first one. Returns the redirect, to be kept under the first URL; `nil` if there was none.
    mutating func separateRedirect() -> ReceivedResponse? {
        guard isBrowsed, !redirects.isEmpty, let url = request.url, let target = response.url, target != url else {
            return nil
        }
        let head = HTTPURLResponse(
            url: url,
            statusCode: 302,
            httpVersion: "HTTP/1.1",
            headerFields: ["Location": target.absoluteString]
        )
        guard let head else { return nil }
        let redirect = ReceivedResponse(
            request: request,
            response: head,
            body: Data(),
            redirects: redirects,
            isBrowsed: true
        )
        request.url = target
        return redirect
    }

    /// Lets the app change the body. Returns whether the response may be kept.
    mutating func redact(_ redact: SubstitutionRecorder.Redaction) -> Bool {
        let given = SubstitutionRecorder.Response(request: request, head: response, body: body)
        guard let redacted = redact(given) else { return false }
        isOriginal = redacted.body == body
        body = redacted.body
        return true
    }

    /// Returns the URL that was requested.
    func url() throws(RecordingRules.Refusal) -> NormalizedURL {
        do {
            return try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            throw .url(error.fragment)
        }
    }

    /// Which headers are left out because they may contain a credential; `nil` if none are.
    var headerNote: String? {
        RecordingRules.Headers.note(
            onWithheld: RecordingRules.Headers.withheld { response.value(forHTTPHeaderField: $0) }
        )
    }

    var contentType: ContentType? {
        response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) }
    }

    /// Returns the response as a recorder's folder has it.
    func kept(_ url: NormalizedURL, file: String, digest: String, defaults: EntryFields) -> RecorderIndex.Response {
        let location = (300..<400).contains(response.statusCode) ? ["Location"] : []
        let entry = RecordedEntry(
            status: response.statusCode,
            headers: RecordingRules.Headers.kept(RecordingRules.Headers.names + location) {
                response.value(forHTTPHeaderField: $0)
            },
            type: contentType,
            body: body,
            url: url,
            file: file,
            defaults: defaults
        )
        let notes = RecorderIndex.Notes(
            file: file,
            bytes: body.count,
            digest: digest,
            etag: validator("ETag"),
            lastModified: validator("Last-Modified"),
            redirected: !redirects.isEmpty,
            date: 0
        )
        return RecorderIndex.Response(entry, notes)
    }

    /// Returns a validator's value; `nil` if the validator isn't kept. A redirect target's validators can't tell whether the copy is
    /// still right. Nor can the server's, for a body that was changed: after a 304, the client would get that body in place of the
    /// server's.
    private func validator(_ name: String) -> String? {
        guard redirects.isEmpty, isOriginal, let value = response.value(forHTTPHeaderField: name) else { return nil }
        return HTTPSyntax.problem(ofHeader: name, value: value) == nil ? value : nil
    }
}

extension ReceivedResponse {
    /// Decides about responses that arrived together. Of several for one URL, only the last can be kept.
    struct Batch {
        /// A response to keep.
        struct Accepted {
            /// The response's index in the batch.
            let number: Int
            let response: ReceivedResponse
            let url: NormalizedURL
            let digest: String
        }

        /// The responses to keep, in the order of their arrival.
        let accepted: [Accepted]
        /// The URLs whose earlier copies are dropped.
        let dropped: [NormalizedURL]
        /// Why the other responses aren't kept, by their index in the batch.
        let refusals: [Int: RecordingRules.Refusal]

        /// Decides about a batch of responses.
        ///
        /// - Parameters:
        ///   - limit: The largest total size of a recorder's files, in bytes.
        ///   - redact: Called once for each response that the rules would keep, in the order of their arrival.
        init(
            _ batch: [ReceivedResponse],
            _ foreign: ForeignEntries,
            limit: Int,
            redact: SubstitutionRecorder.Redaction?
        ) {
            var last: [String: (number: Int, response: ReceivedResponse, url: NormalizedURL)] = [:]
            var dropped: [NormalizedURL] = []
            var refusals: [Int: RecordingRules.Refusal] = [:]
            for (number, response) in batch.enumerated() {
                var response = response
                var decision = response.decision(foreign, limit: limit)
                if let redact, case .keep(let url) = decision {
                    if response.redact(redact) {
                        decision = response.decision(foreign, limit: limit)
                    } else {
                        decision = .drop(url, .refused)
                    }
                }
                switch decision {
                case .keep(let url):
                    last[url.canonical] = (number, response, url)
                case .leave(let reason):
                    refusals[number] = reason
                case .drop(let url, let reason):
                    last[url.canonical] = nil
                    dropped.append(url)
                    refusals[number] = reason
                }
            }
            accepted = last.values.sorted { $0.number < $1.number }.map { number, response, url in
                let digest = Digest.hexadecimal(of: response.body)
                return Accepted(number: number, response: response, url: url, digest: digest)
            }
            self.dropped = dropped
            self.refusals = refusals
        }
    }

    /// What a recorder does with a response that has arrived.
    private enum Decision {
        /// Keep the response in place of an earlier copy.
        case keep(NormalizedURL)
        /// Don't keep the response, and leave an earlier copy alone.
        case leave(RecordingRules.Refusal)
        /// Don't keep the response, and drop an earlier copy, which is out of date or can't be kept any more.
        case drop(NormalizedURL, RecordingRules.Refusal)
    }

    /// - Parameter limit: The largest total size of a recorder's files, in bytes.
    private func decision(_ foreign: ForeignEntries, limit: Int) -> Decision {
        let url: NormalizedURL
        do throws(RecordingRules.Refusal) {
            url = try self.url()
            if let reason = RecordingRules.refusal(of: request, url) ?? foreign.refusal(of: url) { throw reason }
            for name in isBrowsed ? ["Range"] : ["Range", "Cookie"]
            where request.value(forHTTPHeaderField: name) != nil {
                throw .requestHeader(name)
            }
        } catch {
            return .leave(error)
        }
        let refusal =
            RecordingRules.refusal(ofRedirects: redirects) ?? exclusionOfTarget(foreign)
            ?? RecordingRules.refusal(of: response, bytes: body.count, most: limit / 20, isBrowsed: isBrowsed)
            ?? obstacle
        guard let refusal else { return .keep(url) }
        return [200, 404, 410].contains(response.statusCode) ? .drop(url, refusal) : .leave(refusal)
    }

    /// Returns why the map excludes the URL that a redirect led to; `nil` if it doesn't. A redirect must not bring in what the map
    /// excludes.
    private func exclusionOfTarget(_ foreign: ForeignEntries) -> RecordingRules.Refusal? {
        guard let target = response.url, target != request.url, let url = try? NormalizedURL(target.absoluteString),
            let reason = foreign.refusal(of: url), case .excluded = reason
        else { return nil }
        return reason
    }
}
