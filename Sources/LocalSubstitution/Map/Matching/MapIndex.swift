/// An index of entries by URL. It finds the entries that match a URL, in order of precedence, without visiting all
/// others.
///
/// The index doesn't look at files, so a candidate's file may be missing.
package struct MapIndex: Sendable {
    /// An entry that matches a URL.
    package struct Candidate: Sendable {
        package let number: Int
        /// The text that each wildcard of the key's path and query matched, in order.
        var captures: [ArraySlice<UInt8>] = []
    }

    /// Entries that ignore the same query parameters.
    private struct Group: Sendable {
        let rule: Query.Ignored?
        /// The numbers of the entries with exact keys, by URL without the ignored parameters.
        var exact: [String: [Int]] = [:]
        var patterns = MatchPattern.Index()
    }

    private(set) var entries: [Entry] = []
    private var exact = ExactKeys()
    /// The patterns, and the exact keys that ignore parameters.
    private var groups: [Group] = []
    /// The position of each group in ``groups``, by the text of its rule.
    private var places: [String: Int] = [:]
    /// The positions of the groups with exact keys, by the URLs of these keys without their queries.
    private var groupsOfURL: [String: Set<Int>] = [:]
    /// The positions of the groups with patterns.
    private var groupsOfPatterns: [Int] = []

    /// Adds an entry with an exact key. If the index already has an entry for an equal URL, returns that entry and adds
    /// nothing.
    mutating func insert(_ entry: Entry, url: NormalizedURL) -> Entry? {
        if let other = self.entry(equalTo: url) { return other }
        let number = entries.count
        entries.append(entry)
        exact.insert(url.canonical, in: entries)
        if let rule = entry.options.ignoreQuery {
            let place = place(of: rule)
            groups[place].exact[url.canonical(ignoring: rule).text, default: []].append(number)
            groupsOfURL[url.withoutQuery, default: []].insert(place)
        }
        return nil
    }

    private mutating func place(of rule: Query.Ignored?) -> Int {
        let text = rule?.text ?? ""
        if let place = places[text] { return place }
        places[text] = groups.count
        groups.append(Group(rule: rule))
        return groups.count - 1
    }

    func entry(equalTo url: NormalizedURL) -> Entry? {
        exact.number(for: url.canonical, in: entries).map { entries[$0] }
    }

    /// Call this with all patterns at once, since it numbers them in order of precedence.
    mutating func insert(_ items: [(entry: Entry, pattern: MatchPattern)]) {
        for (entry, pattern) in items.ordered(by: MatchPattern.precedes) {
            let number = entries.count
            entries.append(entry)
            let place = place(of: entry.options.ignoreQuery)
            if groups[place].patterns.isEmpty { groupsOfPatterns.append(place) }
            groups[place].patterns.insert(pattern, number: number)
        }
    }

    /// The matching entries in order of precedence: the exact key, then exact keys that ignore query parameters, then
    /// patterns.
    func candidates(for url: NormalizedURL) -> [Candidate] {
        var found: [Candidate] = []
        if let number = exact.number(for: url.canonical, in: entries) {
            found.append(Candidate(number: number))
        }
        if !groupsOfURL.isEmpty {
            for number in numbersIgnoring(url) where number != found.first?.number {
                found.append(Candidate(number: number))
            }
        }
        if !groupsOfPatterns.isEmpty { found += patternCandidates(for: url) }
        return found
    }

    /// The matching entries whose exact keys ignore parameters. Entries that ignore fewer of the URL's parameters come
    /// first. If they ignore equally many, they're sorted by key.
    private func numbersIgnoring(_ url: NormalizedURL) -> [Int] {
        var found: [(number: Int, parameters: Int)] = []
        for place in groupsOfURL[url.withoutQuery] ?? [] {
            guard let rule = groups[place].rule else { continue }
            let left = url.canonical(ignoring: rule)
            for number in groups[place].exact[left.text] ?? [] { found.append((number, left.parameters)) }
        }
        found = found.ordered { first, second in
            first.parameters == second.parameters
                ? entries[first.number].key < entries[second.number].key : first.parameters > second.parameters
        }
        return found.map(\.number)
    }

    private func patternCandidates(for url: NormalizedURL) -> [Candidate] {
        var found: [Candidate] = []
        for place in groupsOfPatterns { found += groups[place].patterns.matches(url, ignoring: groups[place].rule) }
        return found.ordered { $0.number < $1.number }
    }
}

/// A table of the entries with exact keys: their numbers, by canonical URL.
///
/// It's a hash table with linear probing that stores only the numbers. The keys are in the entries, which callers pass.
/// A dictionary would store a string for each URL, which takes 2.5 to 5 times the memory.
private struct ExactKeys: Sendable {
    private static let free: Int32 = -1

    /// The numbers of the entries whose keys are canonical. Each is in the slot for its URL's hash value or, if that
    /// slot is occupied, in the next free slot. At least half of the slots are free.
    private var slots = [Int32](repeating: free, count: 16)
    /// The numbers of the other entries, by canonical URL.
    private var others: [String: Int] = [:]

    func number(for url: String, in entries: [Entry]) -> Int? {
        let number = slots[slot(for: url, in: entries)]
        return number == Self.free ? others[url] : Int(number)
    }

    /// Adds the last of the entries. The table must not have that URL yet.
    mutating func insert(_ url: String, in entries: [Entry]) {
        let number = entries.count - 1
        guard entries[number].key == url else { return others[url] = number }
        if 2 * entries.count > slots.count { grow(entries) }
        slots[slot(for: url, in: entries)] = Int32(number)
    }

    private mutating func grow(_ entries: [Entry]) {
        let numbers = slots.filter { $0 != Self.free }
        slots = Array(repeating: Self.free, count: 2 * slots.count)
        for number in numbers { slots[slot(for: entries[Int(number)].key, in: entries)] = number }
    }

    /// The slot of the URL's entry, or the free slot where it would be.
    private func slot(for url: String, in entries: [Entry]) -> Int {
        var slot = url.hashValue & (slots.count - 1)
        while slots[slot] != Self.free, entries[Int(slots[slot])].key != url {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }
}
