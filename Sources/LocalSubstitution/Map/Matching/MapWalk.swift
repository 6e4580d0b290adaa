/// The walk through the entries and alternatives that match a URL, up to the one that answers a request.
struct MapWalk {
    /// The entry or alternative that ends the walk.
    struct Winner {
        let entry: Entry
        let number: Int
        let isWithoutIgnoring: Bool
        var substitution: Substitution?
        var needsBody = false
    }

    private(set) var passedOver: [(entry: Entry, why: MapMatch.PassedOver)] = []
    /// See ``MapMatch/protocolField``.
    private(set) var protocolField: String?
    /// See ``MapMatch/isConditional``.
    private(set) var isConditional = false

    private let url: NormalizedURL
    private let facts: RequestFacts
    private let folder: ResourcesFolder?
    private let isUsedUp: (AnswerCount) -> Bool

    init(
        to url: NormalizedURL,
        _ facts: RequestFacts,
        in folder: ResourcesFolder?,
        isUsedUp: @escaping (AnswerCount) -> Bool
    ) {
        self.url = url
        self.facts = facts
        self.folder = folder
        self.isUsedUp = isUsedUp
    }

    /// Tries an entry's alternatives one by one, or the entry itself. Returns the winner if one answers.
    mutating func visit(_ entry: Entry, _ candidate: MapIndex.Candidate) -> Winner? {
        guard entry.options.isEnabled else {
            passedOver.append((entry, .isDisabled))
            return nil
        }
        // Most entries have no alternatives, so don't allocate a list for them.
        guard !entry.options.alternatives.isEmpty else { return visitOne(entry, candidate) }
        for alternative in entry.options.alternatives {
            if let winner = visitOne(alternative, candidate) { return winner }
        }
        return nil
    }

    private mutating func visitOne(_ entry: Entry, _ candidate: MapIndex.Candidate) -> Winner? {
        var winner = Winner(
            entry: entry,
            number: candidate.number,
            isWithoutIgnoring: candidate.isWithoutIgnoring
        )
        guard !entry.options.isNever else { return winner }
        if let why = obstacle(entry.options, candidate.number) { return passOver(entry, why) }
        if let when = entry.options.when, when.needsBody {
            if case .unread = facts.body {
                winner.needsBody = true
                return winner
            }
            if let failure = when.failureOfBody(facts) { return passOver(entry, .condition(failure)) }
        }
        switch content(of: entry, candidate.captures) {
        case .success(let content):
            winner.substitution = Substitution(entry, content, folder: folder, url: url)
            return winner
        case .failure(let why):
            return passOver(entry, why)
        }
    }

    private mutating func passOver(_ entry: Entry, _ why: MapMatch.PassedOver) -> Winner? {
        passedOver.append((entry, why))
        return nil
    }

    /// Returns why an entry doesn't answer, as far as that's known without its file and the request's body.
    private mutating func obstacle(_ options: EntryOptions, _ number: Int) -> MapMatch.PassedOver? {
        guard options.lists(method: facts.method) else { return .methodNotListed(facts.method) }
        if let when = options.when {
            isConditional = true
            if let failure = when.failureOfHead(facts, url) { return .condition(failure) }
        }
        protocolField = protocolField ?? options.protocolFields.first
        guard let most = options.times else { return nil }
        isConditional = true
        return isUsedUp(AnswerCount(entry: number, options, most: most)) ? .usedUp(most) : nil
    }

    /// Returns what an entry answers with, with its wildcards filled.
    private func content(
        of entry: Entry,
        _ captures: [ArraySlice<UInt8>]
    ) -> Result<Substitution.Content, MapMatch.PassedOver> {
        do throws(FileName.Obstacle) {
            let content = try Substitution.Content(entry, filledWith: captures, for: url)
            guard case .file(let name) = content else { return .success(content) }
            let isFilled = entry.file?.wildcards != 0
            guard !exists(name, folderIsFile: !isFilled) else { return .success(content) }
            return .failure(isFilled ? .noSuchFile(name: name) : .fileIsGone(name: name))
        } catch {
            return .failure(.notFilled(error))
        }
    }

    /// Returns whether a file exists. A folder doesn't count if its name was made from the URL. It counts if the map has its whole
    /// name, since opening it then reports the fault.
    private func exists(_ name: String, folderIsFile: Bool) -> Bool {
        guard let status = folder?.servedStatus(of: name) else { return false }
        return folderIsFile || status.kind != .folder
    }
}
