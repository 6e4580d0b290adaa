import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Alamofire)
import Alamofire
#endif
#if canImport(Moya)
import Moya
#endif
#if canImport(Get)
import Get
#endif
#if canImport(OpenAPIURLSession)
import OpenAPIURLSession
#endif
#if canImport(Apollo)
import Apollo
#endif
#if canImport(Kingfisher)
import Kingfisher
#endif
#if canImport(Nuke)
import Nuke
#endif
#if canImport(SwiftUI)
import SwiftUI
#endif
#if canImport(XCUIAutomation)
import XCTest
#endif

// The Swift code of the recipes, word for word between `// snippet` and `// end`, as in Snippets.swift.

private let mapFile = Document.root.appending(path: "substitutions.json")

// snippet: a test of the shipped map
@Test("the app's map has no mistakes")
func shippedMap() throws {
    let map = try SubstitutionMap(contentsOf: mapFile, invalidEntries: .skip)
    #expect(map.problems.isEmpty)
    #expect(map.fileProblems().isEmpty)
}
// end

func sentOrder() async throws -> TestSubstitutions.Request {
    // snippet: waiting for an order
    let order = try await TestSubstitutions.current.request("https://shop.example.com/orders", method: "POST")
    // end
    return order
}

func expectSocks(in order: TestSubstitutions.Request) throws {
    // snippet: an order's body
    #expect(try order.json([String: String].self) == ["item": "socks"])
    // end
}

@Test(.substituting(["https://api.example.com/pay": .error(.notConnectedToInternet)]))
func codeOfError() async throws {
    let url = try #require(URL(string: "https://api.example.com/pay"))
    // snippet: the code of an error
    await #expect {
        try await URLSession.substituted.data(from: url)
    } throws: { error in
        (error as? URLError)?.code == .notConnectedToInternet
    }
    // end
}

// snippet: the length of a HEAD
@Test(
    .substituting([
        "https://cdn.example.com/model.bin": .data(Data(count: 12_345), mimeType: "application/octet-stream")
    ])
)
func sizeOfModel() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://cdn.example.com/model.bin")))
    request.httpMethod = "HEAD"
    let (body, response) = try await URLSession.substituted.data(for: request)
    #expect(response.expectedContentLength == 12_345)
    #expect(body.isEmpty)
}
// end

// snippet: a timeout
@Test(.substituting(["https://api.example.com/feed": .json(["name": "Ada"]).delay(10)]))
func timeoutOfFeed() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/feed")))
    request.timeoutInterval = 1
    let error = await #expect(throws: URLError.self) { try await URLSession.substituted.data(for: request) }
    #expect(error?.code == .timedOut)
}
// end

func slowServer() throws -> (SubstitutionMap.Handler, SubstitutionMap) {
    // snippet: a slow server
    let slowly: SubstitutionMap.Handler = { request in
        let answer = try await request.response()
        return answer.body == nil ? answer : answer.delay(1).bytesPerSecond(20_000)
    }
    let map = try SubstitutionMap(["https://api.example.com/*": .handler(slowly)])
    // end
    return (slowly, map)
}

// snippet: a user from the shared session
@Test(.substituting(["https://api.example.com/user": .json(["name": "Ada"])], sharedSession: true))
func sharedUser() async throws {
    let url = try #require(URL(string: "https://api.example.com/user"))
    let (body, _) = try await URLSession.shared.data(from: url)
    #expect(String(decoding: body, as: UTF8.self).contains("Ada"))
}
// end

// snippet: no analytics in a test
@Test(
    .substituting(
        ["https://*.analytics.example.com/*": .status(204).methods("*")],
        unmatched: .load,
        sharedSession: true
    )
)
func uncountedVisit() async throws {
    let url = try #require(URL(string: "https://eu.analytics.example.com/events"))
    let (_, response) = try await URLSession.shared.data(from: url)
    #expect((response as? HTTPURLResponse)?.statusCode == 204)
}
// end

// snippet: no analytics in an app
func blockAnalytics() throws {
    let map = try SubstitutionMap(["https://*.analytics.example.com/*": .status(204).methods("*")])
    try LocalSubstitutionCache(map: map).install()
}
// end

