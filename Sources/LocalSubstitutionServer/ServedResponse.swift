import Foundation
import LocalSubstitution
import Loopback

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if !os(watchOS)
/// A response as the client receives it.
struct ServedResponse: Sendable {
    var head: ResponseHead
    var body: DirectResponse.Body
    let source: ServedRequest.Source
    /// The response before it was adapted for the client; `nil` if the server made it.
    var original: HTTPURLResponse?

    init(
        _ head: ResponseHead,
        _ body: DirectResponse.Body,
        _ source: ServedRequest.Source,
        _ original: HTTPURLResponse?
    ) {
        self.head = head
        self.body = body
        self.source = source
        self.original = original
    }

    /// Creates a response of the server's own, which says why there is no other.
    ///
    /// - Parameter url: The URL that failed, which the text begins with. The log has it anyway, so it gets only the reason.
    init(status: Int, _ reason: String, at url: URL? = nil) {
        head = ResponseHead(
            status: status,
            fields: [
                ("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
            ]
        )
        body = .data(Data("\(url.map { "\($0.absoluteString): " } ?? "")\(reason)\n".utf8))
        source = .failed(reason)
    }
}
#endif
