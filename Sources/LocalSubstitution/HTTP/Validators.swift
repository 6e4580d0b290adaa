import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The validators of a response. A client sends them to ask whether the response has changed (RFC 9110 §8.8).
package final class Validators: Sendable {
    let entityTag: String?
    let lastModified: String?

    /// `nil` if both are `nil`.
    package init?(entityTag: String?, lastModified: String?) {
        guard entityTag != nil || lastModified != nil else { return nil }
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Adds `If-None-Match` and `If-Modified-Since` to a request (RFC 9110 §13.1).
    func makeConditional(_ request: inout URLRequest) {
        request.setValue(entityTag, forHTTPHeaderField: "If-None-Match")
        request.setValue(lastModified, forHTTPHeaderField: "If-Modified-Since")
    }
}