func blockAnalytics(in configuration: URLSessionConfiguration) throws {
    // snippet: no analytics in an app's own sessions
    try LocalSubstitutionCache.installed?.attach(to: configuration)
    // end
}

// snippet: a preview's session
func previewSession(_ entries: KeyValuePairs<String, SubstitutionMap.Answer>) -> URLSession {
    do {
        return try LocalSubstitutionCache(map: SubstitutionMap(entries)).makeSession(unmatched: .fail)
    } catch {
        fatalError("\(error)")
    }
}
// end

// Xcode 26 has Playgrounds, and the macro of previews.
#if canImport(SwiftUI) && canImport(Playgrounds)
private struct ProfileView: View {
    let session: URLSession

    var body: some View { Text("") }
}

// snippet: previews
#Preview("Signed in") {
    ProfileView(session: previewSession(["https://api.example.com/user": .json(["name": "Ada"])]))
}

#Preview("Loading") {
    ProfileView(session: previewSession(["https://api.example.com/user": .json(["name": "Ada"]).delay(30)]))
}

#Preview("Offline") {
    ProfileView(session: previewSession(["https://api.example.com/user": .error(.notConnectedToInternet)]))
}
// end
#endif

func attachedConfiguration(_ cache: LocalSubstitutionCache) throws -> URLSessionConfiguration {
    // snippet: a library's configuration
    let configuration = URLSessionConfiguration.default
    try cache.attach(to: configuration)
    // end
    return configuration
}

// snippet: an app under UI tests
func useSubstitutionsOfUITests() {
    do {
        try LocalSubstitutionCache.installFromEnvironment()
    } catch {
        fatalError("\(error)")
    }
}
// end

func attachInstalled(to configuration: URLSessionConfiguration) throws {
    // snippet: an app's own sessions
    try LocalSubstitutionCache.installed?.attach(to: configuration, unmatched: .fail)
    // end
}

// MARK: Answers in pieces, and in code

// snippet: tokens of a stream
@Test(
    "tokens arrive before the connection is lost",
    .substituting([
        "https://api.example.com/chat": .stream([
            "data: Hel\n\n", .text("data: lo\n\n").delay(0.1), .error(.networkConnectionLost),
        ])
    ])
)
func tokens() async throws {
    let chat = Chat(TestSubstitutions.current.configuration)
    var received: [String] = []
    await #expect(throws: URLError.self) {
        for try await token in chat.tokens { received.append(token) }
    }
    #expect(received == ["data: Hel\n\n", "data: lo\n\n"])
}
// end

// snippet: a client that reads a stream
final class Chat: NSObject, URLSessionDataDelegate {
    let tokens: AsyncThrowingStream<String, any Error>
    private let received: AsyncThrowingStream<String, any Error>.Continuation

    init(_ configuration: URLSessionConfiguration) {
        (tokens, received) = AsyncThrowingStream.makeStream()
        super.init()
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.dataTask(with: URL(string: "https://api.example.com/chat")!).resume()
        session.finishTasksAndInvalidate()
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received.yield(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        received.finish(throwing: error)
    }
}
// end

func checkedUpload() -> SubstitutionMap.Answer {
    // snippet: the body of an upload
    let answer: SubstitutionMap.Answer = .handler { request in
        #expect(request.text?.contains(#"filename="notes.txt""#) == true)
        return .status(201)
    }
    // end
    return answer
}

#if canImport(Combine)
// Apple's Foundation has `bytes(from:)`.
// snippet: bytes of a stream
@Test(
    .substituting([
        "https://api.example.com/chat": .stream(["data: Hel\n\n", .text("data: lo\n\n").delay(0.1)])
    ])
)
func linesOfChat() async throws {
    let url = try #require(URL(string: "https://api.example.com/chat"))
    let (bytes, _) = try await URLSession.substituted.bytes(from: url)
    var received: [String] = []
    for try await line in bytes.lines where !line.isEmpty { received.append(line) }
    #expect(received == ["data: Hel", "data: lo"])
}
// end
#endif

// snippet: a handler's own type
nonisolated struct Purchase: Codable {
    var item: String
}

@Test(
    .substituting([
        "https://api.example.com/purchases": .handler { request in
            let purchase = try request.json(Purchase.self)
            return .json(Purchase(item: purchase.item.uppercased()))
        }
    ])
)
func upperCasePurchase() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/purchases")))
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"item": "socks"}"#.utf8)
    let (data, _) = try await URLSession.substituted.data(for: request)
    #expect(try JSONDecoder().decode(Purchase.self, from: data).item == "SOCKS")
}
// end

