package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is known of a request's body.
package enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A body that hasn't been read yet: a stream, or data that takes too long to look at now.
    case unread
    /// A body that is longer than ``limit``.
    case tooLong
    /// A body that Foundation hides, such as that of an upload task on Linux.
    case hidden

    /// The longest body that is looked at, in bytes.
    static let limit = 8 << 20
    /// The longest body that is looked at on the loader's queue, which all sessions may share.
    static let limitOnLoaderQueue = 64 << 10

    /// Creates the value for a request's body.
    ///
    /// - Parameter most: The length of the longest data to look at, in bytes.
    init(_ request: URLRequest, most: Int = limit) {
        if let data = request.httpBody {
            self = data.count > Self.limit ? .tooLong : data.count > most ? .unread : .data(data)
        } else if request.httpBodyStream != nil {
            self = .unread
        } else {
            self = request.showsItsBody ? .none : .hidden
        }
    }

    /// Returns a request's body. Leaves data longer than ``limitOnLoaderQueue`` unread.
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
