import Dispatch
package import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A session delegate that collects the responses to the session's data tasks.
///
/// The collector has no credentials. Unless a task's owner answers challenges, a 401 is a response like any other. The
/// collector trusts only servers that the system trusts.
package final class ResponseCollector: NSObject, URLSessionDataDelegate, Sendable {
    /// A part of a response.
    package enum Piece: Sendable {
        case head(URLResponse)
        case data(Data)
    }

    /// The owner of a task. The collector calls the owner's closures on the session's delegate queue.
    package final class Owner: Sendable {
        package typealias Redirect = @Sendable (URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void
        package typealias AnswerChallenge =
            @Sendable (
                URLAuthenticationChallenge,
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) -> Void

        let limit: @Sendable (URLResponse) -> Int
        let body: BodyDelivery
        let redirect: Redirect?
        let answerChallenge: AnswerChallenge?
        let complete: @Sendable (Result<Response, URLError>) -> Void

        /// - Parameters:
        ///   - limit: Returns the longest body to hold in memory, in bytes. Called when the response's head arrives.
        ///   - body: How the body is delivered; whole by default.
        ///   - redirect: Decides about a redirect. Calls back with the request to send, or with `nil` if the redirect
        ///     is the response. By default, redirects are followed.
        ///   - answerChallenge: Answers an authentication challenge, unless the loader asks only after the response. By
        ///     default, the system answers.
        ///   - complete: Called once, when the load has ended.
        package init(
            limit: @escaping @Sendable (URLResponse) -> Int,
            body: BodyDelivery = .whole(),
            redirect: Redirect? = nil,
            answerChallenge: AnswerChallenge? = nil,
            complete: @escaping @Sendable (Result<Response, URLError>) -> Void
        ) {
            self.limit = limit
            self.body = body
            self.redirect = redirect
            self.answerChallenge = answerChallenge
            self.complete = complete
        }
    }

    /// How a body is delivered.
    package enum BodyDelivery: Sendable {
        /// Whole, in the response. If the body is longer than the limit, the load fails with
        /// `URLError.dataLengthExceedsMaximum`.
        ///
        /// - Parameter progress: Receives the number of bytes so far, and the expected total; `nil` if the total isn't
        ///   known.
        case whole(progress: (@Sendable (_ bytes: Int, _ expected: Int64?) -> Void)? = nil)
        /// Whole, in the response. A body longer than the limit is delivered in pieces instead: the head and the bytes
        /// so far, then further bytes as they arrive.
        case wholeOrPieces(@Sendable (Piece) -> Void)
        /// In pieces as they arrive, after the head. The response also has the body, unless it's longer than the limit.
        case pieces(@Sendable (Piece) -> Void)

        /// Receives the pieces; `nil` if the body isn't delivered in pieces.
        var pass: (@Sendable (Piece) -> Void)? {
            switch self {
            case .whole: nil
            case .wholeOrPieces(let pass), .pieces(let pass): pass
            }
        }
    }

    /// The loads by task object. Task identifiers aren't unique, since each of a collector's sessions numbers its tasks
    /// from 1.
    private let loads = Guarded<[ObjectIdentifier: CollectedLoad]>([:])
    private let traits: LoaderTraits

    package init(_ traits: LoaderTraits) { self.traits = traits }

    /// Collects the response to a session's task. Call this before the task is resumed.
    package func collect(_ task: URLSessionDataTask, of session: URLSession, for owner: Owner) {
        let redirects = RedirectChain(task.originalRequest, in: session.configuration, traits)
        loads.withLock { $0[ObjectIdentifier(task)] = CollectedLoad(task, owner, redirects) }
    }

    /// Cancels all loads, and invalidates the session. Returns at once.
    ///
    /// The work is done on another queue: on Linux, `cancel()` waits for the loader's queue, which may be the current
    /// one. `invalidateAndCancel()` isn't called: on Linux, it reads the session's tasks without a lock, and may trap
    /// while a task ends (`URLSession.swift`, `invalidateAndCancel`).
    package func end(_ session: URLSession) {
        DispatchQueue.global(qos: .utility).async { [self] in
            for task in loads.withLock({ $0.values.map(\.task) }) { task.cancel() }
            session.finishTasksAndInvalidate()
        }
    }

    private func owner(of task: URLSessionTask) -> Owner? { loads.withLock { $0[ObjectIdentifier(task)]?.owner } }

    // MARK: The session's delegate

    package func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // Linux's loader reports an interim response, such as 103 (Early Hints), before the final one (RFC 9110 §15.2).
        if response.isInterim { return completionHandler(.allow) }
        guard !response.switchesProtocols else {
            abandon(dataTask, .switchedProtocols(response))
            return completionHandler(.cancel)
        }
        guard response.hasValidLength else {
            abandon(dataTask, .invalidLength(of: response))
            return completionHandler(.cancel)
        }
        if let owner = owner(of: dataTask) {
            let limit = owner.limit(response)
            loads.withLock { $0[ObjectIdentifier(dataTask)]?.begin(response, limit: limit) }
            if case .pieces(let pass) = owner.body { pass(.head(response)) }
        }
        completionHandler(.allow)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // Changes the load in place. With a second reference to the load, each piece would copy everything that arrived
        // before.
        guard let received = loads.withLock({ $0[ObjectIdentifier(dataTask)]?.receive(data) }),
            let owner = owner(of: dataTask)
        else { return }
        switch received {
        case .held(let count, let expected):
            if case .whole(let progress?) = owner.body { progress(count, expected) }
        case .passed(let pieces):
            for piece in pieces { owner.body.pass?(piece) }
        case .tooLong:
            abandon(dataTask, URLError(.dataLengthExceedsMaximum))
        }
    }

    /// Ends a load with an error, and cancels its task.
    private func abandon(_ task: URLSessionDataTask, _ error: URLError) {
        end(task, error)
        // Cancels on another queue, since on Linux `cancel()` waits for the loader's queue.
        DispatchQueue.global(qos: .utility).async { task.cancel() }
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let next = loads.withLock { loads in
            loads[ObjectIdentifier(task)]?.redirects.next(request, after: response, in: session.configuration)
        }
        guard let next, let redirect = owner(of: task)?.redirect else { return completionHandler(next) }
        redirect(next, completionHandler)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard traits.contains(.challengesAfterResponse) else {
            guard let answer = owner(of: task)?.answerChallenge else {
                return completionHandler(.performDefaultHandling, nil)
            }
            return answer(challenge, completionHandler)
        }
        // The whole 401 has arrived. Without a credential, Linux's loader never ends the task (`URLSessionTask.swift`,
        // `urlProtocolDidFinishLoading`).
        end(task, nil)
        // Answers on another queue. Cancelling the challenge cancels the task, which waits for the loader's queue.
        DispatchQueue.global(qos: .userInitiated).async { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, error)
    }

    private func end(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let load = loads.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) }) else { return }
        if let error {
            let underlying = URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
            load.owner.complete(.failure(error as? URLError ?? underlying))
        } else if let head = load.head ?? task.response {
            let body = load.body.map { Response.Body.data($0) }
            load.owner.complete(.success(Response(head, body, redirects: load.redirects.followed)))
        } else {
            load.owner.complete(.failure(URLError(.badServerResponse)))
        }
    }
}