// snippet: a computed answer
@Test(
    "an order comes back with its number",
    .substituting([
        "https://api.example.com/orders/*": .handler { request in
            let order = try request.json([String: String].self)
            return .json(["number": request.captures[0], "item": order["item"]]).status(201)
        }
    ])
)
func computedOrder() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/orders/7")))
    request.httpMethod = "PUT"
    request.httpBody = Data(#"{"item": "socks"}"#.utf8)
    let (data, _) = try await URLSession.substituted.data(for: request)
    #expect(try JSONDecoder().decode([String: String].self, from: data) == ["number": "7", "item": "socks"])
}
// end

/// Returns a cache whose map names a handler.
func cacheWithHandler(_ mapFile: URL) throws -> LocalSubstitutionCache {
    // snippet: a handler by name
    let cache = try LocalSubstitutionCache(
        contentsOf: mapFile,
        handlers: ["saveOrder": { request in .json(["number": request.captures[0]]).status(201) }]
    )
    // end
    return cache
}

// MARK: Clients that don't use URLSession

extension AsyncHTTPClientStandIn {
    // snippet: AsyncHTTPClient
    /// Returns the response of the test's map or recording. Never asks the real server itself.
    static func execute(
        _ request: HTTPClientRequest,
        timeout: TimeInterval = 30,
        _ cache: LocalSubstitutionCache
    ) async throws -> HTTPClientResponse {
        guard let url = URL(string: request.url) else { throw URLError(.badURL) }
        var asked = URLRequest(url: url, timeoutInterval: timeout)
        asked.httpMethod = request.method.rawValue
        for (name, value) in request.headers { asked.addValue(value, forHTTPHeaderField: name) }
        if let body = request.body { asked.httpBody = Data(buffer: try await body.collect(upTo: 8 << 20)) }
        guard let (data, head) = try await cache.answer(to: asked) else { throw URLError(.resourceUnavailable) }
        var headers = HTTPHeaders()
        for (name, value) in head.allHeaderFields { headers.add(name: "\(name)", value: "\(value)") }
        return HTTPClientResponse(
            status: HTTPResponseStatus(statusCode: head.statusCode),
            headers: headers,
            body: .bytes(ByteBuffer(bytes: data))
        )
    }
    // end

    // snippet: a test with AsyncHTTPClient
    @Test(.substituting(["https://api.example.com/users": .json(["id": 7]).status(201).methods("POST")]))
    static func userOverHTTPClient() async throws {
        var request = HTTPClientRequest(url: "https://api.example.com/users")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: #"{"name": "Ada"}"#))
        let response = try await execute(request, TestSubstitutions.current.cache)
        #expect(response.status.code == 201)
        let sent = try #require(TestSubstitutions.current.requests.first)
        #expect(try sent.json([String: String].self) == ["name": "Ada"])
    }
    // end
}

extension OpenAPIStandIn {
    // snippet: a transport of Swift OpenAPI
    struct SubstitutedTransport: ClientTransport {
        let cache: LocalSubstitutionCache

        func send(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String
        ) async throws -> (HTTPResponse, HTTPBody?) {
            guard let url = URL(string: baseURL.absoluteString + (request.path ?? "")) else { throw URLError(.badURL) }
            var asked = URLRequest(url: url)
            asked.httpMethod = request.method.rawValue
            for field in request.headerFields { asked.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
            if let body { asked.httpBody = try await Data(collecting: body, upTo: 8 << 20) }
            guard let (data, head) = try await cache.answer(to: asked) else { throw URLError(.resourceUnavailable) }
            var response = HTTPResponse(status: .init(code: head.statusCode))
            for (name, value) in head.allHeaderFields {
                guard let name = HTTPField.Name("\(name)") else { continue }
                response.headerFields.append(HTTPField(name: name, value: "\(value)"))
            }
            return (response, HTTPBody(data))
        }
    }
    // end
}

extension VaporStandIn {
    // snippet: Vapor's client
    struct SubstitutedClient: Client {
        let cache: LocalSubstitutionCache
        let eventLoop: any EventLoop

