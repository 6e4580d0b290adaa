#if canImport(Testing)
public import LocalSubstitution

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A test's cache and session, and what the test has requested.
///
/// Each test has its own, and each argument of a parameterized test.
public final class TestSubstitutions: Sendable {
    /// The session that uses the test's map.
    public let session: URLSession
    /// The cache with the test's map.
    public let cache: LocalSubstitutionCache

    let log: RequestLog
    private let slot: SubstitutionURLProtocol.Type?

    static let ofTask = TaskLocal<TestSubstitutions?>(wrappedValue: nil)

    /// The running test's substitutions.
    ///
    /// Outside a test with the trait, in an exit test and in a detached task there are none. Then its session fails each request
    /// with an error that says what to write.
    public static var current: TestSubstitutions { ofTask.get() ?? .missing }

    private static let missing = TestSubstitutions()

    /// For code that isn't in a scope.
    private init() {
        cache = .ofTest(.empty)
        log = RequestLog(keepsResponses: false)
        slot = nil
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.protocolClasses = [UnscopedProtocol.self]
        session = URLSession(configuration: configuration)
    }

    init(
        _ map: SubstitutionMap,
        unmatched: LocalSubstitutionCache.Unmatched,
        recording: Recording?
    ) throws(AttachmentError) {
        let log = RequestLog(keepsResponses: recording != nil)
        let configuration = URLSessionConfiguration.ephemeral
        cache = .ofTest(map)
        let listener = RequestListener(start: { log.begin($0) }, mustHear: { recording?.unmatched.fails($0) ?? false })
        slot = try cache.attach(to: configuration, unmatched: unmatched, recorder: nil, listener: listener)
        session = URLSession(configuration: configuration)
        self.log = log
    }

    /// A configuration for sessions that the code makes itself, such as those with a delegate. Each call returns a new copy.
    public var configuration: URLSessionConfiguration {
        // What the getter returns is a copy.
        session.configuration
    }

    /// What was requested so far with ``session`` and the sessions of ``configuration``, in order.
    ///
    /// When a response arrives, its request is here with its outcome.
    public var requests: [Request] { log.requests }

    /// The entries that haven't answered a request of this test, without `null` and disabled ones.
    public var unusedEntries: [SubstitutionMap.EntryReference] { cache.unusedEntries }

    /// Ends the scope: from now on, its sessions fail each request.
    func end() {
        // The session isn't invalidated, since an invalid one traps if code of the test still uses it.
        if let slot { Slots.empty(slot) }
    }
}

extension LocalSubstitutionCache {
    /// A cache whose default cache is empty and stores nothing.
    fileprivate static func ofTest(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("LocalSubstitutionTesting-none")
        return LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0, directory: folder)
    }
}
#endif
