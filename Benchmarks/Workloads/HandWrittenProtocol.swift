import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What people write by hand: a dictionary of bodies, and a response for each request. It's the yardstick “by hand”.
final class HandWrittenProtocol: URLProtocol {
    /// Subjects only add to it, before anything is measured.
    nonisolated(unsafe) static var bodies: [String: Data] = [:]

    override class func canInit(with request: URLRequest) -> Bool {
        request.url.map { bodies[$0.absoluteString] != nil } ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let headers = ["Content-Type": "image/png"]
        guard let url = request.url, let body = Self.bodies[url.absoluteString],
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: body)
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
