package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// The error of a request that no entry answers in a strict session. It explains why, ready to print.
    static func unmatched(_ explanation: Explanation) -> URLError {
        .explained(
            .resourceUnavailable,
            "no entry answers this request, and its session may not reach the network\n"
                + explanation.text(servedBy: "nothing: this session fails requests that no entry answers"),
            explanation.url
        )
    }

    static func unreadable(_ problem: FileProblem, _ url: URL?) -> URLError {
        .explained(.cannotOpenFile, "the entry's file \(problem.message)", url)
    }

    /// The error that an entry gives a request.
    static func ofEntry(_ key: String, _ code: Code, _ url: URL?) -> URLError {
        .explained(code, "the entry “\(key)” makes this request fail", url)
    }

    /// What a request gets in a session whose cache was detached.
    static func detached(_ url: URL?) -> URLError {
        .explained(
            .resourceUnavailable,
            "the cache was detached from this session, as at the end of a test: make another session",
            url
        )
    }

    /// An error with a description from this package.
    package static func explained(_ code: Code, _ description: String, _ url: URL?) -> URLError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let url { info[NSURLErrorFailingURLErrorKey] = url }
        return URLError(code, userInfo: info)
    }
}
