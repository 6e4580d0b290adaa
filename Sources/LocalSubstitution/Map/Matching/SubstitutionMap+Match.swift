/// What a map says of one URL.
struct MapMatch: Sendable {
    /// The entry that wins: a substitution, or `null`.
    let winner: Entry?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key without a parameter being ignored.
    let isWithoutIgnoring: Bool
    /// What the winner gives; `nil` where it is `null`.
    let substitution: Substitution?
    /// Entries that would have won, but are disabled or have no file for the URL.
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
        /// The pattern can't turn the URL into a file name.
        case noFileName(FileName.Obstacle)
    }
}

extension SubstitutionMap {
    /// Finds the entry that wins: the first that is enabled and whose file exists.
    func match(_ url: NormalizedURL) -> MapMatch {
        let candidates = storage.index.candidates(for: url)
        var passedOver: [(Entry, MapMatch.PassedOver)] = []
        for (position, candidate) in candidates.enumerated() {
            let entry = storage.index.entries[candidate.number]
            guard entry.options.isEnabled else {
                passedOver.append((entry, .isDisabled))
                continue
            }
            if let obstacle = candidate.obstacle {
                passedOver.append((entry, .noFileName(obstacle)))
                continue
            }
            if let name = candidate.fileName, !exists(name, folderIsFile: !candidate.isFilled) {
                passedOver.append((entry, candidate.isFilled ? .noSuchFile(name: name) : .fileIsGone(name: name)))
                continue
            }
            let substitution =
                entry.options.isNever
                ? nil : Substitution(entry, fileName: candidate.fileName, folder: storage.folder, url: url)
            let losers = candidates[(position + 1)...].compactMap {
                $0.obstacle == nil ? storage.index.entries[$0.number] : nil
            }
            return MapMatch(
                winner: entry,
                url: url,
                isWithoutIgnoring: candidate.isWithoutIgnoring,
                substitution: substitution,
                passedOver: passedOver,
                shadowed: losers
            )
        }
        return MapMatch(
            winner: nil,
            url: url,
            isWithoutIgnoring: false,
            substitution: nil,
            passedOver: passedOver,
            shadowed: []
        )
    }

    /// Whether there is anything of that name. Where a pattern meets a folder, there is no such file; where the name stands in
    /// the map, a folder in the file's place is a fault, for whoever opens it to report.
    private func exists(_ name: String, folderIsFile: Bool) -> Bool {
        guard let folder = storage.folder, let status = FileStatus(path: folder.path(of: name)) else { return false }
        return folderIsFile || status.kind != .folder
    }
}
