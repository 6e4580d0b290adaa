extension SubstitutionMap {
    /// Finds the entry that wins: the first that is enabled and whose file exists.
    package func match(_ url: NormalizedURL) -> MapMatch {
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
                number: candidate.number,
                url: url,
                isWithoutIgnoring: candidate.isWithoutIgnoring,
                substitution: substitution,
                passedOver: passedOver,
                shadowed: losers
            )
        }
        return MapMatch(
            winner: nil,
            number: nil,
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
        guard let status = storage.folder?.servedStatus(of: name) else { return false }
        return folderIsFile || status.kind != .folder
    }
}
