import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tasks that a protocol can't serve.
enum UnsupportedTask {
    /// Why a task can't be served; `nil` for most.
    static func error(for task: URLSessionTask?, _ request: URLRequest, _ action: ProtocolAction) -> URLError? {
        #if canImport(Darwin)
        return nil
        #else
        if case .fail = action { return nil }
        // Foundation traps when a protocol finishes such a task (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
        if task is URLSessionDownloadTask {
            return .explained(
                .unsupportedURL,
                "on Linux, Foundation can't finish a download task from a URLProtocol: load with a data task, and write the "
                    + "file",
                request.url
            )
        }
        // Only now the task can be seen: `canInit(with:)` gets a request.
        if case .forward = action, task is URLSessionUploadTask, request.httpBody == nil {
            return .explained(
                .requestBodyStreamExhausted,
                "on Linux, Foundation hides an upload task's body from a URLProtocol, so that it can't be sent on: set the "
                    + "request's httpBody and use a data task",
                request.url
            )
        }
        return nil
        #endif
    }
}

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

/// Errors that mean that the network, the host or the connection is not there. An HTTP error is an answer, and none of them.
enum NetworkFailure {
    static let codes: Set<URLError.Code> = {
        var codes: Set<URLError.Code> = [
            .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed, .secureConnectionFailed,
        ]
        // What Linux's loader says of a connection that ends before the head of an answer, or in the middle of its body.
        #if !canImport(Darwin)
        codes.formUnion([.badServerResponse, .unknown])
        #endif
        return codes
    }()
}
