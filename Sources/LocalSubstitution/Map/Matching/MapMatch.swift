extension SubstitutionMap {
    /// Matches a request with a map none of whose entries has responded yet.
    ///
    /// - Parameters:
    ///   - facts: The facts about the request; by default, those of a `GET` without headers.
    ///   - isUsedUp: Whether an alternative has already matched as many requests as its `times` allows; by default, none
    ///     has.
    package func match(
        _ url: NormalizedURL,
        for facts: RequestFacts = .plain,
        isUsedUp: ((MapMatch.Count) -> Bool)? = nil
    ) -> MapMatch {
        MapLayer(self).match(url, for: facts, isUsedUp: isUsedUp)
    }

    func entries(matching url: NormalizedURL) -> [Entry] {
        storage.index.candidates(for: url).compactMap { shadowed($0) }.filter(\.options.isEnabled)
    }

    /// `nil` if the entry couldn't respond anyway, because the URL doesn't make valid names for its files.
    fileprivate func shadowed(_ candidate: MapIndex.Candidate) -> Entry? {
        let entry = storage.index.entries[candidate.number]
        return (try? entry.fileNames(filledWith: candidate.captures)) == nil ? nil : entry
    }
}

extension MapLayer {
    /// Finds the entry or alternative that matches a request: the first that's enabled, that allows the request in
    /// `methods`, `when` and `times`, and whose file exists.
    ///
    /// - Parameters:
    ///   - before: The match in the layer before this one; `nil`, the default, if this is the first.
    ///   - isUsedUp: Whether an alternative has already matched as many requests as its `times` allows; by default, as
    ///     this layer has counted.
    func match(
        _ url: NormalizedURL,
        for facts: RequestFacts,
        after before: MapMatch? = nil,
        isUsedUp: ((MapMatch.Count) -> Bool)? = nil
    ) -> MapMatch {
        let storage = map.storage
        let candidates = storage.index.candidates(for: url)
        guard !candidates.isEmpty else { return MapMatch(url, in: self, after: before) }
        var skipped: [(entry: Entry, why: MapMatch.Skipped)] = []
        for (place, candidate) in candidates.enumerated() {
            let entry = storage.index.entries[candidate.number]
            guard entry.options.isEnabled else {
                skipped.append((entry, .isDisabled))
                continue
            }
            for entry in entry.responding {
                do throws(MapMatch.Skipped) {
                    let answer = try answer(of: entry, candidate, to: facts, isUsedUp, url)
                    let shadowed = candidates[(place + 1)...].compactMap { map.shadowed($0) }
                    let won = (entry, candidate, answer)
                    return MapMatch(url, in: self, after: before, won, skipped: skipped, shadowed: shadowed)
                } catch {
                    skipped.append((entry, error))
                }
            }
        }
        return MapMatch(url, in: self, after: before, skipped: skipped)
    }

    /// `nil` if the entry is `null`, or if the request's body must be read first.
    ///
    /// - Throws: The reason why the entry or alternative is skipped.
    private func answer(
        of entry: Entry,
        _ candidate: MapIndex.Candidate,
        to facts: RequestFacts,
        _ isUsedUp: ((MapMatch.Count) -> Bool)?,
        _ url: NormalizedURL
    ) throws(MapMatch.Skipped) -> Substitution? {
        let options = entry.options
        guard !options.isNever else { return nil }
        guard options.lists(method: facts.method) else { throw .methodNotListed(facts.method) }
        let when = options.fields.when
        if let failure = when?.failureOfHead(facts, url) { throw .condition(failure) }
        if let count = MapMatch.Count(candidate.number, entry), isUsedUp?(count) ?? self.isUsedUp(count) {
            throw .usedUp(count.most)
        }
        // A handler gets the body, so the body must be read even if no condition needs it.
        let isCalled = if case .handler = options.answer { true } else { false }
        if case .unread = facts.body, isCalled || when?.needsBody == true { return nil }
        if let failure = when?.failureOfBody(facts) { throw .bodyCondition(failure) }
        let names: [String]
        let target: ForwardTarget.Filled?
        do throws(Complaint) {
            names = try entry.fileNames(filledWith: candidate.captures)
            target = try entry.forwardTarget?.filled(with: candidate.captures, for: url)
        } catch {
            throw .notFilled(error)
        }
        for (name, written) in zip(names, entry.files) { try check(name, isWritten: !written.hasWildcards) }
        return Substitution(
            entry,
            fileNames: names,
            target: target,
            captures: candidate.captures,
            folder: map.storage.folder,
            url: url
        )
    }

