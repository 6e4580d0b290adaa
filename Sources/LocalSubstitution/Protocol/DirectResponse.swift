package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The result of loading with a ``DirectLoader``.
package struct DirectResponse: Sendable {
    package enum Body: Sendable {
        case data(Data)
        case large(LargeFile.Part)
        case arriving(ArrivingResponse)
    }

    package let kind: RequestOutcome.Kind
    /// The response's head and body, or the error.
    package let result: Result<(head: HTTPURLResponse, body: Body), URLError>

    init(_ outcome: RequestOutcome) {
        kind = outcome.kind
        switch outcome.result {
        case .success(let response):
            result = Self.result(response.response, outcome.largeBody.map { .large($0) } ?? .data(response.data))
        case .failure(let error):
            result = .failure(error)
        }
    }

    init(_ kind: RequestOutcome.Kind, _ head: URLResponse, _ body: Body) {
        self.kind = kind
        result = Self.result(head, body)
    }

    private static func result(_ head: URLResponse, _ body: Body) -> Result<
        (head: HTTPURLResponse, body: Body), URLError
    > {
        (head as? HTTPURLResponse).map { .success(($0, body)) } ?? .failure(URLError(.badServerResponse))
    }
}
