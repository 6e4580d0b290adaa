extension SubstitutionMap {
    /// Finds the entry that answers a plain `GET`.
    package func match(_ url: NormalizedURL) -> MapMatch { match(url, for: .plain) }

    /// Finds the entry or alternative that answers a request: the first that's enabled, whose methods, conditions and count allow
    /// it, and whose file exists.
    ///
    /// - Parameters:
    ///   - facts: The request. It's only looked at if an entry matches the URL.
    ///   - isUsedUp: Returns whether an alternative has answered as many requests as it may.
    package func match(
        _ url: NormalizedURL,
        for facts: @autoclosure () -> RequestFacts,
        isUsedUp: @escaping (AnswerCount) -> Bool = { _ in false }
    ) -> MapMatch {
        let candidates = storage.index.candidates(for: url)
        guard !candidates.isEmpty else { return MapMatch(url) }
        var walk = MapWalk(to: url, facts(), in: storage.folder, isUsedUp: isUsedUp)
        for (position, candidate) in candidates.enumerated() {
            let entry = storage.index.entries[candidate.number]
            guard let winner = walk.visit(entry, candidate) else { continue }
            let losers = candidates[(position + 1)...].compactMap { shadowed($0) }
            return MapMatch(url, walk, winner: winner, shadowed: losers)
        }
        return MapMatch(url, walk)
    }

    /// Returns the entry of a candidate that loses; `nil` if it couldn't have won.
    private func shadowed(_ candidate: MapIndex.Candidate) -> Entry? {
        let entry = storage.index.entries[candidate.number]
        guard let file = entry.file, file.wildcards > 0 else { return entry }
        return (try? file.filled(with: candidate.captures)) == nil ? nil : entry
    }
}
