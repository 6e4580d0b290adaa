/// What a map says of one URL.
package final class MapMatch: Sendable {
    /// The entry that wins: a substitution, or `null`.
    package let winner: Entry?
    /// The winner's number in the map's index.
    let number: Int?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key without a parameter being ignored.
    let isWithoutIgnoring: Bool
    /// The winner's substitution; `nil` if the winner is `null`.
    let substitution: Substitution?
    /// Entries that would have won, but are disabled, or have no file for the URL.
    let passedOver: [(entry: Entry, why: PassedOver)]
    /// Entries that match, but lose.
    let shadowed: [Entry]

    init(
        _ url: NormalizedURL,
        winner: Entry? = nil,
        number: Int? = nil,
        isWithoutIgnoring: Bool = false,
        substitution: Substitution? = nil,
        passedOver: [(Entry, PassedOver)],
        shadowed: [Entry] = []
    ) {
        self.url = url
        self.winner = winner
        self.number = number
        self.isWithoutIgnoring = isWithoutIgnoring
        self.substitution = substitution
        self.passedOver = passedOver
        self.shadowed = shadowed
    }

    /// Whether the winner is `null`: such a URL is never substituted.
    var isExcluded: Bool { winner?.options.isNever == true }

    /// The first entry whose file was there when the map was loaded, and is gone.
    var goneFile: Entry? {
        passedOver.first { if case .fileIsGone = $0.why { true } else { false } }?.entry
    }

    /// The names of files that would have had another entry win. None of them existed.
    var missingFiles: [String] {
        passedOver.compactMap { entry in
            switch entry.why {
            case .fileIsGone(let name), .noSuchFile(let name): name
            case .isDisabled, .noFileName: nil
            }
        }
    }

    enum PassedOver: Sendable {
        case isDisabled
        /// A file that was there when the map was loaded is gone: a fault.
        case fileIsGone(name: String)
        /// The file whose name the pattern makes from the URL doesn't exist.
        case noSuchFile(name: String)
        /// The pattern can't make a file name of the URL.
        case noFileName(FileName.Obstacle)
    }
}
