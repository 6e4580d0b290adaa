/// What a map says of one URL.
package struct MapMatch: Sendable {
    /// The entry that wins: a substitution, or `null`.
    package let winner: Entry?
    /// The winner's number in the map's index.
    let number: Int?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key without a parameter being ignored.
    let isWithoutIgnoring: Bool
    /// What the winner gives; `nil` where it is `null`.
    let substitution: Substitution?
    /// Entries that would have won, but are disabled, or have no file for the URL.
    let passedOver: [(entry: Entry, why: PassedOver)]
    /// Entries that match, but lose.
    let shadowed: [Entry]

    /// Whether the winner is `null`: such a URL is never substituted.
    var isExcluded: Bool { winner?.options.isNever == true }

    /// The first entry whose file was there when the map was loaded, and is gone.
    var goneFile: Entry? {
        passedOver.first { if case .fileIsGone = $0.why { true } else { false } }?.entry
    }

    enum PassedOver: Sendable {
        case isDisabled
        /// A file that was there when the map was loaded is gone: a fault.
        case fileIsGone(name: String)
        /// There is no file of the name that the pattern makes of the URL.
        case noSuchFile(name: String)
        /// The pattern can't make a file name of the URL.
        case noFileName(FileName.Obstacle)
    }
}
