#if canImport(Testing)
import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fails every request with an error that explains what to write, for a session that was used outside any scope.
final class UnscopedProtocol: URLProtocol {
    private static let explanation = """
        There are no substitutions here, so this session fails every request. Give the test or its suite the trait \
        .substituting("Fixtures/map.json"), or call withSubstitutions("Fixtures/map.json") { … }. In an exit test, call it in \
        the exit test's body. In a detached task, use a session that was made before the task.
        """

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let error = URLError.explained(.resourceUnavailable, Self.explanation, request.url)
        client?.urlProtocol(self, didFailWithError: error)
    }

    override func stopLoading() {}
}
#endif
