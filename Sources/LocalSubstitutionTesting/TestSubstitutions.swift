#if canImport(Testing)
import Guarded
public import LocalSubstitution

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The cache and session of a test, and the requests it has made.
///
/// Each test has its own, and so does each argument of a parameterized test.
public final class TestSubstitutions: Sendable {
    /// The cache with the test's map.
    public let cache: LocalSubstitutionCache

    let log: RequestLog
    private let slot: SubstitutionURLProtocol.Type?
    /// A configuration that never changes: each session and each caller gets a copy.
    private let original: URLSessionConfiguration
    /// `nil` until it's used. On Linux, a session has two file descriptors from when it's made, used or not.
    private let made = Guarded<URLSession?>(nil)

    static let ofTask = TaskLocal<TestSubstitutions?>(wrappedValue: nil)

    /// The running test's substitutions.
    ///
    /// There are none outside a test with the trait, in an exit test, and in a detached task. There, the session fails each request
    /// with an error that explains what to write.
    public static var current: TestSubstitutions { ofTask.get() ?? .missing }

    private static let missing = TestSubstitutions()

    /// Creates the substitutions for code outside any scope.
    private init() {
        cache = .ofTest(.empty)
        log = RequestLog(keepsResponses: false)
        slot = nil
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useClassicLoader()
        configuration.urlCache = nil
        configuration.protocolClasses = [UnscopedProtocol.self]
        original = configuration
    }

    init(
        _ map: SubstitutionMap,
        unmatched: LocalSubstitutionCache.Unmatched,
        explainsUnmatched: Bool,
        recording: Recording?
    ) throws(AttachmentError) {
        let log = RequestLog(keepsResponses: recording != nil)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useClassicLoader()
        cache = .ofTest(map)
        let listener = RequestListener(
            start: { log.begin($0) },
            mustHear: { recording?.unmatched.fails($0) ?? false },
            explainsUnmatched: explainsUnmatched
        )
        slot = try cache.attach(to: configuration, unmatched: unmatched, keeper: nil, listener: listener)
        original = configuration
        self.log = log
    }

    /// The session that uses the test's map. It's made at first use.
    public var session: URLSession {
        made.withLock { made in
            let session = made ?? URLSession(configuration: original)
            made = session
            return session
        }
    }

    /// A configuration for sessions that your code makes itself, such as those with a delegate. Each access returns a new copy.
    public var configuration: URLSessionConfiguration {
        // A copy of this class is one too.
        original.copy() as? URLSessionConfiguration ?? session.configuration
    }

    /// The requests made so far with ``session`` and with sessions that use ``configuration``, in order.
    ///
    /// When your code receives a response, its request is already here with its outcome.
    public var requests: [Request] { log.requests }

    /// The entries that haven't answered a request of this test. Doesn't include `null` and disabled entries.
    public var unusedEntries: [SubstitutionMap.EntryReference] { cache.unusedEntries }

    /// Ends the scope. From now on, its sessions fail every request.
    func end() {
        // The session isn't invalidated: if the test's code still uses it, an invalidated session traps.
        if let slot { Slots.empty(slot) }
    }
}

extension LocalSubstitutionCache {
    /// Returns a cache whose default cache is empty and stores nothing.
    fileprivate static func ofTest(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("LocalSubstitutionTesting-none")
        return LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0, directory: folder)
    }
}
#endif
