#if os(Linux)
import Foundation
import FoundationNetworking
import Guarded

@testable import LocalSubstitution

/// A model of Apple's loader, which lets Linux run what the cache and the protocol decide by Apple's traits.
///
/// It has only rules that are documented or reported, and was never compared with the real loader. A passing test shows what the code
/// does if a rule holds. It doesn't show that the rule holds.
///
/// - *Body*: a protocol gets a request's body as `httpBodyStream`, never as `httpBody` (reported by Mocker, OHHTTPStubs and others).
/// - *Cache*: the loader asks the configuration's cache, unless the request's policy ignores local data, and passes its response to
///   the protocol's initializer (documentation of `URLProtocol.init(task:cachedResponse:client:)`), as another object, since
///   CoreFoundation has types of its own. Whether it asks the cache or `canInit` first isn't documented, so there are both orders.
/// - *Thread*: a protocol is started and stopped on one thread with a run loop, and calls its client there (sample CustomHTTPProtocol).
/// - *Stop*: `stopLoading` is called when a task ends, is cancelled or is suspended (CustomHTTPProtocol), and a stopped protocol must
///   not call its client (documentation of `stopLoading`). A task that takes too long is ended by the loader (documentation of
///   `timeoutInterval`).
/// - *Redirects*: a protocol may announce one with `wasRedirectedTo` (documentation of `URLProtocolClient`). This package's never does.
/// - *Challenges*: a protocol passes a challenge to its client, which answers the challenge's sender (the same).
final class AppleLoader: Sendable {
    /// Which is asked first.
    enum Order: Sendable, CaseIterable {
        case cache, protocolClass
    }

    let slot: SubstitutionURLProtocol.Type
    let order: Order
    fileprivate let cache: LocalSubstitutionCache
    fileprivate let thread = ModelThread()

    init(_ cache: LocalSubstitutionCache, _ slot: SubstitutionURLProtocol.Type, order: Order = .cache) {
        (self.cache, self.slot, self.order) = (cache, slot, order)
    }

    /// Starts to load a request.
    ///
    /// - Parameter credential: The answer to a challenge; `nil` for the default handling.
    func load(_ request: URLRequest, isDownload: Bool = false, credential: URLCredential? = nil) -> AppleLoad {
        let load = AppleLoad(request, isDownload: isDownload, credential, self)
        thread.run { load.begin() }
        return load
    }

    /// Loads a request to its end.
    func outcome(_ request: URLRequest, isDownload: Bool = false) async -> AppleLoad.Outcome {
        await load(request, isDownload: isDownload).outcome()
    }
}

/// A request that the model loads.
///
/// Everything that isn't behind a lock is used on the model's thread only.
final class AppleLoad: NSObject, URLProtocolClient, @unchecked Sendable {
    /// A call of the protocol to its client, or a mistake.
    enum Call: Sendable, Equatable {
        case response(status: Int, url: String)
        case data(String)
        case finished
        case failed(URLError.Code)
        case redirected(String)
        case challenged
        /// No protocol takes the request. What the cache returned is delivered, or the network is asked.
        case left(cached: String?)
        case cancelled
        case onWrongThread
        case afterTheEnd
    }

    struct Outcome: Sendable {
        let calls: [Call]
        /// Whether the protocol was given a cached response.
        let wasCached: Bool

        var text: String { calls.map { if case .data(let text) = $0 { text } else { "" } }.joined() }
        var pieces: [String] { calls.compactMap { if case .data(let text) = $0 { text } else { nil } } }
        var status: Int? {
            calls.lazy.compactMap { if case .response(let status, _) = $0 { status } else { nil } }.first
        }
        var error: URLError.Code? {
            calls.lazy.compactMap { if case .failed(let code) = $0 { code } else { nil } }.first
        }
        /// Whether the protocol called its client as it must: one response, its data, and the end, on the model's thread.
        var isProper: Bool {
            let responses = calls.count { if case .response = $0 { true } else { false } }
            if case .data = calls.first { return false }
            guard !calls.contains(.onWrongThread), !calls.contains(.afterTheEnd) else { return false }
            if case .left = calls.first { return calls.count == 1 }
            return calls.last == .finished && responses == 1 || error != nil && responses <= 1
        }
    }

