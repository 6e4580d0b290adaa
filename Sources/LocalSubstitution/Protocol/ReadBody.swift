import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a request, read from its stream.
enum ReadBody: Sendable {
    case data(Data)
    /// A body that is longer than ``RequestBody/limit``, in a file, from which it can be sent on.
    case long(BodyFile)

    /// What conditions see of it.
    var shown: RequestBody {
        switch self {
        case .data(let data): .data(data)
        case .long: .tooLong
        }
    }

    /// Replaces a request's stream with what was read. Each time the request is sent, its sender opens a new stream.
    func replaceStream(of request: inout URLRequest) {
        guard request.httpBodyStream != nil else { return }
        request.httpBodyStream = nil
        switch self {
        case .data(let data): request.httpBody = data
        case .long(let file): request.httpBodyStream = InputStream(url: file.url)
        }
    }
}