    /// For a missing file, throws `fileIsGone` if the map has the file's whole name, and `noSuchFile` if the name was
    /// made from the URL.
    ///
    /// - Parameter isWritten: Whether the map has the file's whole name, without wildcards.
    private func check(_ name: String, isWritten: Bool) throws(MapMatch.Skipped) {
        let status = map.storage.folder?.servedStatus(of: name)
        if isWritten {
            // A folder is treated as an existing file. Opening it later reports the mistake in the map.
            if status == nil { throw .fileIsGone(name: name) }
        } else if status == nil || status?.kind == .folder {
            throw .noSuchFile(name: name)
        }
    }
}

/// The result of matching one request with a map.
///
/// If several maps are searched one after the other, each match links to the one before it. The skipped entries then
/// include those of the maps before.
package final class MapMatch: Sendable {
    /// The first entry or alternative that applies to the request; `nil` if there's none. The winner responds, unless
    /// it's a `null` entry.
    package let winner: Entry?
    /// The number of the winner in the map's index; `nil` without a winner.
    let number: Int?
    let url: NormalizedURL
    /// `nil` without a winner, for a `null` entry, and if the request's body must be read first.
    let substitution: Substitution?
    let layer: MapLayer
    /// The match in the map that was searched before this one; `nil` if this map was the first. In that map, no entry
    /// matches the request, or the winner only changes the request's headers: see ``onlyChangesRequest``.
    let before: MapMatch?
    /// The skipped entries and alternatives of this map. They come before the winner.
    private let own: [(entry: Entry, why: Skipped)]
    /// These entries also match the URL, but come after the winner.
    let shadowed: [Entry]
    fileprivate init(
        _ url: NormalizedURL,
        in layer: MapLayer,
        after before: MapMatch?,
        _ won: (entry: Entry, candidate: MapIndex.Candidate, answer: Substitution?)? = nil,
        skipped: [(entry: Entry, why: Skipped)] = [],
        shadowed: [Entry] = []
    ) {
        (self.url, self.layer, self.before) = (url, layer, before)
        winner = won?.entry
        number = won?.candidate.number
        substitution = won?.answer
        own = skipped
        self.shadowed = shadowed
    }

    /// The skipped entries and alternatives of all maps, in the order in which they were tried.
    var skipped: [(entry: Entry, layer: MapLayer, why: Skipped)] {
        (before?.skipped ?? []) + own.map { ($0.entry, layer, $0.why) }
    }

    private func first(
        _ isWanted: (Entry, Skipped) -> Bool
    ) -> (entry: Entry, layer: MapLayer, why: Skipped)? {
        before?.first(isWanted) ?? own.first { isWanted($0.entry, $0.why) }.map { ($0.entry, layer, $0.why) }
    }

    /// Whether no entry matches the URL, in this map or one before it.
    var isEmpty: Bool { winner == nil && own.isEmpty && before?.isEmpty ?? true }

    /// Whether the next map is searched, too: see ``Substitution/onlyChangesRequest``.
    var onlyChangesRequest: Bool { substitution?.onlyChangesRequest == true }

    /// This match and, before it, those whose winners only change the request's headers.
    func forEachWinner(_ body: (MapMatch) -> Void) {
        before?.forEachWinner(body)
        if winner != nil { body(self) }
    }

    /// The substitutions of the maps before this one, which only change the request's headers.
    var changes: [Substitution] {
        guard let before else { return [] }
        return before.changes + (before.onlyChangesRequest ? [before.substitution].compactMap { $0 } : [])
    }

    var depth: Int { before.map { $0.depth + 1 } ?? 0 }

    /// Whether the request's body must be read first, to check the winner's condition or to call its handler.
    var needsBody: Bool { winner?.options.isNever == false && substitution == nil }

    /// Why the winner doesn't respond cache only, whatever the request; `nil` if it does, or if there's no winner. A
    /// field that needs an attached session is also an obstacle in an entry before the winner, unless that entry is
    /// skipped because it's disabled or because of the request's method, headers or query.
    var cacheOnlyObstacle: Obstacle? {
        let before = first { entry, why in
            if case .field? = entry.options.cacheOnlyObstacle { !why.isKnownFromHead } else { false }
        }
        return before?.entry.options.cacheOnlyObstacle ?? winner?.options.cacheOnlyObstacle
    }

    /// Whether another request for the same URL may get a different response, because a `when` or `times` was checked.
    var isConditional: Bool {
        winner?.options.isConditional == true
            || own.contains { entry, why in
                switch why {
                case .isDisabled, .methodNotListed: false
                default: entry.options.isConditional
                }
            } || before?.isConditional == true
    }

    /// Whether the winner is a `null` entry, so that the URL is never substituted.
    package var isExcluded: Bool { winner?.options.isNever == true }

    /// `nil` if the winner's body isn't local; see ``Substitution/isLocal``.
    package var localSubstitution: Substitution? { substitution.flatMap { $0.isLocal ? $0 : nil } }

    /// `nil` without a winner or `times`, and if the request's body must be read first.
    var count: Count? {
        guard !needsBody, let number, let winner else { return nil }
        return Count(number, winner)
    }

    /// The first entry before the winner whose file is missing. Names with wildcards are ignored.
    var goneFile: (entry: Entry, layer: MapLayer, why: Skipped)? {
        first { _, why in if case .fileIsGone = why { true } else { false } }
    }

    /// The first entry that was skipped because of the request's method, headers, query or body, or because it has
    /// matched as many requests as its `times` allows.
    var skippedForRequest: (entry: Entry, layer: MapLayer, why: Skipped)? { first { _, why in why.isOfRequest } }

    /// The request's method, and the first entry that was skipped for it with its alternatives. `nil` if one of them lists
    /// the method: it's skipped for another reason, which another method wouldn't mend.
    var unlistedMethod: (method: String, key: String, layer: MapLayer, alternatives: [Entry])? {
        guard case (let entry, let layer, .methodNotListed(let method))? = skippedForRequest else { return nil }
        let alternatives = skipped.filter { $0.layer === layer && $0.entry.key == entry.key }.map(\.entry)
        guard !alternatives.contains(where: { $0.options.lists(method: method) }) else { return nil }
        return (method, entry.key, layer, alternatives)
    }

    /// The missing files of entries before the winner, each with its folder. If one of the files existed, its entry might
    /// win.
    var missingFiles: [(name: String, folder: ResourcesFolder?)] {
        (before?.missingFiles ?? [])
            + own.compactMap { entry in
                switch entry.why {
                case .fileIsGone(let name), .noSuchFile(let name): (name, layer.map.storage.folder)
                default: nil
                }
            }
    }

    /// Why an entry or alternative that matches the URL is skipped.
    enum Skipped: Error, Equatable {
        case isDisabled
        case methodNotListed(String)
        /// The request's headers or query don't meet the condition. The text says why, without a period.
        case condition(String)
        /// The request's body doesn't meet the condition.
        case bodyCondition(String)
        /// The alternative has matched as many requests as its `times` allows. The value is `times`.
        case usedUp(Int)
        /// The entry's file doesn't exist. The name has no wildcards, so the map is wrong.
        case fileIsGone(name: String)
        /// The entry's file doesn't exist. The name was made from the URL.
        case noSuchFile(name: String)
        /// The text that the key's wildcards matched doesn't make a valid file name, or a valid URL to forward to.
        case notFilled(Complaint)

        var isOfRequest: Bool {
            switch self {
            case .methodNotListed, .condition, .bodyCondition, .usedUp: true
            case .isDisabled, .fileIsGone, .noSuchFile, .notFilled: false
            }
        }

        /// Whether the request's head is enough to skip the entry: the entry is disabled, or the request's method,
        /// headers or query don't match.
        fileprivate var isKnownFromHead: Bool {
            switch self {
            case .isDisabled, .methodNotListed, .condition: true
            case .bodyCondition, .usedUp, .fileIsGone, .noSuchFile, .notFilled: false
            }
        }
    }
}

extension MapMatch {
    /// An alternative that matches a limited number of requests: the map's field `times`.
    package struct Count: Sendable {
        let part: MapLayer.Part
        /// The value of `times`.
        package let most: Int

        /// `nil` if the alternative matches any number of requests.
        fileprivate init?(_ number: Int, _ entry: Entry) {
            guard let most = entry.options.fields.times else { return nil }
            (part, self.most) = (MapLayer.Part(number, entry), most)
        }
    }
}
