/// A review of patterns that answer a method which an exact key doesn't list. For that method, the key is passed over.
struct MethodReview {
    private let entries: [Entry]
    private var patterns = PatternIndex()
    private var hasPatterns = false

    init(_ entries: [Entry]) {
        self.entries = entries.filter { $0.options.isEnabled && !$0.options.isNever }
        for (number, entry) in self.entries.enumerated() where entry.isPattern {
            guard !Self.onlyReads(Self.methods(of: entry)), let pattern = try? MatchPattern(entry.key) else { continue }
            patterns.insert(pattern, number: number)
            hasPatterns = true
        }
    }

    var warnings: [SubstitutionMap.Warning] {
        guard hasPatterns else { return [] }
        return entries.compactMap { entry in
            guard !entry.isPattern, let url = try? NormalizedURL(key: entry.key) else { return nil }
            let listed = Self.methods(of: entry)
            guard !listed.contains("*") else { return nil }
            let numbers = patterns.matches(url, ignoring: nil).map(\.number).sorted()
            for pattern in numbers.map({ entries[$0] }) {
                guard let method = Self.methods(of: pattern).subtracting(listed).min() else { continue }
                let what =
                    method == "*" ? "methods that this key doesn't list" : "\(method), which this key doesn't list"
                return .init(
                    .methodOfPattern,
                    entry,
                    "“\(pattern.key)” answers \(what). Add the methods that this key should answer to “methods”."
                )
            }
            return nil
        }
    }

    private static func methods(of entry: Entry) -> Set<String> {
        let methods = Set(entry.answering.flatMap(\.options.methods))
        return methods.contains("GET") ? methods.union(["HEAD"]) : methods
    }

    private static func onlyReads(_ methods: Set<String>) -> Bool { methods.isSubset(of: ["GET", "HEAD"]) }
}
