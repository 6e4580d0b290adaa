import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A `URLProtocol` that responds with the cache's map, also to requests for which URLSession doesn't ask a cache: those
/// with `Authorization`, with a policy that ignores local data, or with methods other than GET and HEAD. Its responses
/// can have any status, even one that URLSession rejects from a cache.
///
/// ``LocalSubstitutionCache/attach(to:unmatched:)`` adds a subclass to a configuration's `protocolClasses`. The
/// subclass intercepts only requests that it responds to, forwards or fails.
package class SubstitutionURLProtocol: URLProtocol {
    class var attachment: Attachment? { nil }
    /// The attachment, unless it was released and would have to be made again.
    class var attachmentInUse: Attachment? { attachment }

    private let delivery = Guarded(Delivery())
    /// The traits of the session's loader, once the protocol is started.
    private var traits = LoaderTraits.current
    /// The pieces of the body so far, if a completion handler gets only the last one. Used only on the ``LoaderThread``.
    private var passed = Data()
    /// Tells the session's listener what happens to the request; `nil` if there's no listener.
    private let heard = Guarded<(@Sendable (SessionRules.Listener.Progress) -> Void)?>(nil)
    /// Where the request's end is reported; `nil` unless a load is under way.
    private let end = Guarded<RequestEnd?>(nil)

    /// Returns whether this class intercepts a request. If not, other protocols get it.
    package override class func canInit(with request: URLRequest) -> Bool {
        guard let attachment else {
            return !request.isOwn(.current) && Slots.isEmptied(self) && request.reachesNetwork
        }
        guard !request.isOwn(attachment.traits) else { return false }
        let responder = attachment.responder
        if let response = responder.currentResponse(to: request) {
            responder.notes.note(LookupNotes.Intercepted(request, response: response))
            return true
        }
        let plan = attachment.lookUp(request)
        if case .pass = plan.action { return false }
        responder.notes.note(LookupNotes.Intercepted(request, plan: plan))
        return true
    }

    package override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Responds to the request, forwards it, or fails it. If the task was suspended and is now resumed, delivers the
    /// events that arrived in between.
    ///
    /// On Linux, this runs on a queue that all sessions of the process share (`URLSession.swift`, `sharedQueue`).
    /// Reading a file here would hold up all of them, and using a session would trap.
    package override func startLoading() {
        guard delivery.withLock({ $0.begin() }) else {
            for event in delivery.withLock({ $0.resume() }) { deliver(event) }
            return
        }
        guard let attachment = Self.attachment else { return deliver(.end(.failed(nil, .detached(request.url)))) }
        traits = attachment.traits
        let responder = attachment.responder
        let note = responder.notes.start(request)
        if let listener = attachment.rules.listener { heard.withLock { $0 = listener.start(request) } }
        let isUnfinishable = task?.isUnfinishable(traits) == true
        let inMemory = isUnfinishable ? nil : responder.responseInMemory(for: request, cachedResponse, note)
        if inMemory == nil { responder.uncountLookup(of: request) }
        let begun = RequestLoad.begin(
            request,
            inMemory: inMemory,
            intercepted: note?.plan,
            of: task,
            tell: heard.withLock { $0 },
            in: attachment,
            for: loadClient
        )
        switch begun {
        case .ended(let outcome): deliver(.end(outcome))
        case .loading(let load): delivery.withLock { $0.wait(for: load) }
        }
    }

    /// If the task was suspended, holds the load's events until the task is resumed. Otherwise, cancels the load, and
    /// delivers nothing more. Reports the end of a request that has no outcome yet.
    package override func stopLoading() {
        // If the protocol wasn't started, the cache still expects the protocol to report the request.
        Self.attachmentInUse?.responder.notes.forget(request)
        guard !isSuspended else { return delivery.withLock { $0.suspend() } }
        let (load, isUnderWay) = delivery.withLock { $0.cancel() }
        if isUnderWay, let end = end.withLock({ $0.take() }) {
            let error = task?.error as? URLError
            if task?.state == .canceling || error?.code == .cancelled {
                end.cancel()
            } else if let error {
                end.report(.failed(nil, error))
            }
        }
        // If nothing was reported, the load's outcome will be.
        load?.cancel()
    }

    /// Whether the loader stops the protocol because its task is suspended.
    private var isSuspended: Bool {
        // A loader that stops a protocol only to suspend or cancel its task may have resumed the task by now (on Linux:
        // `URLSessionTask.swift`, `suspend`). So anything but cancelling counts as suspended.
        traits.contains(.stopsEndedProtocols) ? task?.state == .suspended : task?.state != .canceling
    }

    // MARK: Delivering

    /// The receiver of a load's response. Must be created on the ``LoaderThread``.
    private func loadClient(_ end: RequestEnd) -> RequestLoad.Client {
        self.end.withLock { $0 = end }
        // Foundation doesn't declare protocols Sendable, but its loader itself passes them from thread to thread.
        nonisolated(unsafe) let this = self
        let thread = LoaderThread(traits)
        let tell = heard.withLock { $0 }
        return RequestLoad.Client(
            task: task,
            answerChallenge: { challenge in
                thread.run { this.client?.urlProtocol(this, didReceive: challenge) }
            },
            end: end,
            hearBody: { tell?(.readBody($0)) },
            receive: { event in thread.run { this.deliver(event) } }
        )
    }

    /// Delivers an event to the client: a head, a piece, or the outcome. Holds the event if the task is suspended, and
    /// drops it if the delivery has ended. Must run on the ``LoaderThread``.
    private func deliver(_ event: RequestLoad.Event) {
        guard delivery.withLock({ $0.takes(event) }), let client else { return }
        switch event {
        case .head(let head, _):
            client.urlProtocol(self, didReceive: head.withoutChallenge(traits), cacheStoragePolicy: .notAllowed)
        case .data(let data):
            guard !data.isEmpty else { return }
            if traits.contains(.handlersGetOnlyLastPiece) { passed.append(data) }
            client.urlProtocol(self, didLoad: data)
        case .end(let outcome):
            end.withLock { $0 = nil }
            switch outcome.result {
            case .success(let response):
                guard !outcome.wasStreamed else { return endPieces(client) }
                let head = response.head.withoutChallenge(traits)
                client.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
                if let data = response.data, !data.isEmpty { client.urlProtocol(self, didLoad: data) }
                client.urlProtocolDidFinishLoading(self)
            case .failure(let error):
                client.urlProtocol(self, didFailWithError: error)
            }
        }
    }

    /// Ends a response whose body was delivered in pieces.
    private func endPieces(_ client: any URLProtocolClient) {
        #if !canImport(Darwin)  // There, a protocol's task can't be set.
        if traits.contains(.handlersGetOnlyLastPiece) {
            // A delegate has had every piece. A completion handler gets only the last data that the finishing protocol
            // loaded (`URLSessionTask.swift`, `urlProtocol(_:didLoad:)` and `completeTask`). So a second protocol loads
            // the whole body for the silent task, which has no delegate, and then finishes for the real task.
            guard let task else { return }
            let whole = Self.init(task: LoaderThread.silentTask, cachedResponse: nil, client: client)
            client.urlProtocol(whole, didLoad: passed)
            whole.task = task
            return client.urlProtocolDidFinishLoading(whole)
        }
        #endif
        client.urlProtocolDidFinishLoading(self)
    }
}

