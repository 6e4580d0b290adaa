extension SubstitutionMap {
    /// Finds the entry that answers a `GET` without headers.
    package func match(_ url: NormalizedURL) -> MapMatch { match(url, for: .plain) }

    /// Finds the entry or alternative that answers a request: the first that's enabled, whose `methods`, `when` and
    /// `times` allow the request, and whose file exists.
    ///
    /// - Parameters:
    ///   - facts: The facts about the request, evaluated only if an entry matches the URL.
    ///   - isUsedUp: Returns whether an alternative has answered as many requests as it may.
    package func match(
        _ url: NormalizedURL,
        for facts: @autoclosure () -> RequestFacts,
        isUsedUp: @escaping (MapMatch.Count) -> Bool = { _ in false }
    ) -> MapMatch {
        let candidates = storage.index.candidates(for: url)
        guard !candidates.isEmpty else { return MapMatch(url) }
        return match(MapWalk(url: url, facts: facts(), folder: storage.folder, isUsedUp: isUsedUp), candidates)
    }

    private func match(_ walk: MapWalk, _ candidates: [MapIndex.Candidate]) -> MapMatch {
        var losers: [Entry] = []
        for (position, candidate) in candidates.enumerated()
        where walk.visit(storage.index.entries[candidate.number], candidate) {
            losers = candidates[(position + 1)...].compactMap { shadowed($0) }
            break
        }
        return MapMatch(walk.url, walk, shadowed: losers)
    }

    /// Returns the entry of a candidate after the winner; `nil` if the URL can't be made into valid names of its files.
    private func shadowed(_ candidate: MapIndex.Candidate) -> Entry? {
        let entry = storage.index.entries[candidate.number]
        return entry.canBeFilled(with: candidate.captures) ? entry : nil
    }
}

