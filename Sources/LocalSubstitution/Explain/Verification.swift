import Dispatch
public import Foundation
import Guarded

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Whether a session gets local files from a cache, and if not, why.
    public struct Verification: Sendable, Hashable, CustomStringConvertible {
        /// Why a session does not get a local file.
        public enum Cause: String, Sendable, Hashable, CaseIterable {
            /// The map has no entry to try it with.
            case nothingToLoad
            /// The session's configuration has no cache.
            case noCache
            /// The session's configuration has another cache, which is not `URLCache.shared` now.
            case anotherCache
            /// `URLCache.shared` is this cache, but the session has another: it was made before, or has one of its own.
            case madeBefore
            /// The session's configuration ignores local data.
            case policy
            /// The request failed.
            case failed
            /// Nothing is wrong with the session: the platform's loader did not take the cache's answer.
            case platform
        }

        /// Whether the local file answered.
        public let isSubstituted: Bool
        /// The URL that was loaded; `nil` if the map has none to try.
        public let url: URL?
        /// `nil` if the local file answered.
        public let cause: Cause?
        /// One line: what came of it, and what to do.
        public let description: String
    }

    /// Loads one URL of the map through a session, and says whether the local file answered.
    ///
    /// It is one whose entry answers a plain `GET`. A session without this cache is told without a load; another one that does not
    /// get the file has loaded the URL from the network, or given up after ten seconds.
    public func verify(_ session: URLSession) async -> Verification {
        guard let url = urlToVerify else {
            return Verification(
                .nothingToLoad,
                nil,
                "no exact entry of the map answers a plain GET with a file or status"
            )
        }
        let configuration = session.configuration
        // The network can see the token, but never the proof.
        let (token, proof) = (UUID().uuidString, UUID().uuidString)
        state.withLock { $0.proofs[token] = proof }
        defer { state.withLock { $0.proofs[token] = nil } }
        var request = URLRequest(url: url)
        request.setValue(token, forHTTPHeaderField: Self.proofHeader)
        let result = isIn(configuration) ? await Self.load(request, session) : .failure(URLError(.cancelled))
        if (try? result.get())?.value(forHTTPHeaderField: Self.proofHeader) == proof {
            return Verification(isSubstituted: true, url: url, cause: nil, description: "\(url) was substituted")
        }
        let (cause, text) = cause(configuration, result)
        return Verification(cause, url, text)
    }

    /// The header with the token in a request of ``verify(_:)``, and with the proof in the response. A retained response never
    /// has it.
    static let proofHeader = "LocalSubstitution-Proof"

    func proof(for request: URLRequest) -> String? {
        guard let token = request.value(forHTTPHeaderField: Self.proofHeader) else { return nil }
        return state.withLock { $0.proofs[token] }
    }

    private func isIn(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.urlCache === self
            || (configuration.protocolClasses ?? []).contains { ($0 as? SubstitutionURLProtocol.Type)?.cache === self }
    }

    private func cause(
        _ configuration: URLSessionConfiguration,
        _ result: Result<HTTPURLResponse, any Error>
    ) -> (Verification.Cause, String) {
        guard let cache = configuration.urlCache else {
            return (
                .noCache, "the session's configuration has no urlCache: set it to this cache before the session is made"
            )
        }
        if cache !== self {
            return URLCache.shared === self
                ? (
                    .madeBefore,
                    "the session has another cache: it was made before URLCache.shared was set, or its configuration has one "
                        + "of its own, as an ephemeral one; set the configuration's urlCache, then make the session"
                )
                : (
                    .anotherCache,
                    "the session has another cache: set its configuration's urlCache, or URLCache.shared, to this one before "
                        + "the session is made"
                )
        }
        if configuration.requestCachePolicy.ignoresLocalData {
            return (
                .policy,
                "the session's configuration ignores local data (requestCachePolicy): attach SubstitutionURLProtocol, or set "
                    + "another policy"
            )
        }
        if case .failure(let error) = result { return (.failed, "the request failed: \(error.localizedDescription)") }
        return (.platform, "the loader did not take the cache's answer: attach SubstitutionURLProtocol")
    }

    /// Returns the URL of the first entry that answers a plain `GET`.
    private var urlToVerify: URL? {
        let map = map
        for entry in map.storage.index.entries where !entry.isPattern {
            guard let url = URL(string: entry.key),
                Explanation(URLRequest(url: url), Decision(URLRequest(url: url), in: map), map).verdict == .substituted
            else { continue }
            return url
        }
        return nil
    }

    /// Not with `data(for:)`: on Linux a Swift task that is cancelled meanwhile may wait for ever.
    private static func load(_ request: URLRequest, _ session: URLSession) async -> Result<HTTPURLResponse, any Error> {
        await withCheckedContinuation { continuation in
            let waiting = Guarded<CheckedContinuation<Result<HTTPURLResponse, any Error>, Never>?>(continuation)
            let task = session.dataTask(with: request) { _, response, error in
                let failure = error ?? URLError(.badServerResponse)
                waiting.withLock { $0.take() }?
                    .resume(returning: (response as? HTTPURLResponse).map { .success($0) } ?? .failure(failure))
            }
            task.resume()
            // On Linux a 401 with a challenge that nobody answers never ends.
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 10) {
                guard let continuation = waiting.withLock({ $0.take() }) else { return }
                continuation.resume(returning: .failure(URLError(.timedOut)))
                task.cancel()
            }
        }
    }
}

extension LocalSubstitutionCache.Verification {
    fileprivate init(_ cause: Cause, _ url: URL?, _ text: String) {
        self.init(
            isSubstituted: false,
            url: url,
            cause: cause,
            description: url.map { "\($0) was not substituted: \(text)" } ?? text
        )
    }
}
