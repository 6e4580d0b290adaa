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
                url,
                winner: entry,
                number: candidate.number,
                isWithoutIgnoring: candidate.isWithoutIgnoring,
                substitution: substitution,
                passedOver: passedOver,
                shadowed: losers
            )
        }
        return MapMatch(url, passedOver: passedOver)
    }

    /// Whether a file of that name exists. A folder doesn't count if a pattern made the name. It counts if the name is written in
    /// the map: then opening it reports a fault.
    private func exists(_ name: String, folderIsFile: Bool) -> Bool {
        guard let status = storage.folder?.servedStatus(of: name) else { return false }
        return folderIsFile || status.kind != .folder
    }
}
