import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// What is kept and what is not, whatever folder it would be kept in.
package enum RecordingRules {
    /// Why a recorder does not take a request; `nil` if it does. One with `Range` or `Cookie` is taken, though its response is not
    /// kept: on Linux a session's cookies are in it.
    static func refusal(of request: URLRequest, _ url: NormalizedURL) -> NotKept? {
        if let method = request.httpMethod, method != "GET" { return .method(method) }
        if request.httpBody != nil || request.httpBodyStream != nil { return .body }
        for name in CredentialHeaders.names where name != "Cookie" && request.value(forHTTPHeaderField: name) != nil {
            return .requestHeader(name)
        }
        if request.value(forHTTPHeaderField: "Accept")?.lowercased().contains(eventStream) == true {
            return .eventStream
        }
        return SecretName.first(in: url).map { .query($0) }
    }

    /// Returns why the redirects that led to a response prevent its recording; `nil` if they don't. With a credential in any of
    /// them, the response may be meant for one user alone.
    ///
    /// - Parameter redirects: The requests for the redirects' targets.
    package static func refusal(ofRedirects redirects: [URLRequest]) -> NotKept? {
        for request in redirects {
            let url: NormalizedURL
            do {
                url = try NormalizedURL(request.url?.absoluteString ?? "")
            } catch {
                return .redirect(.url(error.message))
            }
            if let name = SecretName.first(in: url) { return .redirect(.query(name)) }
            for name in CredentialHeaders.names where request.value(forHTTPHeaderField: name) != nil {
                return .redirect(.requestHeader(name))
            }
        }
        return nil
    }

    /// The statuses with which a response can be kept. An app's session keeps only 200.
    static let statuses = RedirectChain.statuses.union([200, 404, 410])

    /// Why a response is not kept; `nil` if it is.
    ///
    /// - Parameters:
    ///   - most: How many bytes its body may have.
    ///   - isBrowsed: See ``ReceivedResponse/isBrowsed``. Drops cookies and ignores rules for caches.
    static func refusal(of response: HTTPURLResponse, bytes: Int, most: Int, isBrowsed: Bool) -> NotKept? {
        guard isBrowsed ? statuses.contains(response.statusCode) : response.statusCode == 200 else {
            return .status(response.statusCode)
        }
        if let location = response.value(forHTTPHeaderField: "Location"), SecretName.isIn(location) {
            return .responseHeader("Location")
        }
        if !isBrowsed, let refusal = refusal(ofSharing: response) { return refusal }
        if let type = response.value(forHTTPHeaderField: "Content-Type"), MIMEType.essence(of: type) == eventStream {
            return .eventStream
        }
        return bytes > most ? .tooLarge(bytes: bytes, most: most) : nil
    }

    /// Returns why a response may be meant for one user only; `nil` if it isn't.
    private static func refusal(ofSharing response: HTTPURLResponse) -> NotKept? {
        if response.value(forHTTPHeaderField: "Set-Cookie") != nil { return .responseHeader("Set-Cookie") }
        if let vary = response.value(forHTTPHeaderField: "Vary"), list(vary).contains("*") {
            return .responseHeader("Vary: *")
        }
        if let control = response.value(forHTTPHeaderField: "Cache-Control") {
            let names = list(control).map { $0.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces) }
            if let found = ["no-store", "private"].first(where: { names.contains($0) }) { return .cacheControl(found) }
        }
        return nil
    }

    package static let eventStream = "text/event-stream"

    private static func list(_ header: String) -> [String] {
        MIMEType.asciiLowercased(header).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
