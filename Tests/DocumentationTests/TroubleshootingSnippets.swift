import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of the article on troubleshooting, as in Snippets.swift.

func findOut(
    about request: URLRequest,
    _ session: URLSession,
    _ cache: LocalSubstitutionCache
) async -> Task<Void, Never> {
    // snippet: three steps
    let events = cache.events()
    let listener = Task {
        for await event in events { print(event) }
    }
    print(cache.explain(request))
    print(await cache.verify(session))
    // end
    return listener
}
