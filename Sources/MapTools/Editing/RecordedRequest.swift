import LocalSubstitution

/// A request as a URL's entry sees it: its method, and the condition on its body.
struct RecordedRequest: Hashable {
    private enum Body: Hashable {
        case json(JSONValue)
        case text(String)
        case any
    }

    let method: String
    let condition: RecordedCondition
    private let body: Body

    init(_ method: String, _ condition: RecordedCondition) {
        self.method = method
        self.condition = condition
        if let part = condition.json.flatMap({ JSONValue($0) }) {
            body = .json(part)
        } else {
            // JSON that a map reads in another way than Foundation, such as with a member twice, is compared as it's written.
            body = (condition.json ?? condition.text).map { .text($0) } ?? .any
        }
    }

    static func == (one: Self, other: Self) -> Bool { one.method == other.method && one.body == other.body }

    func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(body)
    }

    /// Returns whether the alternatives for one request come before those for another: a narrower condition comes first.
    ///
    /// A JSON condition is wider than another one if it's a part of it, so it has fewer values. A form is wider if it has `*` in place
    /// of some of the other's text, so it has less text of its own.
    static func isBefore(_ one: Self, _ other: Self) -> Bool {
        guard one.method == other.method else { return one.method < other.method }
        let (ranks, texts) = ((one.rank, other.rank), (one.condition.when ?? "", other.condition.when ?? ""))
        guard ranks.0 == ranks.1 else { return ranks.0.lexicographicallyPrecedes(ranks.1) }
        return texts.0.utf8.count == texts.1.utf8.count ? texts.0 < texts.1 : texts.0.utf8.count > texts.1.utf8.count
    }

    private var rank: [Int] {
        switch body {
        case .json(let part): return [0, -part.count]
        case .text(let text):
            let wildcards = text.utf8.count { $0 == UInt8(ascii: "*") }
            return [1, wildcards - text.utf8.count, wildcards]
        case .any: return [2]
        }
    }
}
