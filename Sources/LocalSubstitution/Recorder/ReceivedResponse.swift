import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response from the network, for a recorder to keep or not.
struct ReceivedResponse: Sendable {
    private(set) var request: URLRequest
    private(set) var response: HTTPURLResponse
    /// As it's kept. The client receives what the server sent.
    private(set) var body: Data
    /// The requests for the targets of the redirects that led to the response.
    let redirects: [URLRequest]
    /// Whether it's part of a site that will be shown again: a client of the server received it, or it was loaded with a page.
    /// Such a recording needs the site's redirects, its 404s, and its responses to requests with cookies.
    let isBrowsed: Bool
    /// The reason why the response can't be kept, if it could otherwise.
    var obstacle: NotKept?
    /// Whether the body is the server's, so that the server's validators describe it.
    private(set) var isOriginal = true

    init(
        request: URLRequest,
        response: HTTPURLResponse,
        body: Data,
        redirects: [URLRequest],
        isBrowsed: Bool = false,
        obstacle: NotKept? = nil
    ) {
        (self.request, self.response, self.body) = (request, response, body)
        (self.redirects, self.isBrowsed, self.obstacle) = (redirects, isBrowsed, obstacle)
        if isBrowsed { becomeWhole() }
    }

    /// Turns it into the response to a request without a range, if its range covers all bytes. Players request such ranges.
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

    /// Makes it the response to a request for the URL that a redirect led to, if it's a part of a site: its relative URLs mean
    /// others under the first URL. Returns the redirect, to be kept under that one.
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

    /// Lets the app change the body; returns whether the response may be kept.
    mutating func redact(_ redact: SubstitutionRecorder.Redaction) -> Bool {
        let given = SubstitutionRecorder.Response(request: request, head: response, body: body)
        guard let redacted = redact(given) else { return false }
        isOriginal = redacted.body == body
        body = redacted.body
        return true
    }

    /// What became of a response.
    enum Outcome: Sendable {
        case kept(file: URL, bytes: Int)
        /// There was nothing to write: the same bytes are kept already, or a newer response arrived for the same URL.
        case unchanged
        case notKept(NotKept)
    }

    /// The URL that was asked for.
    func url() throws(NotKept) -> NormalizedURL {
        do {
            return try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            throw .url(error.message)
        }
    }

    var contentType: ContentType? {
        response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) }
    }
}
