package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The outcome of a request that a protocol or a ``DirectLoader`` handles. It's a class, since the compiler would copy
/// a structure's fields in each of the many functions that pass it on.
package final class RequestOutcome: Sendable {
    package enum Kind: Sendable {
        /// An entry or a recorder's copy answered.
        case answered
        /// A recorder's copy answered, since the server confirmed that it's current.
        case confirmed
        /// The network answered.
        case loaded
        /// The request is left to the client, since no entry answers it.
        case passed
        /// The request failed: its entry says so, the network failed, or a file couldn't be read.
        case failed
        /// The request failed, since a handler threw an error or answered with something that isn't allowed. The text says what's
        /// wrong.
        case mishandled(String)
        /// Nothing answers, and the session isn't allowed to reach the network.
        indirect case unmatched(Explanation)
    }

    package let kind: Kind
    /// The request's plan; `nil` if it never had one.
    private let plan: Plan?
    let result: Result<CachedURLResponse, URLError>
    /// The part of a large file that is the body; `nil` if the body is in the result.
    let largeBody: LargeFile.Part?
    /// How fast the body is sent; `nil` if it's sent at once.
    let pace: Pace?
    /// Whether the body was delivered in pieces and isn't in the result, since it's too long for memory or isn't kept.
    package let isPassedOn: Bool

    init(
        _ kind: Kind,
        _ plan: Plan?,
        _ result: Result<CachedURLResponse, URLError>,
        largeBody: LargeFile.Part? = nil,
        pace: Pace? = nil,
        isPassedOn: Bool = false
    ) {
        self.kind = kind
        self.plan = plan
        self.result = result
        self.largeBody = largeBody
        self.pace = pace
        self.isPassedOn = isPassedOn
    }

    static func failed(_ plan: Plan?, _ error: URLError) -> RequestOutcome {
        RequestOutcome(.failed, plan, .failure(error))
    }

    /// The response; `nil` for a request that failed.
    package var response: CachedURLResponse? { try? result.get() }
    package var error: URLError? { if case .failure(let error) = result { error } else { nil } }
    var hasFailed: Bool { error != nil }

    /// The entry that matches the request's URL; `nil` if there is none.
    package var entry: SubstitutionMap.EntryReference? {
        plan?.namingEntry.map { SubstitutionMap.EntryReference($0) }
    }

    /// Whether only the server at the request's URL can answer, because no entry does or the entry only changes request headers.
    package var needsOrigin: Bool { plan?.needsOrigin ?? false }

    /// The alternatives that had already reached their limit of `times`.
    package var usedUp: [SubstitutionMap.EntryReference] {
        plan?.match?.usedUp.map { SubstitutionMap.EntryReference($0) } ?? []
    }
}
