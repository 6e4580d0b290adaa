#if canImport(Testing)
import Guarded
public import LocalSubstitution
import Testing

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A test's cache and session, and the requests that its code has made.
///
/// Each test has its own instance. In a parameterized test, each argument has its own.
public final class TestSubstitutions: Sendable {
    /// The cache that has the test's map.
    public let cache: LocalSubstitutionCache

    let log: RequestLog
    /// The part of the test's recording to which these substitutions belong; `nil` if the test isn't recorded.
    let recording: Recording.Argument?
    /// The folder with the files of the entries that the test adds; `nil` if there's none.
    private let resources: URL?
    private let hasEnded = Guarded(false)
    /// The calls of the test's handlers.
    let handlerCalls = HandlerCalls { [isTest = Test.current != nil] in isTest && $0 is ExpectationFailedError }
    /// Ends the use of the map by `URLSession.shared` or, without the option `sharedSession`, the watch on that
    /// session.
    private let endSharedSession: (@Sendable () -> Void)?
    /// The protocol class of the test's sessions; `nil` outside a test with substitutions.
    private let slot: SubstitutionURLProtocol.Type?
    /// The configuration with the test's protocol. It doesn't change after `init`, since each session and each caller
    /// gets a copy.
    private let original: URLSessionConfiguration = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.useClassicLoader()
        return configuration
    }()
    /// The session; `nil` until the test uses it. It isn't created earlier, since even an unused session holds two file
    /// descriptors on Linux.
    private let made = Guarded<URLSession?>(nil)

    /// The current task's substitutions; `nil` outside a test with substitutions.
    static let ofTask = TaskLocal<TestSubstitutions?>(wrappedValue: nil)

    /// The running test's substitutions, from its trait, from a call of `withSubstitutions` or, in XCTest, from
    /// `TestSubstitutions.begin`.
    ///
    /// Code outside such a test gets substitutions without entries. In Swift Testing, that includes code in an exit
    /// test or a detached task. The ``session`` of these substitutions fails each request with an error that explains
    /// what to write.
    public static var current: TestSubstitutions { inForce ?? .missing }

    /// The substitutions of the current task or, outside of tasks with substitutions, those that have begun; `nil` if there
    /// are none.
    static var inForce: TestSubstitutions? { ofTask.get() ?? begun }

    private static let missing = TestSubstitutions()

    /// For code outside a test with substitutions: the session fails each request.
    private init() {
        cache = Self.cache(.empty)
        log = RequestLog(keepsResponses: false)
        (slot, endSharedSession, recording, resources) = (nil, nil, nil, nil)
        original.urlCache = nil
        original.protocolClasses = [UnscopedProtocol.self]
    }

    /// - Parameter recording: The part of the test's recording; `nil` if the test isn't recorded.
    /// - Throws: An error if an allowed URL of `unmatched` is neither a URL nor a match pattern, or if the cache can't
    ///   be attached.
    init(
        _ map: SubstitutionMap,
        _ options: SubstitutionScope.Options,
        recording: Recording.Argument?
    ) throws(AttachmentError) {
        let isRecorded = recording != nil && RecordingMode.isOn
        let log = RequestLog(keepsResponses: isRecorded)
        let unmatched = options.unmatched.ofCache
        let listener = { [handlerCalls] (isShared: Bool) in
            SessionRules.Listener(
                start: { log.begin($0, isShared: isShared) },
                isRecorded: isRecorded,
                unmatchedNote: options.unmatched.isIssue ? Self.unmatchedNote : nil,
                handlerCalls: handlerCalls
            )
        }
        (self.log, self.recording) = (log, recording)
        resources = options.source.resources ?? map.resources?.url
        cache = Self.cache(map)
        if let layer = recording?.layer { cache.change { $0.recording = layer } }
        try cache.useInTest(unmatched, listener(false))
        slot = try cache.attach(to: original, unmatched: unmatched, responseRecorder: nil, listener: listener(false))
        endSharedSession =
            options.sharedSession
            ? try cache.answerSharedSession(
                unmatched: unmatched,
                listener: listener(true),
                takes: log.answersShared()
            ) : Self.watch(cache, log)
    }

    /// The sentence that says where the current test explains an unmatched request.
    private static var unmatchedNote: String {
        Test.current == nil
            ? "The error of withSubstitutions or TestSubstitutions.end says why."
            : "Another issue of this test says why."
    }

    /// Notes the current test's requests with `URLSession.shared` that an entry would have responded to. Returns a closure
    /// that ends this; `nil` if that session can't be watched.
    private static func watch(_ cache: LocalSubstitutionCache, _ log: RequestLog) -> (@Sendable () -> Void)? {
        guard LocalSubstitutionCache.reachesSharedSession else { return nil }
        let owner = Test.current?.id
        return cache.watchSharedSession { request in
            if Test.current?.id == owner { log.addForgotten(request) }
        }
    }

    /// Whether any client has used the map: the test's sessions, `URLSession.shared`, or another client of the cache.
    var isUsed: Bool {
        !requests.isEmpty || !log.forgotten.isEmpty || cache.statistics.requests > 0
    }

    /// Returns a cache whose default cache is empty and stores nothing.
    private static func cache(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("LocalSubstitutionTesting-none")
        return LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0, directory: folder)
    }

    /// The session that uses the test's map. The first access creates it, and later ones return the same session.
    public var session: URLSession {
        made.withLock { made in
            let session = made ?? URLSession(configuration: original)
            made = session
            return session
        }
    }

    /// A configuration with the test's map. Use it for sessions that your code makes itself, such as one with a
    /// delegate. Each access returns a new copy, which you can change.
    public var configuration: URLSessionConfiguration {
        // The cast always succeeds. The alternative only satisfies the compiler.
        original.copy() as? URLSessionConfiguration ?? session.configuration
    }

    /// The requests that the test's code has made so far, in the order in which they began.
    ///
    /// The list has the requests of ``session``, of sessions that use ``configuration`` and, with the option
    /// `sharedSession`, of `URLSession.shared`. It also has those of other clients, which call `answer(to:)` of the
    /// ``cache``, or use a `SubstitutionServer` with it. When your code receives a response, the list already has the
    /// request and its outcome.
    public var requests: [Request] { log.requests }

    /// Adds entries in code, which apply until the test ends. With arguments, they apply until the test ends with the
    /// current argument.
    ///
    /// Use this if only the test's body knows the response, or to change a response in the middle of a test:
    ///
    /// ```swift
    /// @Test(.substituting("Fixtures/shop.json"))
    /// func renamedUser() async throws {
    ///     let user = User(name: "Ada")
    ///     try TestSubstitutions.current.add(["https://api.example.com/user": .json(user)])
    ///     #expect(try await Shop(session: .substituted).user() == user)
    /// }
    /// ```
    ///
    /// Added entries come before the test's map and its recording, and the entries of a later call come before those of
    /// an earlier one, even if the later key is a pattern and the earlier key is a URL. An entry that's skipped, such
    /// as one whose `times` is used up, leaves the request to the next one. Files of added entries are looked up where
    /// the map's files are.
    ///
    /// - Parameters:
    ///   - entries: The entries' keys, such as URLs and match patterns, and their answers.
    ///   - fileID: The file that errors name in XCTest. By default, the caller's.
    ///   - line: The line that errors name in XCTest. By default, the caller's.
    /// - Throws: An error that lists every problem with the entries; then none is added. Outside a test with
    ///   substitutions, after the test's end, and in a detached task, an error that says what to write.
    public func add(
        _ entries: KeyValuePairs<String, SubstitutionMap.Answer>,
        fileID: String = #fileID,
        line: Int = #line
    ) throws {
        do {
            try checkScope()
            if hasEnded.withLock({ $0 }) { throw Complaint(UnscopedProtocol.explanation) }
            let map = try SubstitutionMap(entries, resources: resources)
            cache.change { $0.add(map) }
        } catch {
            throw Test.current == nil ? Self.complaint("\(error)", fileID: fileID, line: line) : error
        }
    }

    /// An error for XCTest, which on Linux doesn't show where a call is: the error begins with the place, such as
    /// `ShopTests.swift:12`.
    static func complaint(_ text: String, fileID: String, line: Int) -> Complaint {
        Complaint("\(fileID.split(separator: "/").last ?? ""):\(line): \(text)")
    }

    /// From now on, the test's sessions fail every request.
    func end() {
        hasEnded.withLock { $0 = true }
        // The test's code may still use the session. An invalidated session would trap, so it isn't invalidated.
        if let slot { Slots.empty(slot) }
        endSharedSession?()
    }

    /// Checks that these substitutions belong to a test.
    ///
    /// - Throws: An error that explains what to write, if these are the substitutions for code outside a test.
    func checkScope() throws(Complaint) {
        if self === Self.missing { throw Complaint(UnscopedProtocol.explanation) }
    }
}