        func delegating(to eventLoop: any EventLoop) -> any Client {
            SubstitutedClient(cache: cache, eventLoop: eventLoop)
        }

        func send(_ request: ClientRequest) -> EventLoopFuture<ClientResponse> {
            eventLoop.makeFutureWithTask {
                guard let url = URL(string: request.url.string) else { throw URLError(.badURL) }
                var asked = URLRequest(url: url)
                asked.httpMethod = request.method.string
                for (name, value) in request.headers { asked.addValue(value, forHTTPHeaderField: name) }
                asked.httpBody = request.body.map { Data($0.readableBytesView) }
                guard let (data, head) = try await cache.answer(to: asked) else { throw URLError(.resourceUnavailable) }
                var headers = HTTPHeaders()
                for (name, value) in head.allHeaderFields { headers.add(name: "\(name)", value: "\(value)") }
                let status = HTTPStatus(statusCode: head.statusCode)
                return ClientResponse(status: status, headers: headers, body: ByteBuffer(data: data))
            }
        }
    }
    // end
}

// None of the libraries is a dependency, so their code isn't compiled here, and neither is code for Apple platforms on Linux. The
// article says what was run.

#if canImport(Alamofire)
func alamofireSession(_ configuration: URLSessionConfiguration) -> Session {
    // snippet: Alamofire
    let session = Session(configuration: configuration)
    // end
    return session
}

// snippet: an upload with Alamofire
@Test(.substituting(["https://api.example.com/files": .json(["id": 7]).status(201).methods("POST")]))
func uploadedFile() async throws {
    let session = Session(configuration: TestSubstitutions.current.configuration)
    let upload = session.upload(Data("hello".utf8), to: "https://api.example.com/files")
    #expect(try await upload.serializingDecodable([String: Int].self).value == ["id": 7])
}
// end
#endif

#if canImport(Moya)
func moyaProvider<API: TargetType>(_ configuration: URLSessionConfiguration) -> MoyaProvider<API> {
    // snippet: Moya
    let provider = MoyaProvider<API>(session: Session(configuration: configuration, startRequestsImmediately: false))
    // end
    return provider
}
#endif

#if canImport(Get)
func getClient(_ configuration: URLSessionConfiguration) -> APIClient {
    // snippet: Get
    let client = APIClient(baseURL: URL(string: "https://api.example.com")) {
        $0.sessionConfiguration = configuration
    }
    // end
    return client
}
#endif

#if canImport(OpenAPIURLSession)
func openAPITransport(_ configuration: URLSessionConfiguration) -> URLSessionTransport {
    // snippet: Swift OpenAPI Generator
    let transport = URLSessionTransport(configuration: .init(session: URLSession(configuration: configuration)))
    // end
    return transport
}
#endif

#if canImport(Apollo)
func apolloTransport(
    _ configuration: URLSessionConfiguration,
    _ store: ApolloStore,
    _ endpoint: URL
) -> RequestChainNetworkTransport {
    // snippet: Apollo
    let transport = RequestChainNetworkTransport(
        urlSession: URLSession(configuration: configuration),
        interceptorProvider: DefaultInterceptorProvider.shared,
        store: store,
        endpointURL: endpoint
    )
    // end
    return transport
}
#endif

#if canImport(Kingfisher)
func setUpKingfisher(_ configuration: URLSessionConfiguration) {
    // snippet: Kingfisher
    ImageDownloader.default.sessionConfiguration = configuration
    // end
}
#endif

#if canImport(Nuke)
func setUpNuke(_ configuration: URLSessionConfiguration) {
    // snippet: Nuke
    ImagePipeline.shared = ImagePipeline {
        $0.dataLoader = DataLoader(configuration: configuration)
    }
    // end
}
#endif

#if canImport(XCUIAutomation)
@MainActor
func launchWithSubstitutions() {
    // snippet: a UI test
    let app = XCUIApplication()
    let map = #"{ "https://api.example.com/user": { "json": { "name": "Ada" } } }"#
    app.launchEnvironment["LOCAL_SUBSTITUTION_MAP"] = map
    app.launchEnvironment["LOCAL_SUBSTITUTION_UNMATCHED"] = "fail"
    app.launch()
    // end
}
#endif
