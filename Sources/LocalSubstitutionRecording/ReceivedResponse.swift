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
    var obstacle: NotKept?
    /// Whether the body is as the server sent it, so that the server's validators describe it.
    private(set) var isOriginal = true

    init(_ exchange: Exchange) {
        var obstacle: NotKept?
        if case .notHeld(let most) = exchange.obstacle { obstacle = .notHeld(most: most) }
        self.init(
            request: exchange.request,
            response: exchange.response,
            body: exchange.body,
            redirects: exchange.redirects,
            isBrowsed: exchange.isBrowsed,
            obstacle: obstacle
        )
    }

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
    func url() throws(NotKept) -> NormalizedURL {
        do {
            return try NormalizedURL(request.url?.absoluteString ?? "")
        } catch {
            throw .url(error.fragment)
        }
    }

    /// Which headers are left out because they may contain a credential; `nil` if none are.
    var headerNote: String? {
        RecordedHeaders.note(onWithheld: RecordedHeaders.withheld { response.value(forHTTPHeaderField: $0) })
    }

    var contentType: ContentType? {
        response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) }
    }
}
