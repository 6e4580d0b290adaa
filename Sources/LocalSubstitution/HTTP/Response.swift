package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A response, wherever it comes from: its head, and its body.
package struct Response: Sendable {
    package enum Body: Sendable {
        case data(Data)
        /// A range of a large file's bytes.
        case file(FileBytes.Large, Range<Int>)
        /// A body of which more may arrive. The closure waits for the next bytes, and returns `nil` at the end. It returns
        /// an error if the load fails, or if the client doesn't want the response any more. (A stored closure with typed throws
        /// would need iOS 18.)
        case arriving(@Sendable () -> Result<Data?, URLError>)
    }

    package let head: URLResponse
    /// The body; `nil` if the client has it already, and it was too long to hold.
    package let body: Body?
    /// The requests for the targets of the network's redirects that led to the response.
    package let redirects: [URLRequest]

    init(_ head: URLResponse, _ body: Body?, redirects: [URLRequest] = []) {
        (self.head, self.body, self.redirects) = (head, body, redirects)
    }

    init(_ response: CachedURLResponse) { self.init(response.response, .data(response.data)) }

    /// `nil` if the body isn't in memory as a whole.
    package var data: Data? { if case .data(let data)? = body { data } else { nil } }
}

extension Response.Body {
    /// In bytes; `nil` for a body that is still arriving.
    package var length: Int? {
        switch self {
        case .data(let data): data.count
        case .file(_, let range): range.count
        case .arriving: nil
        }
    }
}

extension HTTPURLResponse {
    func isSameHead(as other: HTTPURLResponse) -> Bool { statusCode == other.statusCode && headers == other.headers }

    package var headers: [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        return headers
    }
}
