public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension SubstitutionRecorder {
    /// A response that a recorder is about to keep.
    public struct Response: Sendable {
        /// The original request, before any redirect.
        public let request: URLRequest
        /// The response as the server sent it. Its `url` is that of the last redirect's target. Of its headers, only those that
        /// describe the body are kept, and none that seems to contain a credential.
        public let head: HTTPURLResponse
        /// The bytes to keep. Change them to keep something different from what the server sent.
        public var body: Data
    }
}
