import Foundation
import LocalSubstitution
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Kingfisher)
import Kingfisher
#endif
#if canImport(Nuke)
import Nuke
#endif

// The Swift code of the documents, word for word between `// snippet` and `// end`, so that it is compiled and run.

// snippet: an app
func answerFromLocalFiles(in bundle: Bundle = .main) {
    do {
        URLCache.shared = try LocalSubstitutionCache(bundle: bundle, strict: false)
    } catch {
        print(error)  // There is no map, or it is no JSON. The default cache stays.
    }
}
// end

// snippet: a test
@Test("the user's name is decoded")
func userName() async throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    let map = try SubstitutionMap(["https://api.example.com/user": "user.json"], resources: fixtures)
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = LocalSubstitutionCache(map: map)
    let url = try #require(URL(string: "https://api.example.com/user"))
    let (body, _) = try await URLSession(configuration: configuration).data(from: url)
    #expect(try JSONDecoder().decode([String: String].self, from: body) == ["name": "Ada"])
}
// end

func shareCacheOfMainBundle() throws {
    // snippet: the shared cache
    URLCache.shared = try LocalSubstitutionCache(bundle: .main)
    // end
}

func shareCacheOfFolder() throws {
    // snippet: the map in a folder
    URLCache.shared = try LocalSubstitutionCache(contentsOf: URL(filePath: "substitutions.json"))
    // end
}

func ephemeralSession(with cache: LocalSubstitutionCache) -> URLSession {
    // snippet: a session of one's own
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    let session = URLSession(configuration: configuration)
    // end
    return session
}

func listen(to cache: LocalSubstitutionCache, _ url: URL) {
    // snippet: finding mistakes
    cache.onEvent = { event in print(event) }
    print(cache.explain(URLRequest(url: url)))
    print(cache.statistics.substituted, "of", cache.statistics.lookups)
    // end
}

func printProblems(of mapFile: URL) throws -> SubstitutionMap {
    // snippet: problems and warnings
    let map = try SubstitutionMap(contentsOf: mapFile, strict: false)
    for problem in map.problems { print(problem) }
    for warning in map.warnings() { print(warning) }
    // end
    return map
}

func reloadingCache(_ mapFile: URL) throws -> LocalSubstitutionCache {
    // snippet: live reload
    let cache = try LocalSubstitutionCache(contentsOf: mapFile, reloadsChanges: true)
    // end
    return cache
}

func attach(_ cache: LocalSubstitutionCache) -> URLSessionConfiguration {
    // snippet: attaching
    let configuration = URLSessionConfiguration.default
    cache.attach(to: configuration)
    // end
    return configuration
}

func printVerification(of session: URLSession, _ cache: LocalSubstitutionCache) async {
    // snippet: verifying
    let verification = await cache.verify(session)
    print(verification)
    // end
}

// snippet: a copy of what was visited
final class KeepingProtocol: SubstitutionURLProtocol {
    static let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
    static let kept = caches.first.flatMap { try? SubstitutionRecorder(folder: $0.appending(path: "Kept")) }
    override class var recorder: SubstitutionRecorder? { kept }
}
// end

func keepWhatIsVisited(_ cache: LocalSubstitutionCache) -> URLSessionConfiguration {
    // snippet: attaching a recorder
    let configuration = URLSessionConfiguration.default
    cache.attach(to: configuration, as: KeepingProtocol.self)
    // end
    return configuration
}

// snippet: strict mode
final class CheckoutProtocol: SubstitutionURLProtocol {
    static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/checkout.json")
    static let checkout = Result { try LocalSubstitutionCache(contentsOf: fixtures) }
    override class var cache: LocalSubstitutionCache? {
        if case .success(let cache) = checkout { cache } else { nil }
    }
}

func checkoutSession() throws -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    let cache = try CheckoutProtocol.checkout.get()
    cache.attach(to: configuration, as: CheckoutProtocol.self, unmatched: .fail)
    return URLSession(configuration: configuration)
}

@Test("an order that is refused says why")
func refusedOrder() async throws {
    let url = try #require(URL(string: "https://shop.example.com/orders"))
    var order = URLRequest(url: url)
    order.httpMethod = "POST"
    order.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    let (body, response) = try await checkoutSession().data(for: order)
    #expect((response as? HTTPURLResponse)?.statusCode == 409)
    #expect(String(decoding: body, as: UTF8.self) == "sold out\n")
}
// end

func recordedFixtures() throws -> LocalSubstitutionCache {
    // snippet: recorded fixtures
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/substitutions.json")
    let cache = try LocalSubstitutionCache(contentsOf: fixtures)
    // end
    return cache
}

// Neither library is a dependency, so these two are not compiled here; the documents say so.

#if canImport(Kingfisher)
func setUpKingfisher() {
    // snippet: Kingfisher
    ImageDownloader.default.sessionConfiguration = .default
    KingfisherManager.shared.defaultOptions += [
        .requestModifier(
            AnyModifier { request in
                var request = request
                request.cachePolicy = .useProtocolCachePolicy
                return request
            }
        )
    ]
    // end
}
#endif

#if canImport(Nuke)
func setUpNuke() {
    // snippet: Nuke
    ImagePipeline.shared = ImagePipeline {
        $0.dataLoader = DataLoader(configuration: .default)
    }
    // end
}
#endif
