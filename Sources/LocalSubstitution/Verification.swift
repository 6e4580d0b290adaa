import Dispatch
public import Foundation
import Guarded

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Whether a session gets responses from the cache's map, and if not, why not.
    public enum Verification: Sendable, Hashable, CustomStringConvertible {
        /// An entry of the map matched this URL, and the session got its response.
        case substituted(URL)
        /// The session got no response from the map. The reason says why.
        case notSubstituted(Reason)

        /// Why a session doesn't get a response from the map. Two reasons of the same kind are equal, even if their
        /// descriptions differ.
        public struct Reason: Sendable, Hashable, CustomStringConvertible {
            private let kind: String
            /// What happened, and what to do.
            public let description: String

            /// The map has no entry whose URL can be loaded to verify the session.
            public static let nothingToLoad = Reason(
                kind: "nothingToLoad",
                description:
                    "The map has no URL to verify with. Add a key without * that matches a plain GET and returns a file, json, text or status."
            )
            /// The session's configuration has no cache.
            public static let noCache = Reason(
                kind: "noCache",
                description:
                    "The session's configuration has no urlCache. Attach the cache to the configuration, then make the session."
            )
            /// The session's configuration has another cache, and `URLCache.shared` isn't this cache either.
            public static let anotherCache = Reason(
                kind: "anotherCache",
                description:
                    "The session has another cache. Attach this cache to the session's configuration, then make the session."
            )
            /// `URLCache.shared` is this cache, but the session has another cache. The session was made earlier, or its
            /// configuration has its own cache.
            public static let madeBefore = Reason(
                kind: "madeBefore",
                description:
                    "The session has another cache. The session was made before URLCache.shared was set, or its "
                    + "configuration, perhaps an ephemeral one, has its own cache. Attach the cache to the configuration, "
                    + "then make the session."
            )
            /// The session's configuration ignores local data.
            public static let policy = Reason(
                kind: "policy",
                description:
                    "The session's configuration ignores local data (requestCachePolicy). Attach the cache to the "
                    + "configuration, or set another requestCachePolicy, then make the session."
            )
            /// The session, perhaps `URLSession.shared`, uses the newer of Apple's two loaders.
            public static let newerLoader = Reason(
                kind: "newerLoader",
                description:
                    "The configuration's usesClassicLoadingMode is false, and Apple's newer loader might not use custom "
                    + "URL protocols. Set usesClassicLoadingMode to true, then make the session."
            )
            /// As ``newerLoader``, for `URLSession.shared`, whose configuration can't be changed.
            static let newerLoaderOfSharedSession = Reason(
                kind: "newerLoader",
                description:
                    "URLSession.shared uses Apple's newer loader, which might not use custom URL protocols. Attach the "
                    + "cache to a configuration, make a session with that configuration, and use this session instead."
            )
            /// The request failed.
            public static let failed = Reason(kind: "failed", description: "The request failed.")
            /// The session is set up correctly, but URLSession didn't use the cache's response.
            public static let platform = Reason(
                kind: "platform",
                description:
                    "URLSession didn't use the cache's response. Attach the cache to the session's configuration."
            )

            func about(_ url: URL, _ detail: String = "") -> Reason {
                Reason(kind: kind, description: "\(url) wasn't substituted. \(description)\(detail)")
            }

            /// Compares the kinds of reasons.
            public static func == (first: Reason, second: Reason) -> Bool { first.kind == second.kind }
            /// Hashes the kind of reason.
            public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
        }

        /// One line that says what happened and what to do.
        public var description: String {
            switch self {
            case .substituted(let url): "\(url) was substituted."
            case .notSubstituted(let reason): reason.description
            }
        }
    }

    /// Loads one URL of the map through a session, and returns whether the session got the map's response.
    ///
    /// ```swift
    /// switch await cache.verify(session) {
    /// case .substituted(let url): print("The session uses the map: \(url)")
    /// case .notSubstituted(let reason): print(reason)
    /// }
    /// ```
    ///
    /// The URL is a key without `*` whose entry responds to a plain `GET`. If the session has this cache but doesn't
    /// use its response, the session loads the URL from the network. The load is cancelled after ten seconds.
    ///
    /// The request doesn't count in ``statistics``, causes no event that says how it ended, and uses none of
    /// ``unusedEntries``.
    ///
    /// If the session doesn't have this cache, nothing is loaded. There's one exception: on Apple platforms, while this
    /// cache is installed, `URLSession.shared` always loads the URL, because it may use the installed protocol even if
    /// its configuration has another cache and doesn't list the protocol.
    public func verify(_ session: URLSession) async -> Verification {
        guard let url = urlToVerify else { return .notSubstituted(.nothingToLoad) }
        let configuration = session.configuration
        let missing = missing(in: configuration)
        if let missing, !mayAskInstalledProtocol(session) { return .notSubstituted(missing.about(url)) }
        let (token, proof) = (UUID().uuidString, UUID().uuidString)
        responder.proofs.withLock { $0[token] = proof }
        defer { responder.proofs.withLock { $0[token] = nil } }
        var request = URLRequest(url: url)
        request.setValue(token, forHTTPHeaderField: Responder.proofHeader)
        let result = await Self.load(request, session)
        if (try? result.get())?.value(forHTTPHeaderField: Responder.proofHeader) == proof {
            return .substituted(url)
        }
        let usesNewerLoader =
            responder.traits.contains(.hasProtocols) && configuration.usesNewerLoader(responder.traits)
        if usesNewerLoader, session === URLSession.shared {
            return .notSubstituted(.newerLoaderOfSharedSession.about(url))
        }
        if let missing { return .notSubstituted(missing.about(url)) }
        if configuration.requestCachePolicy.ignoresLocalData { return .notSubstituted(.policy.about(url)) }
        if usesNewerLoader { return .notSubstituted(.newerLoader.about(url)) }
        if case .failure(let error) = result {
            return .notSubstituted(
                .failed.about(
                    url,
                    " \(error.localizedDescription.sentence) Attach the cache to the session's configuration, or fix "
                        + "what made the request fail."
                )
            )
        }
        return .notSubstituted(.platform.about(url))
    }

    /// Returns whether a session may ask the installed protocol although the session's configuration doesn't list it.
    private func mayAskInstalledProtocol(_ session: URLSession) -> Bool {
        !responder.traits.contains(.sharedSessionKeepsItsCache) && session === URLSession.shared
            && Self.installed === self
    }

    /// Returns why a session with this configuration can't use this cache; `nil` if it may use the cache.
    func missing(in configuration: URLSessionConfiguration) -> Verification.Reason? {
        let isAttached = (configuration.protocolClasses ?? []).contains {
            ($0 as? SubstitutionURLProtocol.Type)?.attachmentInUse?.responder === responder
        }
        // An installed cache shows only in `urlCache`, since Apple's sessions don't list registered protocols.
        let cache = (configuration.urlCache as? SharedSessionCache)?.target ?? configuration.urlCache
        guard !isAttached, cache !== self else { return nil }
        guard cache != nil else { return .noCache }
        return URLCache.shared === self ? .madeBefore : .anotherCache
    }

    /// The URL that ``verify(_:)`` loads: the first key without `*` whose entry itself responds to a plain `GET`, but
    /// not with a redirect. `nil` if there's no such key.
    private var urlToVerify: URL? {
        let map = map
        for entry in map.storage.index.entries where !entry.isPattern {
            guard let url = URL(string: entry.key) else { continue }
            let plan = Plan(URLRequest(url: url), in: map, traits: responder.traits)
            // A redirect can't be verified: the session would follow it.
            guard case .answer(let substitution) = plan.action, !substitution.isFollowed,
                Explanation(plan).cacheOnly.outcome == .matched
            else { continue }
            return url
        }
        return nil
    }

    /// Loads a request, for at most ten seconds. Doesn't use `data(for:)`: on Linux, that method may wait forever if
    /// the Swift task is cancelled.
    private static func load(_ request: URLRequest, _ session: URLSession) async -> Result<HTTPURLResponse, any Error> {
        await withCheckedContinuation { continuation in
            let waiting = Guarded<CheckedContinuation<Result<HTTPURLResponse, any Error>, Never>?>(continuation)
            let task = session.dataTask(with: request) { _, response, error in
                let failure = error ?? URLError(.badServerResponse)
                waiting.withLock { $0.take() }?
                    .resume(returning: (response as? HTTPURLResponse).map { .success($0) } ?? .failure(failure))
            }
            task.resume()
            // On Linux, a task with a 401 never ends if its challenge isn't answered.
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 10) {
                guard let continuation = waiting.withLock({ $0.take() }) else { return }
                continuation.resume(returning: .failure(URLError(.timedOut)))
                task.cancel()
            }
        }
    }
}
