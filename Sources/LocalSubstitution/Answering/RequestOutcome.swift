package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The outcome of a request that a protocol took.
package struct RequestOutcome: Sendable {
    package enum Kind: Sendable {
        /// An entry or a recorder's copy answered.
        case answered
        /// A recorder's copy answered, since the network said that it's current.
        case confirmed
        /// The network answered.
        case loaded
        /// The request is left to the client, since the map doesn't say what answers.
        case passed
        /// The request failed: its entry says so, the network failed, or a file couldn't be read.
        case failed
        /// The request failed, since a handler threw an error or answered with something that isn't allowed. The text says what's
        /// wrong.
        case mishandled(String)
        /// Nothing answers, and the session isn't allowed to reach the network.
        case unmatched(Explanation)
    }

    package let kind: Kind
    /// The entry that names the request's URL; `nil` if there is none.
    package let entry: SubstitutionMap.EntryReference?
    /// Whether only the server at the request's URL can answer, because no entry does or the entry only changes request headers.
    package let needsOrigin: Bool
    /// The alternatives that had already answered as many requests as they may.
    package let usedUp: [SubstitutionMap.EntryReference]
    let result: Result<CachedURLResponse, URLError>
    /// Whether the request is an upload task's whose body can't be seen; set only if the request is unmatched.
    package var isHiddenUpload = false
    /// The body, if it isn't in the result.
    var largeBody: LargeFile.Part?
    /// Whether the body was only passed on, since it's too long to hold.
    package var isPassedOn = false
    /// How fast the body is sent; `nil` if it's sent at once.
    var pace: Pace?

    /// The response; `nil` for a request that failed.
    package var response: CachedURLResponse? { try? result.get() }

    package var error: URLError? { if case .failure(let error) = result { error } else { nil } }

    init(_ kind: Kind, _ plan: Plan?, _ result: Result<CachedURLResponse, URLError>) {
        self.kind = kind
        entry = plan?.namingEntry.map { SubstitutionMap.EntryReference($0) }
        needsOrigin = plan?.needsOrigin ?? false
        usedUp = plan?.match?.usedUp.map { SubstitutionMap.EntryReference($0) } ?? []
        self.result = result
    }

    static func answered(_ plan: Plan?, _ response: CachedURLResponse) -> Self {
        Self(.answered, plan, .success(response))
    }

    static func loaded(_ plan: Plan, _ response: CachedURLResponse) -> Self {
        Self(.loaded, plan, .success(response))
    }

    static func failed(_ plan: Plan?, _ error: URLError) -> Self { Self(.failed, plan, .failure(error)) }

    var hasFailed: Bool { error != nil }
}
