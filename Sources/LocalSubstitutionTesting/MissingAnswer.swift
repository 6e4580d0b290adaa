#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a map lacks to answer a request of a recording run.
enum MissingAnswer {
    case entry
    /// A URL to forward the request to: the field `forwardTo`.
    case target
    /// An entry for the server's redirect, which led to a URL that an entry answers.
    case redirect

    /// Creates a cache that explains how a map answers a request while no alternative is used up.
    static func cache(_ map: SubstitutionMap) -> LocalSubstitutionCache {
        LocalSubstitutionCache(map: map, memoryCapacity: 0, diskCapacity: 0)
    }

    /// Returns `nil` if nothing is missing.
    init?(to request: TestSubstitutions.Request, in cache: LocalSubstitutionCache) {
        let isAnswered = request.outcome == .answered
        guard !isAnswered || request.isRedirected else { return nil }
        let explanation = cache.explain(request.withBody)
        switch explanation.verdict {
        case .noEntry, .methodNotListed, .ruledOut: self = isAnswered ? .redirect : .entry
        case .excluded, .notHTTP, .unreadableFile: self = .entry
        default:
            guard request.needsOrigin, let winner = explanation.winner else { return nil }
            if request.usedUp.contains(where: winner.isSame) {
                self = .entry
            } else if request.entry.map(winner.isSame) == true {
                self = .target
            } else {
                return nil
            }
        }
    }
}

extension RecordingAgain {
    /// Returns the recorded sequence that answers a request and can be recorded again; `nil` if there's none.
    ///
    /// - Parameter cache: See ``MissingAnswer/cache(_:)``.
    func sequence(answering request: TestSubstitutions.Request, in cache: LocalSubstitutionCache) -> Sequence? {
        guard request.outcome != .answered, let winner = cache.explain(request.withBody).winner else { return nil }
        // If the winner was used up, `entry` is a later alternative. Otherwise, it may be that of a redirect's target.
        return request.usedUp.contains(where: winner.isSame)
            ? request.entry.flatMap { sequence(of: $0) } : sequence(of: winner)
    }
}

extension TestSubstitutions.Request {
    /// The request with its body, even if the body was read from a stream.
    var withBody: URLRequest {
        var request = request
        if let body { request.httpBody = body }
        return request
    }
}

extension SubstitutionMap.EntryReference {
    /// Returns whether both refer to the same entry or alternative, even in different versions of the map.
    fileprivate func isSame(_ other: Self) -> Bool { key == other.key && alternative == other.alternative }
}
#endif
