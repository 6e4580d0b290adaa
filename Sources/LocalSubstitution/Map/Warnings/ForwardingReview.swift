/// A review of where a map forwards requests.
struct ForwardingReview {
    private typealias Warning = SubstitutionMap.Warning

    private let items: [(entry: Entry, target: ForwardTarget)]

    init(_ entries: [Entry]) {
        items = entries.filter(\.options.isEnabled).flatMap(\.answering).compactMap { entry in
            guard case .network(let target?) = entry.options.answer else { return nil }
            return (entry, target)
        }
    }

    var warnings: [SubstitutionMap.Warning] {
        guard !items.isEmpty else { return [] }
        return items.compactMap { insecure($0.entry, $0.target) } + forwardedTargets
    }

    private func insecure(_ entry: Entry, _ target: ForwardTarget) -> Warning? {
        guard !entry.key.lowercased().hasPrefix("http:"), target.origin.hasPrefix("http:"), !target.isLoopback else {
            return nil
        }
        return Warning(
            .insecureTarget,
            entry,
            "The entry forwards https requests to “\(target.origin)”, where anyone on the network can read them. Use https."
        )
    }

    private var forwardedTargets: [Warning] {
        var patterns = PatternIndex()
        var urls: [String: Int] = [:]
        for (number, item) in items.enumerated() {
            switch try? MapKey(item.entry.key) {
            case .pattern(let pattern): patterns.insert(pattern, number: number)
            case .url(let url): urls[url.canonical] = number
            case nil: break
            }
        }
        return items.compactMap { item in
            guard let example = item.target.example else { return nil }
            let number = urls[example.canonical] ?? patterns.matches(example, ignoring: nil).first?.number
            return number.map { number in
                Warning(
                    .forwardedTarget,
                    item.entry,
                    "The target “\(item.target.text)” is a URL that “\(items[number].entry.key)” forwards, but targets aren't "
                        + "looked up again. Write the URL where the request should end up."
                )
            }
        }
    }
}

extension ForwardTarget {
    /// The target with some text for each wildcard.
    fileprivate var example: NormalizedURL? {
        try? NormalizedURL(
            String(decoding: text.utf8.map { $0 == UInt8(ascii: "*") ? UInt8(ascii: "x") : $0 }, as: UTF8.self)
        )
    }

    /// Whether requests stay on this machine.
    fileprivate var isLoopback: Bool {
        guard let host = (try? NormalizedURL(origin + "/"))?.host else { return false }
        // All of 127.0.0.0/8 (RFC 1122 §3.2.1.3), but not host names that begin with “127.”.
        let isAddress = host.hasPrefix("127.") && host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        return isAddress || host == "[::1]" || host == "localhost" || host.hasSuffix(".localhost")
    }
}
