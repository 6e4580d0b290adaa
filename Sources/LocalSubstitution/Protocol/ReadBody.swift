import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request's body, read from its stream.
enum ReadBody: Sendable {
    case data(Data)
    /// A body that is longer than ``RequestBody/limit``, in a file from which it can be sent.
    case long(BodyFile)

    /// The part of the body that conditions see.
    var shown: RequestBody {
        switch self {
        case .data(let data): .data(data)
        case .long: .tooLong
        }
    }

    /// Replaces a request's stream with the body that was read. Each time the request is sent, the sender opens a new stream.
    func replaceStream(of request: inout URLRequest) {
        guard request.httpBodyStream != nil else { return }
        request.httpBodyStream = nil
        switch self {
        case .data(let data): request.httpBody = data
        case .long(let file): request.httpBodyStream = InputStream(url: file.url)
        }
    }
}
