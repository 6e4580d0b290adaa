#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// What Apple's loader and Linux's do differently, one question each. A value contains those whose answer is yes.
/// Everything that decides by platform asks a value of this type, so that tests on Linux can run Apple's decisions,
/// too.
///
/// A cache has the value for its platform, and gives it to its attachments. `CONTRIBUTING.md` says where each answer is
/// documented, reported or tested.
package struct LoaderTraits: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    // MARK: Before a request is loaded

    /// Whether sessions have custom protocols.
    package static let hasProtocols = LoaderTraits(rawValue: 1 << 0)
    /// Whether sessions load with a newer loader, which might not ask protocols, on a system whose configurations don't say so.
    package static let usesNewerLoader = LoaderTraits(rawValue: 1 << 1)
    /// Whether a session asks the registered protocols before those that its configuration lists, the last registered first.
    /// Otherwise, it asks those of its configuration, which lists those that were registered when it was made.
    package static let asksRegisteredProtocolsFirst = LoaderTraits(rawValue: 1 << 2)
    /// Whether `URLSession.shared` keeps the cache and the protocols of its first use.
    package static let sharedSessionKeepsItsCache = LoaderTraits(rawValue: 1 << 3)
    /// Whether a session asks the protocol, then the cache, and then starts the protocol, one request at a time for the
    /// whole process. Otherwise, nothing is known of the order, and a cache may have responded to a request that a
    /// protocol gets.
    package static let asksProtocolThenCache = LoaderTraits(rawValue: 1 << 4)
    /// Whether a request's `httpBody` and `httpBodyStream` are both `nil` for an upload task.
    package static let hidesUploadBodies = LoaderTraits(rawValue: 1 << 5)
    /// Whether a protocol's request has the cookies that the session adds.
    package static let showsStoredCookies = LoaderTraits(rawValue: 1 << 6)

    // MARK: A cache's responses

    /// Whether a session never uses a cached response to a request with `Authorization`.
    package static let refusesToAuthorizedRequests = LoaderTraits(rawValue: 1 << 7)
    /// Whether a session may ignore a cached response with the storage policy `.notAllowed`.
    package static let refusesUnstorableResponses = LoaderTraits(rawValue: 1 << 8)
    /// Whether a session reads a response's `Date`. If it doesn't, a `Date` may still cost time.
    package static let readsDates = LoaderTraits(rawValue: 1 << 9)

    // MARK: A protocol's calls

    /// Whether a protocol must call its client on the thread that started it, which has a run loop. Otherwise, it must call it
    /// on the queue that all sessions share.
    package static let callsOnStartingThread = LoaderTraits(rawValue: 1 << 10)
    /// Whether a protocol is also stopped after it has ended. Otherwise, it's stopped only because its task was suspended or
    /// cancelled. By then, a suspended task may have been resumed.
    package static let stopsEndedProtocols = LoaderTraits(rawValue: 1 << 11)
    /// Whether a completion handler gets only the data that a protocol loaded last.
    package static let handlersGetOnlyLastPiece = LoaderTraits(rawValue: 1 << 12)
    /// Whether a task waits forever for a credential if a protocol finishes a 401 with a challenge.
    package static let waitsForCredentials = LoaderTraits(rawValue: 1 << 13)
    /// Whether a protocol can finish a download task.
    package static let finishesDownloads = LoaderTraits(rawValue: 1 << 14)

    // MARK: Forwarding

    /// Whether all sessions share one queue. A delegate can be called there, must respond there, and can't cancel a
    /// task there, since that waits for the queue.
    package static let sessionsShareQueue = LoaderTraits(rawValue: 1 << 15)
    /// Whether a delegate gets a server's challenge only after the response, and the task then needs a credential to end.
    package static let challengesAfterResponse = LoaderTraits(rawValue: 1 << 16)
    /// Whether a redirect's request may have the wrong target, and has the first request's cookies.
    package static let proposesWrongRedirects = LoaderTraits(rawValue: 1 << 17)
    /// Whether a connection that breaks may be reported as `badServerResponse` or `unknown`.
    package static let reportsBrokenConnectionsVaguely = LoaderTraits(rawValue: 1 << 18)

    // MARK: `URLCache`'s own storage

    /// Whether its key for a response is host, port and path.
    package static let storesByPath = LoaderTraits(rawValue: 1 << 19)
    /// Whether it traps when it evicts a response that was stored twice.
    package static let trapsAfterStoringTwice = LoaderTraits(rawValue: 1 << 20)
    /// Whether the folder on disk shows if it's empty.
    package static let storageIsFolder = LoaderTraits(rawValue: 1 << 21)

    // MARK: Resources

    /// Whether sessions need no limit, since they don't hold file descriptors of their own.
    package static let sharesDescriptors = LoaderTraits(rawValue: 1 << 22)
}

extension LoaderTraits {
    package static let apple: LoaderTraits = [
        .hasProtocols,
        .asksRegisteredProtocolsFirst,
        .refusesUnstorableResponses,
        .readsDates,
        .callsOnStartingThread,
        .stopsEndedProtocols,
        .finishesDownloads,
        .sharesDescriptors,
    ]

    package static let watch = apple.subtracting(.hasProtocols)

    package static let linux: LoaderTraits = [
        .hasProtocols,
        .sharedSessionKeepsItsCache,
        .asksProtocolThenCache,
        .hidesUploadBodies,
        .showsStoredCookies,
        .refusesToAuthorizedRequests,
        .handlersGetOnlyLastPiece,
        .waitsForCredentials,
        .sessionsShareQueue,
        .challengesAfterResponse,
        .proposesWrongRedirects,
        .reportsBrokenConnectionsVaguely,
        .storesByPath,
        .trapsAfterStoringTwice,
        .storageIsFolder,
    ]

    /// The platform's own.
    package static var current: LoaderTraits {
        #if os(watchOS)
        watch
        #elseif canImport(Darwin)
        apple
        #else
        linux
        #endif
    }
}

extension URLSessionConfiguration {
    /// Selects Apple's older loader on systems with two loaders. The newer loader might not use protocols.
    ///
    /// - Parameter unlessChosen: Whether to keep `usesClassicLoadingMode` if the app has changed it from its default.
    ///   With `false`, the default, the older loader is always selected.
    package func useClassicLoader(unlessChosen: Bool = false) {
        #if canImport(Darwin)
        if #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) {
            let standard = URLSessionConfiguration.default.usesClassicLoadingMode
            if !unlessChosen || usesClassicLoadingMode == standard { usesClassicLoadingMode = true }
        }
        #endif
    }

    func usesNewerLoader(_ traits: LoaderTraits) -> Bool {
        #if canImport(Darwin)
        if #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) { return !usesClassicLoadingMode }
        #endif
        return traits.contains(.usesNewerLoader)
    }
}

/// A mark for the requests that the package itself sends. Where registered protocols are asked first, the package's
/// would intercept these requests, too, so they're marked. Elsewhere, the package's own sessions leave out its
/// protocols, since Linux's Foundation loses the mark.
extension URLRequest {
    private static let ownKey = "LocalSubstitution.isOwn"

    func isOwn(_ traits: LoaderTraits) -> Bool {
        traits.contains(.asksRegisteredProtocolsFirst) && URLProtocol.property(forKey: Self.ownKey, in: self) != nil
    }

    func own(_ traits: LoaderTraits) -> URLRequest {
        guard traits.contains(.asksRegisteredProtocolsFirst),
            let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest
        else { return self }
        URLProtocol.setProperty(true, forKey: Self.ownKey, in: request)
        return request as URLRequest
    }
}
