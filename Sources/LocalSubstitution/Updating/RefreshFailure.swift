import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reason why the network has no newer copy, in readable words.
struct RefreshFailure: Error {
    let reason: String
}

extension NewerCopies.Question {
    /// A plain `GET` for the URL. Leaves out the fragment, which is never sent.
    var request: URLRequest? {
        let text = requested.absoluteString.prefix { $0 != "#" }
        return URL(string: String(text)).map { URLRequest(url: $0, cachePolicy: .reloadIgnoringLocalCacheData) }
    }

    /// Throws unless a response may be stored and returned for later requests, whatever their headers.
    func check(_ response: HTTPURLResponse) throws(RefreshFailure) {
        guard response.statusCode == 200 else {
            throw RefreshFailure(reason: "the server answered \(response.statusCode)")
        }
        if let value = response.value(forHTTPHeaderField: "Cache-Control"),
            LoaderRules.directives(value)["no-store"] != nil
        {
            throw RefreshFailure(reason: "the server's Cache-Control says “no-store”")
        }
        if response.value(forHTTPHeaderField: "Vary")?.contains("*") == true {
            throw RefreshFailure(reason: "the server's Vary says “*”")
        }
        // Captive portals answer every request with a login page.
        let expected = MIMEType.fileExtension(of: fileName).flatMap { MIMEType.guess(forExtension: $0) }
        if let expected, !expected.contains("html"), response.mimeType?.lowercased() == "text/html" {
            throw RefreshFailure(reason: "the server sent text/html, but the file is \(expected)")
        }
    }
}
