import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One question to the network for something newer than an entry's file.
struct Refresh: Sendable {
    /// The URL in the form in which equal ones are the same.
    let url: String
    /// The URL as it was asked for.
    let requested: URL
    let key: String
    let fileName: String
    let folder: ResourcesFolder

    struct Failure: Error {
        /// Readable.
        let reason: String
    }

    /// A plain `GET`, without the fragment, which is no server's business.
    var request: URLRequest? {
        let text = requested.absoluteString.prefix { $0 != "#" }
        return URL(string: String(text)).map { URLRequest(url: $0, cachePolicy: .reloadIgnoringLocalCacheData) }
    }

    /// Whether an answer may be kept, and given for later requests, whatever their headers.
    func check(_ response: HTTPURLResponse) throws(Failure) {
        guard response.statusCode == 200 else { throw Failure(reason: "the server answered \(response.statusCode)") }
        if let value = response.value(forHTTPHeaderField: "Cache-Control"),
            LoaderRules.directives(value)["no-store"] != nil
        {
            throw Failure(reason: "the server's Cache-Control says “no-store”")
        }
        if response.value(forHTTPHeaderField: "Vary")?.contains("*") == true {
            throw Failure(reason: "the server's Vary says “*”")
        }
        // So answers a network that wants somebody to sign in first, whatever it is asked for.
        let expected = MIMEType.fileExtension(of: fileName).flatMap { MIMEType.guess(forExtension: $0) }
        if let expected, !expected.contains("html"), response.mimeType?.lowercased() == "text/html" {
            throw Failure(reason: "the server sent text/html where the file is \(expected)")
        }
    }
}
