package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// Returns the error of a request that no entry answers in a strict session. Its text explains why, is ready to
    /// print, and has no credentials.
    package static func unmatched(_ explanation: Explanation) -> URLError {
        let shown = ShownURL(explanation.url)
        let text = explanation.text(
            servedBy: "nothing: this session fails requests that no entry answers",
            shownURL: shown.text
        )
        return .explained(
            .resourceUnavailable,
            "No entry answers this request, and it can't use the network.\n\(shown.withoutCredentials(text))",
            URL(string: shown.text)
        )
    }

    /// Returns a shorter error for the same failure, for a session whose listener explains it.
    static func unmatchedInBrief(_ explanation: Explanation) -> URLError {
        let shown = ShownURL(explanation.url)
        return .explained(
            .resourceUnavailable,
            "No entry answers \(explanation.method) \(shown.text). Another issue of this test says why.".printable,
            URL(string: shown.text)
        )
    }

    static func unreadable(_ problem: FileProblem, _ url: URL?) -> URLError {
        .explained(.cannotOpenFile, "The entry's file \(problem.message)", url)
    }

    /// Returns the error of a request whose entry makes it fail.
    static func ofEntry(_ key: String, _ code: Code, _ url: URL?) -> URLError {
        .explained(
            code,
            "The entry “\(key)” makes this request fail with the error “\(URLErrorNames.text(code))”.",
            url
        )
    }

    /// Returns the error of a request in a session whose cache was detached.
    static func detached(_ url: URL?) -> URLError {
        .explained(
            .resourceUnavailable,
            "This session's cache was detached, usually because its test ended. Use a session made in the current test.",
            url
        )
    }
}
