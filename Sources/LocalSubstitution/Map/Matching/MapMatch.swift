/// What a map says about one request.
package final class MapMatch: Sendable {
    /// The entry or alternative that wins. It answers, or it's `null`.
    package let winner: Entry?
    /// The number of the winner's entry in the map's index.
    let number: Int?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key, with no parameter ignored.
    let isWithoutIgnoring: Bool
    /// What the winner answers with; `nil` if it's `null`, or if the request's body must be read first.
    let substitution: Substitution?
    /// Whether the winner has a condition on the request's body, which hasn't been read yet.
    let needsBody: Bool
    /// The entries and alternatives that come before the winner, and why they don't answer.
    let passedOver: [(entry: Entry, why: PassedOver)]
    /// The entries that match too, but come after the winner.
    let shadowed: [Entry]
    /// The first field on the way to the winner that a cache alone can't follow; `nil` if there's none.
    let protocolField: String?
    /// Whether another request for the same URL may get a different answer, since a condition or count was checked.
    let isConditional: Bool

    init(_ url: NormalizedURL, _ walk: MapWalk? = nil, winner: MapWalk.Winner? = nil, shadowed: [Entry] = []) {
        self.url = url
        self.winner = winner?.entry
        number = winner?.number
        isWithoutIgnoring = winner?.isWithoutIgnoring ?? false
        substitution = winner?.substitution
        needsBody = winner?.needsBody ?? false
        passedOver = walk?.passedOver ?? []
        protocolField = walk?.protocolField
        isConditional = walk?.isConditional ?? false
        self.shadowed = shadowed
    }

    /// Whether the winner is `null`: such a URL is never substituted.
    package var isExcluded: Bool { winner?.options.isNever == true }

    /// What answers without the network; `nil` if nothing does.
    package var localSubstitution: Substitution? { substitution.flatMap { $0.isLocal ? $0 : nil } }

    /// The limit on the winner's answers; `nil` if it answers any number of requests, or if the request's body must be read first.
    var count: AnswerCount? {
        guard !needsBody, let number, let winner, let most = winner.options.times else { return nil }
        return AnswerCount(entry: number, winner.options, most: most)
    }

    /// The first entry whose file doesn't exist, although the map has its whole name.
    var goneFile: Entry? {
        passedOver.first { if case .fileIsGone = $0.why { true } else { false } }?.entry
    }

    /// The first entry that doesn't answer because of the request's method, headers, query or body, or because of earlier requests.
    var ruledOut: (entry: Entry, why: PassedOver)? {
        passedOver.first { $0.why.isOfRequest }
    }

    /// The alternatives that have answered as many requests as they may.
    var usedUp: [Entry] {
        passedOver.compactMap { if case .usedUp = $0.why { $0.entry } else { nil } }
    }

    /// The names of missing files. If one of them existed, its entry might have won instead.
    var missingFiles: [String] {
        passedOver.compactMap { entry in
            switch entry.why {
            case .fileIsGone(let name), .noSuchFile(let name): name
            default: nil
            }
        }
    }

    enum PassedOver: Error, Hashable {
        case isDisabled
        case methodNotListed(String)
        /// A condition doesn't hold, for this reason.
        case condition(String)
        /// The alternative has answered as many requests as it may.
        case usedUp(Int)
        /// The file that the map names doesn't exist, which is a fault.
        case fileIsGone(name: String)
        /// The file whose name was made from the URL doesn't exist.
        case noSuchFile(name: String)
        /// The URL can't be turned into a file name, or into a URL to forward to.
        case notFilled(FileName.Obstacle)

        var isOfRequest: Bool {
            switch self {
            case .methodNotListed, .condition, .usedUp: true
            case .isDisabled, .fileIsGone, .noSuchFile, .notFilled: false
            }
        }
    }
}
