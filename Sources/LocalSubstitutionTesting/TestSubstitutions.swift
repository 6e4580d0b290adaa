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
/// Each test has its own instance, and so does each argument of a parameterized test.
public final class TestSubstitutions: Sendable {
    /// The cache with the test's map.
    public let cache: LocalSubstitutionCache

    let log: RequestLog
    /// Stops the map from answering `URLSession.shared`; `nil` if it doesn't answer that session.
    private let endSharedSession: (@Sendable () -> Void)?
    private let slot: SubstitutionURLProtocol.Type?
    /// A configuration that doesn't change after `init`: each session and each caller gets a copy.
    private let original: URLSessionConfiguration = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useClassicLoader()
        return configuration
    }()
    /// The session; `nil` until it's used. On Linux, even an unused session holds two file descriptors.
    private let made = Guarded<URLSession?>(nil)

    static let ofTask = TaskLocal<TestSubstitutions?>(wrappedValue: nil)

    /// The running test's substitutions.
    ///
    /// Only a test with the trait, or a call of `withSubstitutions`, has substitutions. An exit test and a detached task have
    /// none. The ``session`` then fails each request with an error that explains what to write.
    public static var current: TestSubstitutions { ofTask.get() ?? .missing }

    private static let missing = TestSubstitutions()

    /// Creates the substitutions for code outside any scope.
    private init() {
        cache = Self.cache(.empty)
        log = RequestLog(keepsResponses: false)
        (slot, endSharedSession) = (nil, nil)
        original.urlCache = nil
        original.protocolClasses = [UnscopedProtocol.self]
    }

    init(_ map: SubstitutionMap, _ options: SubstitutionScope.Options, recording: Recording?) throws(AttachmentError) {
        let log = RequestLog(keepsResponses: recording != nil)
        let unmatched = recording == nil ? options.unmatched.ofCache : .load
        let listener = { (isShared: Bool) in
            RequestListener(
                start: { log.begin($0, isShared: isShared) },
                mustHear: { recording?.unmatched.fails($0) ?? false },
                explainsUnmatched: options.unmatched.isIssue
            )
        }
        self.log = log
        cache = Self.cache(map)
        slot = try cache.attach(to: original, unmatched: unmatched, responseRecorder: nil, listener: listener(false))
        endSharedSession =
            options.sharedSession
            ? try cache.answerSharedSession(
                unmatched: unmatched,
                listener: listener(true),
                takes: log.answersShared()
            ) : nil
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
        // A copy of a configuration is a configuration, too.
        original.copy() as? URLSessionConfiguration ?? session.configuration
    }

    /// The requests made so far with ``session`` and with sessions that use ``configuration``, in order. With `sharedSession`, also
    /// those of `URLSession.shared`.
    ///
    /// When your code receives a response, its request is already here with its outcome.
    public var requests: [Request] { log.requests }

    /// The entries that haven't answered a request of this test. Doesn't include `null` and disabled entries.
    public var unusedEntries: [SubstitutionMap.EntryReference] { cache.unusedEntries }

    /// Ends the scope. From now on, its sessions fail every request.
    func end() {
        // The session isn't invalidated: if the test's code still uses it, an invalidated session traps.
        if let slot { Slots.empty(slot) }
        endSharedSession?()
    }

    /// - Throws: An error that explains what to write, if these are the substitutions of code outside any scope.
    func checkScope() throws(SubstitutionScope.Failure) {
        if self === Self.missing { throw SubstitutionScope.Failure([UnscopedProtocol.explanation]) }
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
        /// The request fails without an issue, for tests of how code behaves without a network. A recording run doesn't
        /// record it. Exceptions work as in ``issue(except:)``.
        case fail(except: [String])
        /// The request is loaded from the network.
        case load

        /// Each unmatched request fails and is reported as an issue of the test.
        public static var issue: Unmatched { .issue(except: []) }
        /// Each unmatched request fails without an issue.
        public static var fail: Unmatched { .fail(except: []) }

        /// The same setting for the cache.
        var ofCache: LocalSubstitutionCache.Unmatched {
            switch self {
            case .issue(let exceptions), .fail(let exceptions): .fail(except: exceptions)
            case .load: .load
            }
        }

        var isIssue: Bool { if case .issue = self { true } else { false } }

        /// Whether a recording run records the requests of a test with this setting.
        var isRecorded: Bool { if case .fail = self { false } else { true } }
    }
}

extension URLSession {
    /// The running test's session, from ``TestSubstitutions/current``.
    public static var substituted: URLSession { TestSubstitutions.current.session }
}

/// A protocol for a session that is used outside any scope. It fails every request with an error that explains what to
/// write.
private final class UnscopedProtocol: URLProtocol {
    static let explanation = """
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
