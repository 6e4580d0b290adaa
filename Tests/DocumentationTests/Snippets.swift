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
        try LocalSubstitutionCache(bundle: bundle, invalidEntries: .skip).install()
    } catch {
        print(error)  // There is no map, it isn't JSON, or a session was used before. The default cache stays.
    }
}
// end

// snippet: a test
@Test("the user's name is decoded")
func userName() async throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    let map = try SubstitutionMap(files: ["https://api.example.com/user": "user.json"], resources: fixtures)
    let session = try LocalSubstitutionCache(map: map).makeSession(unmatched: .fail)
    let url = try #require(URL(string: "https://api.example.com/user"))
    let (body, _) = try await session.data(from: url)
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

func installCache(_ cache: LocalSubstitutionCache) throws {
    // snippet: installing
    try cache.install()
    // end
}

func attachedSession(with cache: LocalSubstitutionCache) throws -> URLSession {
    // snippet: attaching
    let configuration = URLSessionConfiguration.default
    try cache.attach(to: configuration)
    let session = URLSession(configuration: configuration)
    // end
    return session
}

func strictSession(with cache: LocalSubstitutionCache) throws -> URLSession {
    // snippet: a strict session with an exception
    let session = try cache.makeSession(unmatched: .fail(except: ["http://127.0.0.1:*/*"]))
    // end
    return session
}

func listen(to cache: LocalSubstitutionCache, _ url: URL) -> Task<Void, Never> {
    // snippet: finding mistakes
    let events = cache.events()
    let listener = Task { for await event in events { print(event) } }
    print(cache.explain(URLRequest(url: url)))
    print(cache.statistics.substituted, "of", cache.statistics.lookups)
    print(cache.unusedEntries)
    // end
    return listener
}

func printProblems(of mapFile: URL) throws -> SubstitutionMap {
    // snippet: problems and warnings
    let map = try SubstitutionMap(contentsOf: mapFile, invalidEntries: .skip)
    for problem in map.problems + map.fileProblems() { print(problem) }
    for warning in map.warnings() { print(warning) }
    // end
    return map
}

func reloadingCache(_ mapFile: URL) throws -> LocalSubstitutionCache {
    // snippet: live reload
    let cache = try LocalSubstitutionCache(contentsOf: mapFile)
    // end
    return cache
}

func printVerification(of session: URLSession, _ cache: LocalSubstitutionCache) async {
    // snippet: verifying
    switch await cache.verify(session) {
    case .substituted(let url): print("\(url) was answered from a local file")
    case .notSubstituted(let reason): print(reason)
    }
    // end
}

func keepWhatIsVisited(_ cache: LocalSubstitutionCache) throws -> URLSession {
    // snippet: a copy of what was visited
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    let recorder = try SubstitutionRecorder(folder: caches.appending(path: "Kept"))
    let session = try cache.makeSession(.default, recorder: recorder)
    // end
    return session
}

// snippet: strict mode
func checkoutCache() throws -> LocalSubstitutionCache {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    return try LocalSubstitutionCache(contentsOf: folder.appending(path: "Fixtures/checkout.json"))
}

@Test("an order that is refused says why")
func refusedOrder() async throws {
    let session = try checkoutCache().makeSession(unmatched: .fail)
    let url = try #require(URL(string: "https://shop.example.com/orders"))
    var order = URLRequest(url: url)
    order.httpMethod = "POST"
    order.setValue("Bearer token", forHTTPHeaderField: "Authorization")
    let (body, response) = try await session.data(for: order)
    #expect((response as? HTTPURLResponse)?.statusCode == 409)
    #expect(String(decoding: body, as: UTF8.self) == "sold out\n")
}
// end

func expectNoUnusedEntries(of cache: LocalSubstitutionCache) {
    // snippet: unused entries
    #expect(cache.unusedEntries.isEmpty)
    // end
}

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