    let calls = Guarded<[Call]>([])
    private let wasCached = Guarded(false)
    private let task: ModelTask
    private let request: URLRequest
    private let credential: URLCredential?
    private let loader: AppleLoader
    private var isTaken: Bool?
    private var started: SubstitutionURLProtocol?
    /// Starts the protocol, if the task was suspended before.
    private var start: (() -> Void)?
    private var hasEnded = false
    private var isCancelledAtTheEnd = false
    private let ended = AsyncStream<Void>.makeStream()

    fileprivate init(
        _ request: URLRequest,
        isDownload: Bool,
        _ credential: URLCredential?,
        _ loader: AppleLoader
    ) {
        var request = request
        // This also removes the data.
        if let body = request.httpBody { request.httpBodyStream = InputStream(data: body) }
        (self.request, self.credential, self.loader) = (request, credential, loader)
        task = ModelTask(request, isDownload: isDownload)
    }

    // MARK: What the client of the session does

    func suspend() {
        onThread { [self] in
            guard !hasEnded else { return }
            task.setState(.suspended)
            started?.stopLoading()
        }
    }

    func resume() {
        onThread { [self] in
            guard !hasEnded else { return }
            task.setState(.running)
            if let start {
                self.start = nil
                start()
            } else {
                started?.startLoading()
            }
        }
    }

    /// - Parameter isEarly: Called on the loader's thread with whether the load hadn't ended.
    func cancel(_ isEarly: @escaping @Sendable (Bool) -> Void = { _ in }) {
        onThread { [self] in
            isEarly(!hasEnded)
            guard !hasEnded else { return }
            task.setState(.canceling)
            end(.cancelled)
        }
    }

    /// Ends the task as the loader does once the request's time is over.
    func timeOut() {
        onThread { [self] in
            guard !hasEnded else { return }
            task.setError(URLError(.timedOut))
            end(.failed(.timedOut))
        }
    }

    /// Cancels the task when it has its outcome, before the protocol is stopped.
    func cancelAtTheEnd() { onThread { [self] in isCancelledAtTheEnd = true } }

    /// Returns the calls up to the end.
    func outcome() async -> Outcome {
        for await _ in ended.stream {}
        return Outcome(calls: calls.withLock { $0 }, wasCached: wasCached.withLock { $0 })
    }

    /// Waits until the model's thread has done what it was asked to do.
    func settle() async {
        await withCheckedContinuation { continuation in onThread { continuation.resume() } }
    }

    /// Waits for a call.
    func calls(contain call: Call) async { while !calls.withLock({ $0.contains(call) }) { await settle() } }

    private func onThread(_ body: @escaping @Sendable () -> Void) { loader.thread.run(body) }

    // MARK: What the loader does

    fileprivate func begin() {
        if loader.order == .protocolClass { isTaken = loader.slot.canInit(with: request) }
        guard let task = task.task as? URLSessionDataTask, !request.cachePolicy.ignoresLocalData else {
            return proceed(nil)
        }
        loader.cache.getCachedResponse(for: task) { cached in self.onThread { self.proceed(cached) } }
    }

    private func proceed(_ cached: CachedURLResponse?) {
        guard !hasEnded else { return }
        if isTaken ?? loader.slot.canInit(with: request) {
            wasCached.withLock { $0 = cached != nil }
            let start = { [self] in
                let made = loader.slot.init(task: task.task, cachedResponse: cached?.asAnotherObject, client: self)
                started = made
                made.startLoading()
            }
            if task.task.state == .suspended { self.start = start } else { start() }
        } else {
            end(.left(cached: cached.map { String(decoding: $0.data, as: UTF8.self) }))
        }
    }

    private func end(_ call: Call) {
        note(call)
        hasEnded = true
        if isCancelledAtTheEnd { task.setState(.canceling) }
        if task.task.state != .canceling { task.setState(.completed) }
        started?.stopLoading()
        // It refers to its client.
        (started, start) = (nil, nil)
        ended.continuation.finish()
    }

    private func note(_ call: Call) {
        let mistake: Call? = loader.thread.isCurrent ? hasEnded ? .afterTheEnd : nil : .onWrongThread
        calls.withLock { $0.append(mistake ?? call) }
    }

    // MARK: The protocol's client

    func urlProtocol(
        _ urlProtocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        note(.response(status: status, url: response.url?.absoluteString ?? ""))
    }

    func urlProtocol(_ urlProtocol: URLProtocol, didLoad data: Data) {
        note(.data(String(decoding: data, as: UTF8.self)))
    }

    func urlProtocolDidFinishLoading(_ urlProtocol: URLProtocol) { end(.finished) }