extension TestSubstitutions {
    /// What happens to a test's requests that no entry matches.
    public enum Unmatched: Sendable, Hashable {
        /// The request fails, and the test gets an issue that explains why. The test gets the issue even if its code
        /// ignores the error.
        ///
        /// Requests for the allowed URLs are loaded from the network instead. Each is an exact URL, or a match pattern
        /// such as `http://127.0.0.1:*/*`.
        case issue(allowing: [String])
        /// The request fails without an issue, to test how code behaves without a network. A recording run doesn't
        /// record the test's requests.
        ///
        /// Requests for the allowed URLs are loaded from the network instead. Each is an exact URL, or a match pattern
        /// such as `http://127.0.0.1:*/*`.
        case fail(allowing: [String])
        /// The request is loaded from the network.
        case load

        /// Every request that no entry matches fails, whatever its URL, and the test gets an issue.
        public static var issue: Unmatched { .issue(allowing: []) }
        /// Every request that no entry matches fails without an issue, whatever its URL.
        public static var fail: Unmatched { .fail(allowing: []) }

        /// The cache's setting for these requests. The cache doesn't distinguish failures with and without an issue.
        var ofCache: LocalSubstitutionCache.Unmatched {
            switch self {
            case .issue(let allowed), .fail(let allowed): .fail(allowing: allowed)
            case .load: .load
            }
        }

