import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tasks that a protocol can't serve.
enum UnsupportedTask {
    /// Returns whether Foundation traps when a protocol finishes a task: on Linux, a download task
    /// (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
    static func isUnfinishable(_ task: URLSessionTask?) -> Bool {
        #if canImport(Darwin)
        false
        #else
        task is URLSessionDownloadTask
        #endif
    }

    /// Returns whether Foundation hides a task's body from its protocol: on Linux, an upload task's.
    static func hidesBody(_ task: URLSessionTask?) -> Bool {
        #if canImport(Darwin)
        false
        #else
        task is URLSessionUploadTask
        #endif
    }

    /// Returns the error of a task that the protocol can't serve; `nil` if it can serve the task.
    static func error(for task: URLSessionTask?, _ plan: Plan) -> URLError? {
        // `canInit(with:)` can't check this: it receives a request and not its task.
        switch plan.action {
        case .fail, .refuse:
            nil
        case _ where isUnfinishable(task):
            .explained(
                .unsupportedURL,
                "On Linux, Foundation can't finish a download task from a URLProtocol. "
                    + "Use a data task, and write the file yourself.",
                plan.request.url
            )
        case .forward, .pass:
            error(forForwarding: task, plan.request)
        case .answer, .call, .readBody, .replay:
            nil
        }
    }

    /// Returns the error of a task whose request the protocol can't forward; `nil` if it can forward the request.
    static func error(forForwarding task: URLSessionTask?, _ request: URLRequest) -> URLError? {
        guard hidesBody(task) else { return nil }
        return .explained(
            .requestBodyStreamExhausted,
            "On Linux, Foundation hides an upload task's body from a URLProtocol, so the request can't be forwarded. "
                + "Set the request's httpBody, and use a data task.",
            request.url
        )
    }
}
