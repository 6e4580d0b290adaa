public import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension SubstitutionMap {
    /// A closure that computes the answer to a request. The entry needs an attached session.
    ///
    /// ```swift
    /// let item: SubstitutionMap.Handler = { request in .json(["id": request.captures[0]]) }
    /// ```
    ///
    /// If the closure throws a `URLError`, or an `NSError` with the domain `NSURLErrorDomain`, the request fails with that
    /// error. If it throws another error, the request fails with `URLError.badServerResponse`. The closure's task is
    /// cancelled if the request is cancelled or times out. On Linux, and from macOS 15 and iOS 18 on, the closure may block
    /// its thread.
    public typealias Handler = @Sendable (Request) async throws -> Answer

    /// A request as a handler sees it.
    public struct Request: Sendable, CustomStringConvertible {
        /// The URL.
        public let url: URL
        /// The HTTP method.
        public let method: String
        /// The request's own headers, without the headers that the session adds.
        public let headers: [String: String]
        /// The body; `nil` if the request has none, if it's longer than 8 MiB, or if Foundation hides it, as in an upload
        /// task on Linux. If the body is empty, this is empty `Data`.
        public let body: Data?
        /// The text that each `*` of the key's path and query matched, percent-decoded. If the decoded text isn't
        /// UTF-8, the text stays encoded.
        public let captures: [String]
        private let ask: @Sendable () async throws -> Answer

        fileprivate let request: URLRequest

        /// The body as text; `nil` if ``body`` is `nil`, or isn't UTF-8.
        public var text: String? { body.flatMap { String(data: $0, encoding: .utf8) } }

        /// The method and the URL, without credentials.
        public var description: String { "\(method) \(ShownURL(url).text)" }

        /// Returns the value of a header; `nil` if it isn't set. The letter case of the name doesn't matter.
        public func header(_ name: String) -> String? { headers[header: name] }

        /// Returns the percent-decoded value of the first query parameter with a name. `nil` if the URL has no such
        /// parameter, or if the parameter has no `=`. A `+` stays a `+`.
        public func query(_ name: String) -> String? {
            URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
        }

        /// Decodes the body as JSON.
        ///
        /// - Throws: A `DecodingError` if there's no body, or if it isn't JSON for this type.
        public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            guard let body else { throw DecodingError.withoutBody }
            return try JSONDecoder().decode(type, from: body)
        }

        /// Sends the request to the server, and returns the server's response, to change it or to return it as it is.
        ///
        /// ```swift
        /// .handler { request in
        ///     var answer = try await request.response()
        ///     answer.headers["X-Feature"] = "on"
        ///     return answer
        /// }
        /// ```
        ///
        /// The request is sent to its own URL, in the same way as by an entry with `forwardTo`, and redirects are
        /// followed. Entries of the handler's own map are ignored.
        ///
        /// In a test, the test's recording may respond instead of the server. So a recording run records the response, and
        /// later runs return it. If the test added the handler with `add`, an entry of the test's map may respond, too.
        ///
        /// The answer leaves out headers that may contain credentials, such as `Set-Cookie`, and those of the transfer, such
        /// as `Content-Length` and `Content-Encoding`.
        ///
        /// Only the client's request counts in a test's `requests`, in ``LocalSubstitutionCache/statistics`` and for
        /// `times`.
        ///
        /// - Returns: The whole response. Its ``SubstitutionMap/Answer/body`` is `nil` if the status allows no body.
        /// - Throws: A `URLError` if the request fails, if the session's `unmatched` doesn't let it reach the network, if the
        ///   body is longer than 64 MiB (`dataLengthExceedsMaximum`), or if the client's request was cancelled or has
        ///   timed out (`cancelled`). Another error if this handler has called the method before.
        public func response() async throws -> Answer { try await ask() }

        /// - Parameter ask: Returns what ``response()`` does.
        init?(
            _ request: URLRequest,
            body: RequestFacts.Body,
            captures: [ArraySlice<UInt8>],
            ask: @escaping @Sendable () async throws -> Answer
        ) {
            guard let url = request.url else { return nil }
            self.request = request
            self.ask = ask
            self.url = url
            method = request.httpMethod ?? "GET"
            headers = request.headers
            self.body = if case .data(let data) = body { data } else { nil }
            self.captures = captures.map {
                String(utf8: PercentEncoding.decode($0)) ?? String(decoding: $0, as: UTF8.self)
            }
        }
    }
}

extension SubstitutionMap.Answer {
    /// Calls a closure that was written for another mock: it gets a `URLRequest`, and returns a response with its body.
    ///
    /// ```swift
    /// "https://api.example.com/*": .handler(for: URLRequest.self) { request in
    ///     try (response(to: request), Data(#"{ "id": 7 }"#.utf8))
    /// }
    /// ```
    ///
    /// The request has its body as `httpBody`, which is `nil` for the same requests as
    /// ``SubstitutionMap/Request/body``. The closure may block its thread, for example with `Thread.sleep`, where a
    /// ``SubstitutionMap/Handler`` may. A closure with `await` is async.
    ///
    /// The client gets the response's status and headers, except `Content-Length`, `Content-Encoding` and
    /// `Transfer-Encoding`, which don't describe the data. Without a `Content-Type`, none is sent. The only headers that are
    /// added are `Content-Length` and `Cache-Status`, and on Apple platforms `Date`. A redirect isn't followed. If the
    /// response isn't an `HTTPURLResponse`, or has a status outside 200–599, the request fails, and its error says why.
    ///
    /// - Parameters:
    ///   - request: The type of the closure's parameter.
    ///   - handler: The closure. An error that it throws means the same as for a ``SubstitutionMap/Handler``.
    public static func handler<Response: URLResponse>(
        for request: URLRequest.Type,
        _ handler: @escaping @Sendable (URLRequest) throws -> (Response, Data)
    ) -> Self {
        .handler { request in
            let (response, data) = try handler(request.withBody)
            return Self(response, data)
        }
    }

