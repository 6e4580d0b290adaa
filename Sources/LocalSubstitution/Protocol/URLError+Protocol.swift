import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// What a request gets that no entry answers, in a session that is to reach no network: why, ready to print.
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

    /// An error with a description of its own.
    static func explained(_ code: Code, _ description: String, _ url: URL?) -> URLError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let url { info[NSURLErrorFailingURLErrorKey] = url }
        return URLError(code, userInfo: info)
    }
}
