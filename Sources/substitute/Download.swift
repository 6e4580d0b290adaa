import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One URL loaded from the network, without any cache, and how far that is.
final class Download: NSObject, URLSessionDataDelegate {
    private struct State: Sendable {
        var body = Data()
        var response: HTTPURLResponse?
        var continuation: CheckedContinuation<(response: HTTPURLResponse, body: Data), any Error>?
    }

    private let state = Guarded(State())
    private let progress = ProgressLine()

    static func load(_ url: URL) async throws -> (response: HTTPURLResponse, body: Data) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let download = Download()
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
        defer {
            session.finishTasksAndInvalidate()
            download.progress.end()
        }
        return try await withCheckedThrowingContinuation { continuation in
            download.state.withLock { $0.continuation = continuation }
            session.dataTask(with: url).resume()
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let response = response as? HTTPURLResponse
        state.withLock { $0.response = response }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (count, expected) = state.withLock { state in
            state.body.append(data)
            return (state.body.count, state.response?.expectedContentLength ?? -1)
        }
        progress.show("\(count) B" + (expected > 0 ? " of \(expected) B" : ""))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, response, body) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.response, state.body)
        }
        if let response, error == nil {
            continuation?.resume(returning: (response: response, body: body))
        } else {
            continuation?.resume(throwing: error ?? URLError(.badServerResponse))
        }
    }
}
