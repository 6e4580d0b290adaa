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
#if canImport(WebKit)
import WebKit
#endif
#if canImport(AVFoundation)
import AVFoundation
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

// snippet: a user from the shared session
@Test(.substituting(["https://api.example.com/user": .json(["name": "Ada"])], sharedSession: true))
func sharedUser() async throws {
    let url = try #require(URL(string: "https://api.example.com/user"))
    let (body, _) = try await URLSession.shared.data(from: url)
    #expect(String(decoding: body, as: UTF8.self).contains("Ada"))
}
// end

// snippet: no analytics
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

// snippet: a preview's session
func previewSession() throws -> URLSession {
    let map = try SubstitutionMap([
        "https://api.example.com/user": .json(["name": "Ada"]),
        "https://api.example.com/friends": .json([]).delay(3600),
        "https://api.example.com/news": .error(.notConnectedToInternet),
    ])
    return try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
}
// end

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

// None of the libraries is a dependency, so their code isn't compiled here, and neither is code for Apple platforms on Linux. The
// article says what was run.

#if canImport(Alamofire)
func alamofireSession(_ configuration: URLSessionConfiguration) -> Session {
    // snippet: Alamofire
    let session = Session(configuration: configuration)
    // end
    return session
}
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

#if canImport(WebKit)
@MainActor
func load(_ local: URL, in webView: WKWebView) {
    // snippet: WKWebView
    webView.load(URLRequest(url: local))
    // end
}
#endif

#if canImport(AVFoundation)
@MainActor
func player(_ local: URL) -> AVPlayer {
    // snippet: AVPlayer
    let player = AVPlayer(url: local)
    // end
    return player
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
