import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads the files of a folder and answers one URL with its file, as people do by hand.
@main
final class Hand: URLProtocol {
    nonisolated(unsafe) static var bodies: [String: Data] = [:]

    override class func canInit(with request: URLRequest) -> Bool {
        request.url.map { bodies[$0.absoluteString] != nil } ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let headers = ["Content-Type": "application/json"]
        guard let url = request.url, let body = Self.bodies[url.absoluteString],
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: body)
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}

    static func main() async throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[1]).appendingPathComponent("Resources")
        for number in 0..<10 {
            let file = folder.appendingPathComponent("\(number).json")
            bodies["https://api.example.com/\(number)"] = try Data(contentsOf: file)
        }
        guard let url = URL(string: "https://api.example.com/3") else { return }
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [Hand.self]
        let (body, _) = try await URLSession(configuration: configuration).data(from: url)
        print(String(decoding: body, as: UTF8.self))
    }
}
