public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension SubstitutionRecorder {
    /// A response that a recorder is about to keep.
    public struct Response: Sendable {
        /// The request that was made, before any redirect.
        public let request: URLRequest
        /// The response as the server sent it. Its `url` is that of the last redirect's target. Only those of its headers are
        /// kept that describe the body, and none that seems to contain a credential.
        public let head: HTTPURLResponse
        /// The bytes to keep. Change them to keep something else than the server sent.
        public var body: Data
    }
}
