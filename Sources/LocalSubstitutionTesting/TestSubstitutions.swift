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

    private let log: RequestLog
    private let slot: SubstitutionURLProtocol.Type?
    /// A configuration that doesn't change after `init`: each session and each caller gets a copy.
    private let original: URLSessionConfiguration = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useClassicLoader()
        return configuration
    }()
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
        cache = Self.cache(.empty)
        log = RequestLog(keepsResponses: false)
        slot = nil
        original.urlCache = nil
        original.protocolClasses = [UnscopedProtocol.self]
    }

    init(_ map: SubstitutionMap, _ unmatched: Unmatched, recording: Recording?) throws(AttachmentError) {
        let log = RequestLog(keepsResponses: recording != nil)
        self.log = log
        cache = Self.cache(map)
        slot = try cache.attach(
            to: original,
            unmatched: recording == nil ? unmatched.ofCache : .load,
            responseRecorder: nil,
            listener: RequestListener(
                start: { log.begin($0) },
                mustHear: { recording?.unmatched.fails($0) ?? false },
                explainsUnmatched: unmatched.isIssue
            )
        )
    }

    /// Returns a cache whose default cache is empty and stores nothing.
    private static func cache(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("LocalSubstitutionTesting-none")
        return LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0, directory: folder)
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

extension TestSubstitutions {
    /// What happens to a test's requests that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request fails, and the test gets an issue that explains why, even if the test's code ignores the error.
        ///
        /// Requests whose URL matches an exception are loaded. An exception is an exact URL, or a match pattern such as
        /// `http://127.0.0.1:*/*`.
        case issue(except: [String])
        /// The request fails without an issue, for tests of how code behaves without a network. A recording run doesn't record it.
        /// The exceptions are those of ``issue(except:)``.
        case fail(except: [String])
        /// The request is loaded from the network.
        case load

        /// Every such request fails and is reported as an issue of the test.
        public static var issue: Unmatched { .issue(except: []) }
        /// Every such request fails.
        public static var fail: Unmatched { .fail(except: []) }

        /// The cache's counterpart.
        var ofCache: LocalSubstitutionCache.Unmatched {
            switch self {
            case .issue(let exceptions), .fail(let exceptions): .fail(except: exceptions)
            case .load: .load
            }
        }

        var isIssue: Bool { if case .issue = self { true } else { false } }
    }
}

extension URLSession {
    /// The running test's session, from ``TestSubstitutions/current``.
    public static var substituted: URLSession { TestSubstitutions.current.session }
}

/// Fails every request with an error that explains what to write, for a session that was used outside any scope.
private final class UnscopedProtocol: URLProtocol {
    private static let explanation = """
        There are no substitutions here, so this session fails every request. Give the test or its suite the trait \
        .substituting("Fixtures/map.json"), or call withSubstitutions("Fixtures/map.json") { … }. In an exit test, call it in \
        the exit test's body. In a detached task, use a session that was made before the task.
        """

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let error = URLError.explained(.resourceUnavailable, Self.explanation, request.url)
        client?.urlProtocol(self, didFailWithError: error)
    }

    override func stopLoading() {}
}
#endif
