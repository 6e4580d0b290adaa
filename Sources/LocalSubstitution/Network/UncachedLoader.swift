package import Foundation
import Guarded

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A loader for the library's own requests. Its separate session has no cache, cookies or credentials.
package final class UncachedLoader: Sendable {
    /// The session, created at first use. It holds the collector until ``end()`` invalidates it.
    private let session = Guarded<URLSession?>(nil)
    private let collector: ResponseCollector
    private let traits: LoaderTraits

    package init(_ traits: LoaderTraits) {
        self.traits = traits
        collector = ResponseCollector(traits)
    }

    /// Don't call this during a cache lookup: on Linux, using a session there traps.
    ///
    /// - Parameters:
    ///   - limit: The longest body to load, in bytes. A load of a longer body fails with `dataLengthExceedsMaximum`.
    ///   - completion: Called once, on another queue, with the head and the body.
    package func load(
        _ request: URLRequest,
        limit: Int,
        completion: @escaping @Sendable (Result<(HTTPURLResponse, Data), URLError>) -> Void
    ) {
        let session = session.withLock { session in
            let used = session ?? makeSession()
            session = used
            return used
        }
        let task = session.dataTask(with: request.own(traits))
        let owner = ResponseCollector.Owner(limit: { _ in limit }) { result in
            completion(
                result.flatMap { response in
                    guard let head = response.head as? HTTPURLResponse, let body = response.data else {
                        return .failure(.explained(.badServerResponse, "the response isn't HTTP", request.url))
                    }
                    return .success((head, body))
                }
            )
        }
        collector.collect(task, of: session, for: owner)
        task.resume()
    }

    /// Cancels all loads. Returns without waiting: if a session's queue releases the last reference to a cache, this is
    /// called on that queue.
    package func end() {
        if let session = session.withLock({ $0.take() }) { collector.end(session) }
    }

    private func makeSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForResource = 600
        return URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
    }
}
