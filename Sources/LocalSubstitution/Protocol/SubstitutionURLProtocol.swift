import Dispatch
import Guarded

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A `URLProtocol` that answers, by the same map, the requests that a cache is not asked for or not believed: those with
/// `Authorization`, those that ignore local data, other methods, and any status.
///
/// ``LocalSubstitutionCache/attach(to:as:unmatched:)`` puts it into a session configuration. It takes only the requests for
/// which it has something to do. To keep a session apart from the rest of a process, as a test does, give it a cache of its
/// own:
/// ```swift
/// final class CheckoutProtocol: SubstitutionURLProtocol {
///     static let checkoutCache = LocalSubstitutionCache(map: checkoutMap)
///     override class var cache: LocalSubstitutionCache? { checkoutCache }
/// }
/// ```
open class SubstitutionURLProtocol: URLProtocol {
    /// The cache that answers; by default `URLCache.shared`, if it is one.
    open class var cache: LocalSubstitutionCache? { URLCache.shared as? LocalSubstitutionCache }

    private let delivery = Guarded(Delivery())

    /// Whether an entry applies to a request, or the session must fail without one.
    open override class func canInit(with request: URLRequest) -> Bool {
        cache?.action(for: request, by: self) != nil
    }

    /// The request as it is.
    open override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Answers, forwards, or fails.
    ///
    /// On Linux this runs on a queue that all sessions of the process share (`URLSession.swift`, `sharedQueue`): to read a file
    /// here would hold up all of them, and to use a session traps.
    open override func startLoading() {
        let attempt = delivery.withLock { $0.begin() }
        guard let cache = Self.cache, let action = cache.action(for: request, by: Self.self) else {
            return fail(URLError(.resourceUnavailable), attempt)
        }
        if let error = UnsupportedTask.error(for: task, request, action) { return fail(error, attempt) }
        // The loader hands a protocol from thread to thread itself, but Foundation does not call it Sendable.
        nonisolated(unsafe) let this = self
        let thread = LoaderThread()
        switch action {
        case .fail(let explanation):
            fail(.unmatched(explanation), attempt)
        case .answer(let lookup, let substitution):
            // On Linux the loader has asked the cache already, and what that gave has been counted.
            let isCounted = cachedResponse != nil && lookup.decision.verdict == .substituted
            guard !cache.isAtHand(substitution, lookup) else {
                return end(cache.serve(lookup, substitution, isCounted: isCounted), attempt)
            }
            Self.elsewhere {
                let result = cache.serve(lookup, substitution, isCounted: isCounted)
                thread.run { this.end(result, attempt) }
            }
        case .forward(let lookup, let substitution, let forwarder):
            Self.elsewhere { this.forward(cache, lookup, substitution, forwarder, attempt, thread) }
        }
    }

    /// Ends what was forwarded, and delivers nothing any more. A task that was suspended is started again.
    open override func stopLoading() {
        delivery.withLock { $0.stop() }?.cancel()
    }

    // MARK: Forwarding

    private func forward(
        _ cache: LocalSubstitutionCache,
        _ lookup: Lookup,
        _ substitution: Substitution,
        _ forwarder: Forwarder,
        _ attempt: Int,
        _ thread: LoaderThread
    ) {
        nonisolated(unsafe) let this = self
        let forwarding = forwarder.load(
            request,
            timeout: substitution.timeout,
            priority: task?.priority,
            answerHop: cache.answer(toRedirect:),
            askOuterSession: { challenge in
                thread.run { this.client?.urlProtocol(this, didReceive: challenge) }
            }
        ) { outcome in
            let result: Result<CachedURLResponse, URLError>
            switch outcome {
            case .failure(let error) where NetworkFailure.codes.contains(error.code):
                cache.noteFallback(lookup, error)
                result = cache.serve(lookup, substitution, isCounted: false)
            case .failure(let error):
                result = .failure(error)
            case .success(let response):
                cache.noteForwarded(lookup)
                result = .success(response)
            }
            thread.run { this.end(result, attempt) }
        }
        let goesOn = delivery.withLock { $0.follow(forwarding, attempt) }
        if goesOn { forwarding.resume() } else { forwarding.cancel() }
    }

    // MARK: Delivering

    /// Does something off the loader's thread.
    private static func elsewhere(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global(qos: .userInitiated).async(execute: work)
    }

    private func fail(_ error: URLError, _ attempt: Int) { end(.failure(error), attempt) }

    /// Tells the client how it ends, unless the task was stopped before. It must run where ``LoaderThread`` says.
    private func end(_ result: Result<CachedURLResponse, URLError>, _ attempt: Int) {
        guard delivery.withLock({ $0.end(attempt) }), let client else { return }
        switch result {
        case .success(let response):
            #if !canImport(Darwin)
            let response = response.withoutChallenge
            #endif
            client.urlProtocol(self, didReceive: response.response, cacheStoragePolicy: .notAllowed)
            // All of it at once: on Linux only the last piece arrives (`URLSessionTask.swift`, `urlProtocol(_:didLoad:)`).
            if !response.data.isEmpty { client.urlProtocol(self, didLoad: response.data) }
            client.urlProtocolDidFinishLoading(self)
        case .failure(let error):
            client.urlProtocol(self, didFailWithError: error)
        }
    }
}

/// How far a protocol's one delivery has come.
///
/// A task that is suspended stops its protocol, and starts the same one again when it is resumed.
private struct Delivery: Sendable {
    private var attempt = 0
    private var isUnderWay = false
    private var forwarding: Forwarding?

    mutating func begin() -> Int {
        attempt += 1
        isUnderWay = true
        return attempt
    }

    /// Whether an attempt goes on, so that what it has forwarded is of use.
    mutating func follow(_ forwarding: Forwarding, _ attempt: Int) -> Bool {
        guard isUnderWay, attempt == self.attempt else { return false }
        self.forwarding = forwarding
        return true
    }

    /// Gives what was forwarded and is of no use any more.
    mutating func stop() -> Forwarding? {
        isUnderWay = false
        return forwarding.take()
    }

    /// Whether an attempt may tell how it ends: once, and not after it was stopped.
    mutating func end(_ attempt: Int) -> Bool {
        guard isUnderWay, attempt == self.attempt else { return false }
        isUnderWay = false
        forwarding = nil
        return true
    }
}