    /// Calls an async closure that was written for another mock: it gets a `URLRequest`, and returns a response with its
    /// body.
    ///
    /// For more, see the function with the same name for a closure that isn't async.
    ///
    /// - Parameters:
    ///   - request: The type of the closure's parameter.
    ///   - handler: The closure. An error that it throws means the same as for a ``SubstitutionMap/Handler``.
    public static func handler<Response: URLResponse>(
        for request: URLRequest.Type,
        _ handler: @escaping @Sendable (URLRequest) async throws -> (Response, Data)
    ) -> Self {
        .handler { request in
            let (response, data) = try await handler(request.withBody)
            return Self(response, data)
        }
    }

    /// Creates the answer of another mock's closure.
    private init(_ response: URLResponse, _ data: Data) {
        guard let http = response as? HTTPURLResponse else {
            self = .status(200).adding("The response isn't an HTTPURLResponse. Return one.")
            return
        }
        var headers = Self.headers(of: http)
        for name in ["Content-Length", "Content-Encoding", "Transfer-Encoding"] { headers[header: name] = nil }
        let isRedirect = Redirect.statuses.contains(http.statusCode) && headers[header: "Location"] != nil
        // Otherwise, the URL's extension would set the type.
        if headers[header: "Content-Type"] == nil { headers["Content-Type"] = "" }
        let answer = Self.data(data).status(http.statusCode).headers(headers)
        self = isRedirect ? answer.follow(false) : answer
    }
}

extension SubstitutionMap.Request {
    /// The whole request, with the body as `httpBody`.
    fileprivate var withBody: URLRequest {
        var request = request
        request.httpBodyStream = nil
        request.httpBody = body
        return request
    }
}

extension DecodingError {
    /// The error for a request without a body, or whose body isn't available.
    package static let withoutBody = DecodingError.dataCorrupted(
        Context(
            codingPath: [],
            debugDescription: "The request's body isn't available: there's none, it's longer than 8 MiB, or "
                + "it's an upload task's, which Foundation hides on Linux. Set the request's httpBody, and use a data "
                + "task."
        )
    )
}

extension Entry {
    /// A handler of a map's entry.
    package final class Handler: Sendable {
        /// The handler's name in the map's JSON; `nil` for a closure in a map made in code.
        let name: String?
        /// `nil` in a tool, which doesn't have the app's code. A ``RequestLoad`` calls the closure, and decides what
        /// its error or answer means for the request.
        let call: SubstitutionMap.Handler?

        init(name: String? = nil, _ call: SubstitutionMap.Handler?) {
            self.name = name
            self.call = call
        }

        /// The handler in words, for explanations.
        package var description: String { name.map { "handler “\($0)”" } ?? "handler" }

        /// The message of a tool that would have to call the handler, but doesn't have the app's code.
        package var refusal: String {
            "The handler “\(name ?? "")” exists only in code. Use this entry in the app or its tests."
        }
    }
}

extension SubstitutionMap {
    /// The handlers that a map's entries can use.
    package final class HandlerTable: Sendable {
        /// The handlers by name. `nil` in tools: they don't have the app's code, so they accept any name.
        private let named: [String: SubstitutionMap.Handler]?
        /// The closures of an answer that's made in code. In its JSON, the field `handler` is an index into this list.
        private let numbered: [SubstitutionMap.Handler]

        package init(_ named: [String: SubstitutionMap.Handler]?, numbered: [SubstitutionMap.Handler] = []) {
            self.named = named
            self.numbered = numbered
        }

        /// A table that accepts any name.
        package static let any = HandlerTable(nil)

        subscript(_ number: Int) -> Entry.Handler? {
            numbered.indices.contains(number) ? Entry.Handler(numbered[number]) : nil
        }

        /// The message about an unknown name.
        func problem(withName name: String) -> String? {
            guard !name.isEmpty else {
                let advice = known ?? "Pass a handler in `handlers:` where you load the map, and write its name here."
                return "“handler” is empty. \(advice)"
            }
            guard let named, named[name] == nil else { return nil }
            return "There's no handler “\(name)”. \(known ?? "Pass it in `handlers:` where you load the map.")"
        }

        func handler(named name: String) -> Entry.Handler { Entry.Handler(name: name, named?[name]) }

        /// Advice that lists the handlers' names.
        private var known: String? {
            let names = (named ?? [:]).map(\.key).ordered(by: <).map { "“\($0)”" }.joined(separator: ", ")
            return names.isEmpty ? nil : "Use one of your handlers (\(names)), or add another to `handlers:`."
        }
    }
}
