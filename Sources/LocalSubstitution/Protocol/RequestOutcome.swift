package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// What became of a request that a protocol has taken.
package struct RequestOutcome: Sendable {
    package enum Kind: Sendable {
        /// An entry or a recorder's copy answered.
        case answered
        /// The network answered.
        case loaded
        /// It failed: by its entry, in the network, or since a file can't be read.
        case failed
        /// Nothing answers, and its session may not reach the network.
        case unmatched(Explanation)
    }

    package let kind: Kind
    /// The entry that names the request's URL.
    package let entry: SubstitutionMap.EntryReference?
    /// Whether only the server of the requested URL can answer: no entry does, or one only sets headers of the request.
    package let needsOrigin: Bool
    /// The alternatives that had answered as many requests as they may.
    package let usedUp: [SubstitutionMap.EntryReference]
    let result: Result<CachedURLResponse, URLError>
    /// Where the body is, if it isn't in the result.
    var largeBody: LargeFile.Part?

    /// `nil` for a request that failed.
    package var response: CachedURLResponse? { try? result.get() }

    package var error: URLError? { if case .failure(let error) = result { error } else { nil } }

    init(_ kind: Kind, _ lookup: Lookup?, _ result: Result<CachedURLResponse, URLError>) {
        self.kind = kind
        entry = lookup?.decision.namingEntry.map { SubstitutionMap.EntryReference($0) }
        needsOrigin = lookup?.decision.needsOrigin ?? false
        usedUp = lookup?.decision.match?.usedUp.map { SubstitutionMap.EntryReference($0) } ?? []
        self.result = result
    }

    static func answered(_ lookup: Lookup?, _ response: CachedURLResponse) -> Self {
        Self(.answered, lookup, .success(response))
    }

    static func loaded(_ lookup: Lookup, _ response: CachedURLResponse) -> Self {
        Self(.loaded, lookup, .success(response))
    }

    static func failed(_ lookup: Lookup?, _ error: URLError) -> Self { Self(.failed, lookup, .failure(error)) }

    var hasFailed: Bool { error != nil }
}