        var isIssue: Bool { if case .issue = self { true } else { false } }

        /// Whether a recording run records the requests of a test with this setting.
        var isRecorded: Bool { if case .fail = self { false } else { true } }
    }
}

extension URLSession {
    /// The running test's session: the ``TestSubstitutions/session`` of ``TestSubstitutions/current``. Pass it to the
    /// code that you test. Outside a test with substitutions, it fails each request.
    public static var substituted: URLSession { TestSubstitutions.current.session }
}

/// The protocol of the session outside a test with substitutions. It fails every request with an error that explains
/// what to write.
private final class UnscopedProtocol: URLProtocol {
    static let explanation = """
        There are no substitutions here, so this session fails every request. Give the test or its suite the trait \
        .substituting("Fixtures/map.json"), or call withSubstitutions("Fixtures/map.json") { … }. \
        In XCTest, you can also call TestSubstitutions.begin("Fixtures/map.json", test: name) in setUpWithError(). If you \
        do call begin, this session was made before it, for example in a stored property or in setUp() async throws. \
        In an exit test, call withSubstitutions in the exit test's body. In a detached task, use a session that was made \
        before the task.
        """

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        TestSubstitutions.begun?.log.addUnscoped(request)
        let error = URLError.explained(.resourceUnavailable, Self.explanation, request.url)
        client?.urlProtocol(self, didFailWithError: error)
    }

    override func stopLoading() {}
}
#endif