/// The result of matching one request with a map.
package final class MapMatch: Sendable {
    /// The first entry or alternative that applies to the request; `nil` if none does. It answers the request, or it's
    /// `null`.
    package let winner: Entry?
    /// The number of the winner's entry in the map's index.
    let number: Int?
    let url: NormalizedURL
    /// Whether the URL equals the winner's key, with no parameter ignored.
    let isWithoutIgnoring: Bool
    /// The winner's answer; `nil` if there's no winner, if it's `null`, or if the request's body must be read first.
    let substitution: Substitution?
    /// Whether the request's body must be read first, for the winner's condition or its handler.
    let needsBody: Bool
    /// The entries and alternatives that come before the winner, and why they don't answer.
    let passedOver: [(entry: Entry, why: PassedOver)]
    /// The entries after the winner that also match the URL.
    let shadowed: [Entry]
    /// The first field that needs the protocol, in the winner or in an entry before it; `nil` if there's none. Entries
    /// that the request's method, headers or query rule out don't count.
    let protocolField: String?
    /// Whether another request for the same URL may get a different answer, since a condition or count was checked.
    let isConditional: Bool

    fileprivate init(_ url: NormalizedURL, _ walk: MapWalk? = nil, shadowed: [Entry] = []) {
        self.url = url
        winner = walk?.winner
        number = walk?.candidate?.number
        isWithoutIgnoring = walk?.candidate?.isWithoutIgnoring ?? false
        substitution = walk?.substitution
        needsBody = walk?.needsBody ?? false
        passedOver = walk?.passedOver ?? []
        protocolField = walk?.protocolField
        isConditional = walk?.isConditional ?? false
        self.shadowed = shadowed
    }

    /// Whether the winner is `null`, so that the URL is never substituted.
    package var isExcluded: Bool { winner?.options.isNever == true }

    /// The winner's answer if its body is local; otherwise, `nil`. See ``Substitution/isLocal``.
    package var localSubstitution: Substitution? { substitution.flatMap { $0.isLocal ? $0 : nil } }

    /// The limit on the winner's answers; `nil` if it answers any number of requests, or if the request's body must be read first.
    var count: Count? {
        guard !needsBody, let number, let winner, let most = winner.options.fields.times else { return nil }
        return Count(entry: number, winner.options, most: most)
    }

    /// The first entry whose file is missing. Files with wildcards in their names don't count.
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

    /// Why an entry or alternative that matches the URL doesn't answer.
    enum PassedOver: Error, Equatable {
        case isDisabled
        case methodNotListed(String)
        /// The request doesn't meet the condition. The text says why, without a period.
        case condition(String)
        /// The alternative has answered as many requests as its `times` allows. The value is `times`.
        case usedUp(Int)
        /// The entry's file doesn't exist. Its name has no wildcards, so the map is wrong.
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

extension MapMatch {
    /// An alternative that answers a limited number of requests: the map's field `times`.
    package struct Count: Hashable, Sendable {
        /// The entry's number in the map's index.
        let entry: Int
        /// The alternative's position, from 1.
        let alternative: Int
        /// How many requests it answers.
        package let most: Int

        init(entry: Int, _ options: Entry.Options, most: Int) {
            self.entry = entry
            alternative = options.place?.number ?? 0
            self.most = most
        }
    }
}

/// A walk through the entries and alternatives that match a URL. It ends at the first that applies to the request.
private final class MapWalk {
    /// The entry or alternative that ends the walk.
    private(set) var winner: Entry?
    private(set) var candidate: MapIndex.Candidate?
    private(set) var substitution: Substitution?
    private(set) var needsBody = false
    private(set) var passedOver: [(entry: Entry, why: MapMatch.PassedOver)] = []
    /// See ``MapMatch/protocolField``.
    private(set) var protocolField: String?
    /// See ``MapMatch/isConditional``.
    private(set) var isConditional = false

    let url: NormalizedURL
    private let facts: RequestFacts
    private let folder: ResourcesFolder?
    private let isUsedUp: (MapMatch.Count) -> Bool

    init(
        url: NormalizedURL,
        facts: RequestFacts,
        folder: ResourcesFolder?,
        isUsedUp: @escaping (MapMatch.Count) -> Bool
    ) {
        (self.url, self.facts, self.folder, self.isUsedUp) = (url, facts, folder, isUsedUp)
    }

    /// Tries an entry or, one by one, its alternatives. Returns whether one of them ends the walk.
    func visit(_ entry: Entry, _ candidate: MapIndex.Candidate) -> Bool {
        guard entry.options.isEnabled else { return passOver(entry, .isDisabled) }
        // Most entries have no alternatives, so this avoids a list for them.
        guard !entry.options.alternatives.isEmpty else { return visitOne(entry, candidate) }
        for alternative in entry.options.alternatives where visitOne(alternative, candidate) { return true }
        return false
    }

    private func visitOne(_ entry: Entry, _ candidate: MapIndex.Candidate) -> Bool {
        if !entry.options.isNever {
            if let why = obstacle(entry.options, candidate.number) { return passOver(entry, why) }
            if let when = entry.options.fields.when, when.needsBody {
                if case .unread = facts.body {
                    needsBody = true
                } else if let failure = when.failureOfBody(facts) {
                    return passOver(entry, .condition(failure))
                }
            }
            // A handler sees the body.
            if case .handler = entry.options.answer, case .unread = facts.body { needsBody = true }
            if !needsBody {
                do throws(MapMatch.PassedOver) {
                    substitution = try substitution(entry, candidate.captures)
                } catch {
                    return passOver(entry, error)
                }
            }
        }
        (winner, self.candidate) = (entry, candidate)
        return true
    }

    private func passOver(_ entry: Entry, _ why: MapMatch.PassedOver) -> Bool {
        passedOver.append((entry, why))
        return false
    }

    /// Returns why an entry doesn't answer; `nil` if it may answer. Checks neither its file nor the request's body.
    private func obstacle(_ options: Entry.Options, _ number: Int) -> MapMatch.PassedOver? {
        guard options.lists(method: facts.method) else { return .methodNotListed(facts.method) }
        if let when = options.fields.when {
            isConditional = true
            if let failure = when.failureOfHead(facts, url) { return .condition(failure) }
        }
        protocolField = protocolField ?? options.protocolFields.first
        guard let most = options.fields.times else { return nil }
        isConditional = true
        return isUsedUp(MapMatch.Count(entry: number, options, most: most)) ? .usedUp(most) : nil
    }

    /// Returns an entry's answer with its wildcards filled.
    private func substitution(
        _ entry: Entry,
        _ captures: [ArraySlice<UInt8>]
    ) throws(MapMatch.PassedOver) -> Substitution {
        let content: Substitution.Content
        do throws(FileName.Obstacle) {
            content = try Substitution.Content(entry, filledWith: captures, for: url)
        } catch {
            throw .notFilled(error)
        }
        switch content {
        case .file(let name): try check(name, isWritten: entry.file?.wildcards == 0)
        case .stream(let pieces):
            for (name, written) in zip(pieces.compactMap(\.file), entry.files) {
                try check(name.text, isWritten: written.wildcards == 0)
            }
        default: break
        }
        return Substitution(entry, content, folder: folder, url: url)
    }

    /// Checks that a file exists.
    ///
    /// - Parameter isWritten: Whether the map has the file's whole name, without wildcards.
    private func check(_ name: String, isWritten: Bool) throws(MapMatch.PassedOver) {
        let status = folder?.servedStatus(of: name)
        if isWritten {
            // A folder counts as existing. Opening it then reports the mistake in the map.
            if status == nil { throw .fileIsGone(name: name) }
        } else if status == nil || status?.kind == .folder {
            throw .noSuchFile(name: name)
        }
    }
}
