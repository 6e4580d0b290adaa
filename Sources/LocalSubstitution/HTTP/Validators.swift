import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a server has said of a response so that it can be asked whether there is another now (RFC 9110 §8.8).
struct Validators: Sendable, Hashable {
    let entityTag: String?
    let lastModified: String?

    /// `nil` if there is neither.
    init?(entityTag: String?, lastModified: String?) {
        guard entityTag != nil || lastModified != nil else { return nil }
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Makes a request ask only for something else (RFC 9110 §13.1).
    func makeConditional(_ request: inout URLRequest) {
        request.setValue(entityTag, forHTTPHeaderField: "If-None-Match")
        request.setValue(lastModified, forHTTPHeaderField: "If-Modified-Since")
    }
}