/// The part of a task's response that has arrived.
private struct CollectedLoad: Sendable {
    /// The effect of a piece of the body that has arrived.
    enum Received: Sendable {
        case held(count: Int, expected: Int64?)
        case passed([ResponseCollector.Piece])
        case tooLong
    }

    let task: URLSessionTask
    let owner: ResponseCollector.Owner
    var redirects: RedirectChain
    private(set) var head: URLResponse?
    /// The body so far; `nil` once it's longer than the limit.
    private(set) var body: Data? = Data()
    /// The longest body to hold in memory, in bytes; 0 until the head arrives.
    private var limit = 0

    init(_ task: URLSessionTask, _ owner: ResponseCollector.Owner, _ redirects: RedirectChain) {
        self.task = task
        self.owner = owner
        self.redirects = redirects
    }

    mutating func begin(_ head: URLResponse, limit: Int) {
        self.head = head
        self.limit = limit
    }

    mutating func receive(_ data: Data) -> Received {
        guard let held = body?.count else { return .passed([.data(data)]) }
        guard data.count > limit - held else {
            body?.append(data)
            if case .pieces = owner.body { return .passed([.data(data)]) }
            let expected = head?.expectedContentLength ?? -1
            return .held(count: held + data.count, expected: expected > 0 ? expected : nil)
        }
        let first = body.take()
        switch owner.body {
        case .whole: return .tooLong
        case .wholeOrPieces:
            return .passed([head.map { .head($0) }, first.map { .data($0) }, .data(data)].compactMap { $0 })
        case .pieces: return .passed([.data(data)])
        }
    }
}

