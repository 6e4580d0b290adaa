#if canImport(Testing)
import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a test looks for among its requests: a URL or a match pattern, and perhaps a method.
struct RequestSearch: Sendable {
    private let url: String
    private let method: String?
    private var key = MapKey.Matcher()

    /// - Parameter method: `nil` for any method.
    /// - Throws: An error if the URL is neither a URL nor a match pattern.
    init(_ url: String, method: String?) throws(SubstitutionScope.Failure) {
        (self.url, self.method) = (url, method)
        do throws(URLParts.SyntaxError) {
            try key.insert(url)
        } catch {
            throw SubstitutionScope.Failure(["The URL or match pattern “\(url)” \(error.message)".printable])
        }
    }

    /// Returns whether a request matches the URL or pattern, and has the method if there is one.
    func includes(_ request: URLRequest) -> Bool {
        guard method == nil || method == request.httpMethod ?? "GET" else { return false }
        return request.url.flatMap { try? NormalizedURL($0.absoluteString) }.map(key.match) ?? false
    }

    /// Returns the error for fewer requests than the test waits for. It lists all requests.
    ///
    /// - Parameters:
    ///   - number: How many requests the test waits for.
    ///   - requests: All requests of the test.
    func failure(
        _ number: Int,
        among requests: [TestSubstitutions.Request],
        within seconds: Double
    ) -> SubstitutionScope.Failure {
        let count = requests.count { includes($0.request) }
        let wanted = [method, "request"].compactMap { $0 }.joined(separator: " ") + (number == 1 ? "" : "s")
        let url = URL(string: url).map { ShownURL($0).text } ?? url
        let time = "\(seconds.formatted) \(seconds == 1 ? "second" : "seconds")"
        let beginning =
            number == 1
            ? "No \(wanted) for “\(url)” was made" : "\(count) of \(number) \(wanted) for “\(url)” were made"
        let list = requests.map { "\n  \($0)" }.joined()
        return SubstitutionScope.Failure([
            "\(beginning) within \(time). "
                + (list.isEmpty ? "The test has made no requests at all." : "These requests were made:\(list)")
                + "\nCorrect the URL or the method, or wait longer (“within:”)."
        ])
    }
}

extension Double {
    /// The number as text, without a decimal point if it's an integer.
    fileprivate var formatted: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
#endif
