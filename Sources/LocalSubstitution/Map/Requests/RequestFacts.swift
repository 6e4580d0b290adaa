package import Foundation
import Guarded

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The facts about a request that decide whether an entry matches it.
package final class RequestFacts: Sendable {
    let method: String
    let headers: [String: String]
    let body: Body

    private let parsed = Guarded<Result<JSONValue, Complaint>?>(nil)

    package init(method: String = "GET", headers: [String: String] = [:], body: Body = .none) {
        self.method = method
        self.headers = headers
        self.body = body
    }

    convenience init(_ request: URLRequest, body: Body? = nil) {
        self.init(
            method: request.httpMethod ?? "GET",
            headers: request.headers,
            body: body ?? Body(request)
        )
    }

    /// A `GET` without headers.
    static let plain = RequestFacts()

    /// `nil` if the body isn't ``Body/data(_:)``. The body is parsed at the first access.
    var json: Result<JSONValue, Complaint>? {
        guard case .data(let data) = body else { return nil }
        return parsed.withLock { parsed in
            let made = parsed ?? Self.parse(data)
            parsed = made
            return made
        }
    }

    private static func parse(_ data: Data) -> Result<JSONValue, Complaint> {
        data.withUnsafeBytes { bytes in
            Result { () throws(Complaint) in try JSONValue(bytes.bindMemory(to: UInt8.self)) }
        }
    }
}

extension RequestFacts {
    /// A request's body, as far as it's known.
    package enum Body: Sendable {
        case none
        case data(Data)
        /// A body that hasn't been read yet: a stream, or data that would take too long to check on the loader's queue.
        case unread
        /// A body that's longer than ``limit``.
        case tooLong
        /// The body of an upload task, where Foundation hides it.
        case hidden

        /// The maximum length, in bytes, of a body that conditions and handlers can see: 8 MiB.
        static let limit = 8 << 20
        /// The maximum length, in bytes, of a body that conditions see on the loader's queue: 64 KiB. A longer body is
        /// ``unread`` there, since all sessions may share that queue.
        static let limitOnLoaderQueue = 64 << 10

        /// A request with neither data nor a stream has no body. Only the request's task could tell otherwise, but a
        /// protocol doesn't know the task until loading starts.
        ///
        /// - Parameters:
        ///   - most: The maximum length of data, in bytes; ``limit`` by default. Longer data becomes ``unread`` or, if it's
        ///     even longer than ``limit``, ``tooLong``.
        ///   - isHidden: Whether the request's task has a body that Foundation hides; `false` by default.
        init(_ request: URLRequest, most: Int = limit, isHidden: Bool = false) {
            if let data = request.httpBody {
                self = data.count > Self.limit ? .tooLong : data.count > most ? .unread : .data(data)
            } else if request.httpBodyStream != nil {
                self = .unread
            } else {
                self = isHidden && request.mayHaveHiddenBody ? .hidden : .none
            }
        }

        /// ``tooLong`` for data that's longer than ``limit`` (8 MiB), and ``unread`` for other data that's longer than
        /// ``limitOnLoaderQueue`` (64 KiB).
        static func onLoaderQueue(_ request: URLRequest, isHidden: Bool = false) -> Body {
            Body(request, most: limitOnLoaderQueue, isHidden: isHidden)
        }
    }
}

extension URLRequest {
    /// Empty if there are none.
    package var headers: [String: String] { allHTTPHeaderFields ?? [:] }

    /// `nil` without a `Range` header, if the method isn't `GET` (RFC 9110 §14.2), or if the request also has an
    /// `If-Range` header. With `If-Range`, the whole body is sent, which is always correct.
    package var rangeHeader: String? {
        guard httpMethod ?? "GET" == "GET", value(forHTTPHeaderField: "If-Range") == nil else { return nil }
        return value(forHTTPHeaderField: "Range")
    }

    /// Linux's loader asks the cache even then.
    var ignoresLocalData: Bool { cachePolicy.ignoresLocalData }

    /// `false` if the request may belong to an upload task whose body is hidden.
    func showsItsBody(_ traits: LoaderTraits) -> Bool { !traits.contains(.hidesUploadBodies) || !mayHaveHiddenBody }

    fileprivate var mayHaveHiddenBody: Bool {
        httpBody == nil && httpBodyStream == nil
            && !["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
    }
}

extension URLRequest.CachePolicy {
    var ignoresLocalData: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        default: false
        }
    }
}