/// The redirects that one task follows.
private struct RedirectChain: Sendable {
    /// The requests for the targets of the redirects, in order.
    private(set) var followed: [URLRequest] = []
    /// The request's own `Cookie` header; `nil` if it has none, if the session's storage supplies one, or once a
    /// redirect has led to another origin.
    private var ownCookie: String?
    private let traits: LoaderTraits

    init(_ request: URLRequest?, in configuration: URLSessionConfiguration, _ traits: LoaderTraits) {
        self.traits = traits
        guard traits.contains(.proposesWrongRedirects) else { return }
        // Linux's loader replaces the request's `Cookie` header if the storage has cookies for the URL.
        if let request, let own = request.value(forHTTPHeaderField: "Cookie"),
            configuration.storedCookies(for: request.url) == nil
        {
            ownCookie = own
        }
    }

    /// Returns the request that follows a redirect, and adds it to ``followed``. Returns `nil` if the loader may propose
    /// a wrong request, and the redirect's target isn't an http or https URL: Linux's loader would request the target's
    /// path from the same host (`HTTPURLProtocol.swift`, `redirectRequest`).
    ///
    /// - Parameter proposed: The request that the loader would send.
    mutating func next(
        _ proposed: URLRequest,
        after response: HTTPURLResponse,
        in configuration: URLSessionConfiguration
    ) -> URLRequest? {
        var request = proposed
        if traits.contains(.proposesWrongRedirects) {
            guard let target = Redirect.target(response.value(forHTTPHeaderField: "Location"), from: response.url)
            else { return nil }
            request.url = target
        }
        // The request's credentials were meant for the origin that redirects, but Linux's loader would send them to its
        // target.
        request.removeCredentials(after: response.url)
        if traits.contains(.proposesWrongRedirects) {
            if !Redirect.isSameOrigin(response.url, request.url) { ownCookie = nil }
            // In a session with a delegate, Linux's loader would send the first request's cookies, and none of the new
            // URL's (`HTTPURLProtocol.swift`, `didCompleteRedirectCallback`).
            let cookies = configuration.storedCookies(for: request.url) ?? ownCookie
            request.setValue(cookies, forHTTPHeaderField: "Cookie")
        }
        followed.append(request)
        return request
    }
}

extension URLSessionConfiguration {
    /// Returns the `Cookie` header that a session adds to a request for a URL; `nil` if it adds none.
    func storedCookies(for url: URL?) -> String? {
        guard httpShouldSetCookies, let url, let cookies = httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return nil }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    }
}

extension URLResponse {
    fileprivate var isInterim: Bool {
        (self as? HTTPURLResponse).map { (100..<200).contains($0.statusCode) && !switchesProtocols } ?? false
    }

    /// Whether the status is 101. No HTTP response follows (RFC 9110 §15.2.2), and Linux's loader reports all further
    /// bytes as the body.
    fileprivate var switchesProtocols: Bool { (self as? HTTPURLResponse)?.statusCode == 101 }

    /// Whether the `Content-Length` is valid or isn't needed (RFC 9112 §6.3). With an invalid value, the loader uses
    /// the value's first digits, or the last of two lengths, and may report a part of the body as the whole.
    fileprivate var hasValidLength: Bool {
        guard let head = self as? HTTPURLResponse, let length = head.value(forHTTPHeaderField: "Content-Length"),
            head.value(forHTTPHeaderField: "Transfer-Encoding") == nil
        else { return true }
        return HTTPSyntax.length(length) != nil
    }
}

extension URLError {
    fileprivate static func switchedProtocols(_ response: URLResponse) -> URLError {
        .explained(
            .badServerResponse,
            "The server switched to another protocol (status 101), which isn't supported. Correct the server.",
            response.url
        )
    }

    fileprivate static func invalidLength(of response: URLResponse) -> URLError {
        let length = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") ?? ""
        return .explained(
            .badServerResponse,
            "The server sent an invalid Content-Length, “\(length)”, so the body may be incomplete. Correct the server's header.",
            response.url
        )
    }
}