extension URLResponse {
    /// Returns this response, without a challenge that would keep the task from ending.
    ///
    /// Linux's loader looks for a `Basic` or `Digest` challenge in every 401 that a protocol finishes, and waits for a
    /// credential that never arrives (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
    fileprivate func withoutChallenge(_ traits: LoaderTraits) -> URLResponse {
        guard traits.contains(.waitsForCredentials), let http = self as? HTTPURLResponse, http.statusCode == 401,
            let url = http.url,
            let challenge = http.value(forHTTPHeaderField: "WWW-Authenticate")?.lowercased(),
            challenge.contains("basic") || challenge.contains("digest")
        else { return self }
        var headers = http.headers
        headers[header: "WWW-Authenticate"] = nil
        return HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: headers) ?? self
    }
}

extension URLSessionTask {
    /// Returns whether Foundation traps when a protocol finishes the task: on Linux, if it's a download task
    /// (`URLSessionTask.swift`, `urlProtocolDidFinishLoading`).
    func isUnfinishable(_ traits: LoaderTraits) -> Bool {
        !traits.contains(.finishesDownloads) && self is URLSessionDownloadTask
    }

    /// Returns whether Foundation hides the task's body from its protocol.
    func hidesBody(_ traits: LoaderTraits) -> Bool {
        traits.contains(.hidesUploadBodies) && self is URLSessionUploadTask
    }
}

extension SubstitutionURLProtocol {
    /// The state of a protocol's delivery to its client.
    ///
    /// Suspending a task stops its protocol, and resuming the task starts the same protocol again. The load continues
    /// in between, and this type holds the load's events. Linux's loader also starts a protocol that is already running
    /// or has ended. That has no effect.
    struct Delivery: Sendable {
        private enum Progress: Sendable {
            case idle, underWay, suspended, ended
        }

        private var progress = Progress.idle
        /// The events that arrived while the task was suspended.
        private var held: [RequestLoad.Event] = []
        private var load: Task<Void, Never>?

        /// Returns `false` if the delivery has begun before.
        mutating func begin() -> Bool {
            guard progress == .idle else { return false }
            progress = .underWay
            return true
        }

        /// Lets ``cancel()`` return the load. Does nothing if the delivery has ended.
        mutating func wait(for load: Task<Void, Never>) {
            if progress != .ended { self.load = load }
        }

        /// Holds the events that arrive from now on.
        mutating func suspend() {
            if progress == .underWay { progress = .suspended }
        }

        /// Stops holding events. Returns the held events, which the caller must deliver now.
        mutating func resume() -> [RequestLoad.Event] {
            guard progress == .suspended else { return [] }
            progress = .underWay
            defer { held = [] }
            return held
        }

        /// Ends the delivery. Returns the load, if any, which the caller must cancel, and whether the delivery was under way.
        mutating func cancel() -> (load: Task<Void, Never>?, isUnderWay: Bool) {
            let isUnderWay = progress == .underWay || progress == .suspended
            progress = .ended
            held = []
            return (load.take(), isUnderWay)
        }

        /// Returns whether to deliver an event now. Holds the event instead if the task is suspended, and drops it
        /// after the end.
        mutating func takes(_ event: RequestLoad.Event) -> Bool {
            switch progress {
            case .idle, .ended:
                return false
            case .suspended:
                held.append(event)
                return false
            case .underWay:
                if case .end = event { (progress, load) = (.ended, nil) }
                return true
            }
        }
    }
}
