import Foundation
import LocalSubstitution
import LocalSubstitutionRecording
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of the articles for apps, word for word between `// snippet` and `// end`, as in Snippets.swift.

// snippet: an app's bundled files
func useBundledFiles(in bundle: Bundle = .main) {
    do {
        let cache = try LocalSubstitutionCache(bundle: bundle, invalidEntries: .skip)
        try cache.install()
    } catch {
        print("The app doesn't use its bundled files: \(error)")
    }
}
// end

private struct ShopApp {
    // snippet: an app's initializer
    init() {
        useBundledFiles()
    }
    // end
}

func shopSession() throws -> URLSession {
    // snippet: an app's own session
    let configuration = URLSessionConfiguration.default
    configuration.timeoutIntervalForRequest = 20
    try LocalSubstitutionCache.installed?.attach(to: configuration)
    let session = URLSession(configuration: configuration)
    // end
    return session
}

func printVerification(of session: URLSession) async {
    // snippet: verifying an app's session
    if let cache = LocalSubstitutionCache.installed {
        print(await cache.verify(session))
    }
    // end
}

func printEvents(of cache: LocalSubstitutionCache) {
    // snippet: an app's events
    let events = cache.events()
    Task {
        for await event in events { print(event) }
    }
    // end
}

extension Bundle {
    /// What SwiftPM makes for a target that has resources.
    fileprivate static var module: Bundle { AppTests.bundle ?? .main }
}

// snippet: a test of an app's map
@Test("The app's map has no mistakes")
func bundledFiles() throws {
    let map = try SubstitutionMap(bundle: .module, invalidEntries: .skip)
    #expect(map.problems.isEmpty)
    #expect(map.fileProblems().isEmpty)
}
// end

// snippet: a session with files for when the network fails
func makeSession(bundle: Bundle = .main) -> URLSession {
    do {
        let cache = try LocalSubstitutionCache(bundle: bundle, invalidEntries: .skip)
        return try cache.makeSession(.default)
    } catch {
        print("The session doesn't use the bundled files: \(error)")
        return URLSession(configuration: .default)
    }
}
// end

// snippet: an app's recorder
func openRecorder() -> SubstitutionRecorder? {
    do {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
        return try SubstitutionRecorder(folder: caches.appendingPathComponent("Offline"))
    } catch {
        print("The app doesn't record what it loads: \(error)")
        return nil
    }
}
// end

func recordingSession(
    _ cache: LocalSubstitutionCache
) throws -> (session: URLSession, recorder: SubstitutionRecorder?) {
    // snippet: a session that records
    let recorder = openRecorder()
    let session = try cache.makeSession(.default, recorder: recorder)
    // end
    return (session, recorder)
}

// snippet: an app's bundled files and recorder
func startWorkingOffline(bundle: Bundle = .main) -> URLSession {
    let configuration = URLSessionConfiguration.default
    configuration.timeoutIntervalForRequest = 15
    do {
        let cache: LocalSubstitutionCache
        do {
            cache = try LocalSubstitutionCache(bundle: bundle, invalidEntries: .skip)
        } catch {
            print("The app doesn't use its bundled files: \(error)")
            cache = LocalSubstitutionCache(map: try SubstitutionMap([:]))
        }
        let recorder = openRecorder()
        try cache.attach(to: configuration, recorder: recorder)
        try cache.install(recorder: recorder)
    } catch {
        print("Not every session works offline: \(error)")
    }
    return URLSession(configuration: configuration)
}
// end

func recordSharedSession(_ cache: LocalSubstitutionCache, in folder: URL) throws {
    // snippet: a recorder of the shared session
    let recorder = try SubstitutionRecorder(folder: folder)
    try cache.install(recorder: recorder)
    // end
}
