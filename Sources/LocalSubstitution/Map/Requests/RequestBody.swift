package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request's body, as far as it's known.
package enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A body that hasn't been read yet: a stream, or data that would take too long to check on the loader's queue.
    case unread
    /// A body that's longer than ``limit``.
    case tooLong
    /// A body that Foundation hides, such as an upload task's body on Linux.
    case hidden

    /// The maximum length, in bytes, of a body that conditions and handlers can see: 8 MiB.
    static let limit = 8 << 20
    /// The maximum length, in bytes, of a body that conditions see on the loader's queue: 64 KiB. A longer body is
    /// ``unread`` there, since all sessions may share that queue.
    static let limitOnLoaderQueue = 64 << 10

    /// Creates the value for a request's body.
    ///
    /// - Parameter most: The maximum length of data, in bytes; ``limit`` by default. Longer data becomes ``unread`` or,
    ///   if it's even longer than ``limit``, ``tooLong``.
    init(_ request: URLRequest, most: Int = limit) {
        if let data = request.httpBody {
            self = data.count > Self.limit ? .tooLong : data.count > most ? .unread : .data(data)
        } else if request.httpBodyStream != nil {
            self = .unread
        } else {
            self = request.showsItsBody ? .none : .hidden
        }
    }

    /// Returns a request's body for the loader's queue: ``tooLong`` for data that's longer than ``limit`` (8 MiB), and
    /// ``unread`` for other data that's longer than ``limitOnLoaderQueue`` (64 KiB).
    static func onLoaderQueue(_ request: URLRequest) -> RequestBody {
        RequestBody(request, most: limitOnLoaderQueue)
    }
}

extension URLRequest {
    /// Whether a protocol sees all of the request. On Linux, Foundation hides the body of an upload task.
    var showsItsBody: Bool {
        #if canImport(Darwin)
        true
        #else
        httpBody != nil || httpBodyStream != nil
            || ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE"].contains(httpMethod ?? "GET")
        #endif
    }
}
