import Dispatch
import Foundation
import Guarded
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A URLSession that loads any number of requests at a time.
final class Loader: Sendable {
    struct Answer: Sendable {
        let response: URLResponse
        let body: Data
        let source: Fetch.Source
        /// The requests for the targets of the redirects that led to the response.
        var redirects: [URLRequest] = []
    }

    typealias Completion = @Sendable (Result<Answer, URLError>) -> Void

    private let session: URLSession
    private let collector = ResponseCollector()
    private let limit: ByteCount
    private let sources: AnswerSources?
    private let progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)?

    /// - Parameters:
    ///   - limit: The longest body to load from the network. An entry's own file may be longer.
    ///   - sources: Says what answered. Without it, the answer is always the network.
    ///   - progress: Called with the number of bytes of a body that have arrived, and the expected number if it's known.
    init(
        _ configuration: URLSessionConfiguration,
        limit: ByteCount = .standardLimit,
        _ sources: AnswerSources? = nil,
        progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)? = nil
    ) {
        self.limit = limit
        self.sources = sources
        self.progress = progress
        session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
    }

    /// Loads a request. The completion is called once, on a queue of the session.
    func load(_ request: URLRequest, completion: @escaping Completion) {
        let task = session.dataTask(with: request)
        let source = Guarded<Fetch.Source?>(nil)
        var owner = ResponseCollector.Owner(limit: limit.bytes, progress: progress) { [limit] result in
            completion(
                result.mapError { error in
                    guard error.code == .dataLengthExceedsMaximum else { return error }
                    return URLError(error.code, userInfo: [NSLocalizedDescriptionKey: limit.refusal])
                }.map { response in
                    Answer(
                        response: response.head,
                        body: response.body ?? Data(),
                        source: source.withLock { $0 } ?? .network,
                        redirects: response.redirects
                    )
                }
            )
        }
        owner.isLimited = { [sources] head in
            let taken = sources?.take(head, to: request) ?? .network
            source.withLock { $0 = taken }
            return switch taken {
            case .substituted, .confirmed: false
            case .defaultCache, .network, .failed: true
            }
        }
        collector.collect(task, of: session, for: owner)
        task.resume()
    }

    func load(_ request: URLRequest) async -> Result<Answer, URLError> {
        // Not `URLSession.data(for:)`, which on Linux never ends for a 401 whose challenge isn't answered.
        await withCheckedContinuation { continuation in
            load(request) { continuation.resume(returning: $0) }
        }
    }

    /// Cancels all loads. Uses another queue, since on Linux this call waits until everything that arrived is decoded.
    func end() {
        DispatchQueue.global(qos: .utility).async { [session] in session.invalidateAndCancel() }
    }
}
