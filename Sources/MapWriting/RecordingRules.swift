import Foundation
package import LocalSubstitution

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The rules about what is kept, which don't depend on the folder.
package enum RecordingRules {
    /// Returns why a recorder doesn't take a request; `nil` if it does. It takes a request with `Range` or `Cookie` even though the
    /// response isn't kept: on Linux, the session's cookies are in the request.
    package static func refusal(of request: URLRequest, _ url: NormalizedURL) -> NotKept? {
        if let method = request.httpMethod, method != "GET" { return .method(method) }
        if request.httpBody != nil || request.httpBodyStream != nil { return .body }
        for name in [String].credentialHeaders where name != "Cookie" && request.value(forHTTPHeaderField: name) != nil
        {
            return .requestHeader(name)
        }
        if request.value(forHTTPHeaderField: "Accept")?.lowercased().contains(eventStream) == true {
            return .eventStream
        }
        return SecretName.first(in: url).map(NotKept.query)
    }

    /// Returns why the redirects that led to a response prevent its recording; `nil` if they don't. If one of them has a
    /// credential, the response may be meant for one user alone.
    ///
    /// - Parameter redirects: The requests for the redirects' targets.
    package static func refusal(ofRedirects redirects: [URLRequest]) -> NotKept? {
        for request in redirects {
            let url: NormalizedURL
            do {
                url = try NormalizedURL(request.url?.absoluteString ?? "")
            } catch {
                return .redirect(.url(error.fragment))
            }
            if let parameter = SecretName.first(in: url) { return .redirect(.query(parameter)) }
            for name in [String].credentialHeaders where request.value(forHTTPHeaderField: name) != nil {
                return .redirect(.requestHeader(name))
            }
        }
        return nil
    }

    /// The statuses of responses that can be kept. In an app's session, only those with 200 are.
    package static let statuses = RedirectChain.statuses.union([200, 404, 410])

    /// Returns why a response isn't kept; `nil` if it is.
    ///
    /// - Parameters:
    ///   - most: The largest size of the body, in bytes.
    ///   - isBrowsed: See ``Exchange/isBrowsed``. If `true`, `Set-Cookie` and the rules for caches are ignored.
    package static func refusal(of response: HTTPURLResponse, bytes: Int, most: Int, isBrowsed: Bool) -> NotKept? {
        guard isBrowsed ? statuses.contains(response.statusCode) : response.statusCode == 200 else {
            return .status(response.statusCode)
        }
        if let location = response.value(forHTTPHeaderField: "Location"), SecretName.isIn(location) {
            return .secretHeader("Location")
        }
        if !isBrowsed, let refusal = refusal(ofSharing: response) { return refusal }
        if let type = response.value(forHTTPHeaderField: "Content-Type"), MIMEType.essence(of: type) == eventStream {
            return .eventStream
        }
        return bytes > most ? .tooLarge(bytes: bytes, most: most) : nil
    }

    /// Returns why a response may be meant for one user only; `nil` if nothing suggests that.
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
        header.asciiLowercased.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