    func urlProtocol(_ urlProtocol: URLProtocol, didFailWithError error: any Error) {
        end(.failed((error as? URLError)?.code ?? .unknown))
    }

    func urlProtocol(
        _ urlProtocol: URLProtocol,
        wasRedirectedTo request: URLRequest,
        redirectResponse: URLResponse
    ) {
        note(.redirected(request.url?.absoluteString ?? ""))
    }

    func urlProtocol(_ urlProtocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        note(.challenged)
        guard let credential else {
            challenge.sender?.performDefaultHandling(for: challenge)
            return
        }
        challenge.sender?.use(credential, for: challenge)
    }

    func urlProtocol(_ urlProtocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
    func urlProtocol(_ urlProtocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
}

extension CachedURLResponse {
    /// An equal response that's another object.
    fileprivate var asAnotherObject: CachedURLResponse {
        let copy = (response as? HTTPURLResponse).flatMap { http in
            http.url.flatMap {
                HTTPURLResponse(url: $0, statusCode: http.statusCode, httpVersion: nil, headerFields: http.headers)
            }
        }
        return CachedURLResponse(response: copy ?? response, data: data, userInfo: nil, storagePolicy: storagePolicy)
    }
}

/// The facts of a task whose state the model sets.
private struct ModelTask: Sendable {
    let task: URLSessionTask
    private let change: @Sendable ((inout Facts) -> Void) -> Void

    /// - Parameter isDownload: Whether it's a download task. Otherwise, it's an upload task, which is a data task, too.
    init(_ request: URLRequest, isDownload: Bool) {
        if isDownload {
            let task = Download(request)
            self.task = task
            change = { change in task.facts.withLock { change(&$0) } }
        } else {
            let task = Upload(request)
            self.task = task
            change = { change in task.facts.withLock { change(&$0) } }
        }
    }

    func setState(_ state: URLSessionTask.State) { change { $0.state = state } }
    func setError(_ error: URLError) { change { $0.error = error } }

    fileprivate struct Facts: Sendable {
        let request: URLRequest
        var state = URLSessionTask.State.running
        var error: URLError?
    }

    private final class Upload: URLSessionUploadTask, @unchecked Sendable {
        let facts: Guarded<Facts>

        init(_ request: URLRequest) {
            facts = Guarded(Facts(request: request))
            super.init()
        }

        override var originalRequest: URLRequest? { facts.withLock { $0.request } }
        override var currentRequest: URLRequest? { originalRequest }
        override var state: State { facts.withLock { $0.state } }
        override var error: (any Error)? { facts.withLock { $0.error } }
        override var priority: Float {
            get { 0.5 }
            set {}
        }
    }

    private final class Download: URLSessionDownloadTask, @unchecked Sendable {
        let facts: Guarded<Facts>

        init(_ request: URLRequest) {
            facts = Guarded(Facts(request: request))
            super.init()
        }

        override var originalRequest: URLRequest? { facts.withLock { $0.request } }
        override var currentRequest: URLRequest? { originalRequest }
        override var state: State { facts.withLock { $0.state } }
        override var error: (any Error)? { facts.withLock { $0.error } }
        override var priority: Float {
            get { 0.5 }
            set {}
        }
    }
}

/// A thread with a run loop.
private final class ModelThread: Sendable {
    private final class State: Sendable {
        let isStopped = Guarded(false)
        let loop = Guarded<Loop?>(nil)
        let isReady = DispatchSemaphore(value: 0)
    }

    private struct Loop: @unchecked Sendable {
        // Unchecked, since `RunLoop` isn't Sendable. Only `perform` is called on other threads.
        let runLoop: RunLoop
        let thread: Thread
    }

    private let state = State()

    init() {
        Thread.detachNewThread { [state] in
            state.loop.withLock { $0 = Loop(runLoop: .current, thread: .current) }
            // Without a source, a run loop ends at once.
            RunLoop.current.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
            state.isReady.signal()
            // Linux's `perform` doesn't wake a run loop, so this one looks again every millisecond.
            while !state.isStopped.withLock({ $0 }) {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
            }
        }
        state.isReady.wait()
    }

    deinit { state.isStopped.withLock { $0 = true } }

    var isCurrent: Bool { state.loop.withLock { $0?.thread === Thread.current } }

    func run(_ body: @escaping @Sendable () -> Void) { state.loop.withLock { $0 }?.runLoop.perform { body() } }
}
#endif
