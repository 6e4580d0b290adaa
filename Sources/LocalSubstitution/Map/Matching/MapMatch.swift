/// What a map says of one request.
package final class MapMatch: Sendable {
    /// The entry, or the alternative of an entry, that wins: it answers, or is `null`.
    package let winner: Entry?
    /// The number of the winner's entry in the map's index.
    let number: Int?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key without a parameter being ignored.
    let isWithoutIgnoring: Bool
    /// What the winner answers with; `nil` if it's `null`, or if the request's body has to be read first.
    let substitution: Substitution?
    /// Whether the winner has a condition for the request's body, which hasn't been read yet.
    let needsBody: Bool
    /// Entries and alternatives that would have won, and why they don't.
    let passedOver: [(entry: Entry, why: PassedOver)]
    /// Entries that match, but lose.
    let shadowed: [Entry]
    /// The first field on the way to the winner that a cache alone can't follow; `nil` if there is none.
    let protocolField: String?
    /// Whether another request for the same URL may get something else: a condition or a count was looked at.
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
    var isExcluded: Bool { winner?.options.isNever == true }

    /// What answers without the network; `nil` if nothing does.
    var localSubstitution: Substitution? { substitution.flatMap { $0.isLocal ? $0 : nil } }

    /// What counts the winner's answers; `nil` for one that answers any number of requests.
    var count: AnswerCount? {
        guard let number, let winner, let most = winner.options.times else { return nil }
        return AnswerCount(entry: number, winner.options, most: most)
    }

    /// The first entry whose file was there when the map was loaded, and is gone.
    var goneFile: Entry? {
        passedOver.first { if case .fileIsGone = $0.why { true } else { false } }?.entry
    }

    /// The first entry that doesn't answer because of the request's method, headers, query or body, or of earlier requests.
    var ruledOut: (entry: Entry, why: PassedOver)? {
        passedOver.first { $0.why.isOfRequest }
    }

    /// The alternatives that have answered as many requests as they may.
    var usedUp: [Entry] {
        passedOver.compactMap { if case .usedUp = $0.why { $0.entry } else { nil } }
    }

    /// The names of files that would have had another entry win. None of them existed.
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
        /// A condition doesn't hold: why not.
        case condition(String)
        /// It has answered as many requests as it may.
        case usedUp(Int)
        /// A file that was there when the map was loaded is gone: a fault.
        case fileIsGone(name: String)
        /// The file whose name the pattern makes from the URL doesn't exist.
        case noSuchFile(name: String)
        /// The entry's pattern can't turn the URL into a file name or a URL to forward to.
        case notFilled(FileName.Obstacle)

        var isOfRequest: Bool {
            switch self {
            case .methodNotListed, .condition, .usedUp: true
            case .isDisabled, .fileIsGone, .noSuchFile, .notFilled: false
            }
        }
    }
}
