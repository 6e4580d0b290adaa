#if canImport(Testing)
import Foundation

extension TestSubstitutions {
    /// Returns a request of the test. If it hasn't been made yet, waits for it.
    ///
    /// The request may still be under way. To check how it ended, wait for your code first, and then look at ``requests``.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The request's method; `nil` for any method.
    ///   - number: 1 for the first request that matches, 2 for the second, and so on.
    ///   - seconds: How long to wait for the request, in seconds; 1 by default.
    /// - Throws: An error that lists the test's requests if the request isn't made in time; `CancellationError` if the
    ///   test is cancelled. Throws an error without waiting if the URL, the number or the time is invalid, or outside a
    ///   test with substitutions.
    public func request(
        _ url: String,
        method: String? = nil,
        number: Int = 1,
        within seconds: Double = 1
    ) async throws -> Request {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        guard number > 0 else {
            throw SubstitutionScope.Failure(["The number of a request is \(number). Use 1 for the first one."])
        }
        guard seconds >= 0 else {
            throw SubstitutionScope.Failure(["The time to wait is \(seconds) seconds. Use 0 or more."])
        }
        await log.wait(for: number, search, within: seconds)
        let requests = log.requests
        if let found = requests.lazy.filter({ search.includes($0.request) }).dropFirst(number - 1).first {
            return found
        }
        try Task.checkCancellation()
        throw search.failure(number, among: requests, within: seconds)
    }

    /// Returns the requests made so far for a URL, in order.
    ///
    /// - Parameters:
    ///   - url: A URL, or a match pattern such as `https://api.example.com/*`, written like a key of a map.
    ///   - method: The requests' method; `nil` for any method.
    /// - Throws: An error if `url` is neither a URL nor a match pattern, or if there's no test with substitutions.
    public func requests(matching url: String, method: String? = nil) throws -> [Request] {
        try checkScope()
        let search = try RequestSearch(url, method: method)
        return log.requests.filter { search.includes($0.request) }
    }
}
#endif
