/// What Apple's URLSession and Linux's do differently, one question each. Everything that decides by platform asks a value of
/// this type, so that tests on Linux can run Apple's decisions, too.
///
/// A cache has the value for its platform, and passes it on to its attachments. `CONTRIBUTING.md` says where each answer is
/// documented, reported or tested.
package struct LoaderTraits: Sendable {
    // MARK: Before a request is loaded

    /// Whether sessions have custom protocols.
    package var hasProtocols: Bool
    /// Whether sessions load with a newer loader, which might not ask protocols, on a system whose configurations don't say so.
    package var usesNewerLoader: Bool
    /// Whether a session asks the registered protocols before those that its configuration lists, the last registered first.
    /// Otherwise, it asks those of its configuration, which lists those that were registered when it was made.
    package var asksRegisteredProtocolsFirst: Bool
    /// Whether `URLSession.shared` keeps the cache and the protocols of its first use.
    package var sharedSessionKeepsItsCache: Bool
    /// Whether a session asks the protocol, then the cache, and then starts the protocol, one request at a time for the whole
    /// process. Otherwise, nothing is known of the order, and a cache may have answered a request that a protocol gets.
    package var asksProtocolThenCache: Bool
    /// Whether a request's `httpBody` and `httpBodyStream` are both `nil` for an upload task.
    package var hidesUploadBodies: Bool
    /// Whether a protocol's request has the cookies that the session adds.
    package var showsStoredCookies: Bool

    // MARK: A cache's responses

    /// Whether a session never uses a cached response to a request with `Authorization`.
    package var refusesToAuthorizedRequests: Bool
    /// Whether a session may ignore a cached response with the storage policy `.notAllowed`.
    package var refusesUnstorableResponses: Bool
    /// Whether a session reads a response's `Date`. If it doesn't, a `Date` may still cost time.
    package var readsDates: Bool

    // MARK: A protocol's calls

    /// Whether a protocol must call its client on the thread that started it, which has a run loop. Otherwise, it must call it
    /// on the queue that all sessions share.
    package var callsOnStartingThread: Bool
    /// Whether a protocol is also stopped after it has ended. Otherwise, it's stopped only because its task was suspended or
    /// cancelled. By then, a suspended task may have been resumed.
    package var stopsEndedProtocols: Bool
    /// Whether a completion handler gets only the data that a protocol loaded last.
    package var handlersGetOnlyLastPiece: Bool
    /// Whether a task waits forever for a credential if a protocol finishes a 401 with a challenge.
    package var waitsForCredentials: Bool
    /// Whether a protocol can finish a download task.
    package var finishesDownloads: Bool

    // MARK: Forwarding

    /// Whether all sessions share one queue. A delegate can be called there, must answer there, and can't cancel a task there,
    /// since that waits for the queue.
    package var sessionsShareQueue: Bool
    /// Whether a delegate gets a server's challenge only after the response, and the task then needs a credential to end.
    package var challengesAfterResponse: Bool
    /// Whether a redirect's request may have the wrong target, and has the first request's cookies.
    package var proposesWrongRedirects: Bool
    /// Whether a connection that breaks may be reported as `badServerResponse` or `unknown`.
    package var reportsBrokenConnectionsVaguely: Bool

    // MARK: `URLCache`'s own storage

    /// Whether its key for a response is host, port and path.
    package var storesByPath: Bool
    /// Whether it traps when it evicts a response that was stored twice.
    package var trapsAfterStoringTwice: Bool
    /// Whether the folder on disk shows if it's empty.
    package var storageIsFolder: Bool

    // MARK: Resources

    /// Whether sessions need no limit, since they don't hold file descriptors of their own.
    package var sharesDescriptors: Bool
}

extension LoaderTraits {
    package static let apple = LoaderTraits(
        hasProtocols: true,
        usesNewerLoader: false,
        asksRegisteredProtocolsFirst: true,
        sharedSessionKeepsItsCache: false,
        asksProtocolThenCache: false,
        hidesUploadBodies: false,
        showsStoredCookies: false,
        refusesToAuthorizedRequests: false,
        refusesUnstorableResponses: true,
        readsDates: true,
        callsOnStartingThread: true,
        stopsEndedProtocols: true,
        handlersGetOnlyLastPiece: false,
        waitsForCredentials: false,
        finishesDownloads: true,
        sessionsShareQueue: false,
        challengesAfterResponse: false,
        proposesWrongRedirects: false,
        reportsBrokenConnectionsVaguely: false,
        storesByPath: false,
        trapsAfterStoringTwice: false,
        storageIsFolder: false,
        sharesDescriptors: true
    )

    package static let watch = {
        var traits = apple
        traits.hasProtocols = false
        return traits
    }()

    package static let linux = LoaderTraits(
        hasProtocols: true,
        usesNewerLoader: false,
        asksRegisteredProtocolsFirst: false,
        sharedSessionKeepsItsCache: true,
        asksProtocolThenCache: true,
        hidesUploadBodies: true,
        showsStoredCookies: true,
        refusesToAuthorizedRequests: true,
        refusesUnstorableResponses: false,
        readsDates: false,
        callsOnStartingThread: false,
        stopsEndedProtocols: false,
        handlersGetOnlyLastPiece: true,
        waitsForCredentials: true,
        finishesDownloads: false,
        sessionsShareQueue: true,
        challengesAfterResponse: true,
        proposesWrongRedirects: true,
        reportsBrokenConnectionsVaguely: true,
        storesByPath: true,
        trapsAfterStoringTwice: true,
        storageIsFolder: true,
        sharesDescriptors: false
    )

    /// The platform's own.
    package static let current: LoaderTraits = {
        #if os(watchOS)
        watch
        #elseif canImport(Darwin)
        apple
        #else
        linux
        #endif
    }()
}
