/// Which fields are allowed where, and what other tools call them.
enum FieldNames {
    /// What an object with fields is for.
    enum Place: Sendable, Hashable {
        case entry, defaults, alternative
    }

    static let inDefaults = [
        "headers", "mimeType", "charset", "ignoreQuery", "methods", "use", "timeout", "enabled", "delay", "comment",
    ]

    /// Why a field isn't allowed in a place, and what to do; `nil` if it can.
    static func refusal(of name: String, in place: Place) -> String? {
        switch place {
        case .entry where name == "times":
            "“times” is for alternatives: write a list, such as [{ …, \"times\": 2 }, { … }]"
        case .defaults where !inDefaults.contains(name):
            "“\(name)” can't be a default: write it in each entry; defaults are \(inDefaults.joined(separator: ", "))"
        case .alternative where name == "ignoreQuery" || name == "enabled":
            "“\(name)” is for all alternatives: write { \"\(name)\": …, \"alternatives\": […] }"
        case .alternative where name == "use" || name == "timeout":
            "an alternative can't have “\(name)”: remove it"
        case .alternative where name == "alternatives":
            "an alternative can't have alternatives: write them in the one list"
        case .entry, .defaults, .alternative: nil
        }
    }

    /// What to do about a field that isn't known.
    static func advice(on name: String) -> String {
        if let meant = ofOtherTools[name.lowercased()] {
            return "write \(meant)"
        }
        return NearestName.of(name, in: EntryFields.names).map { "did you mean “\($0)”?" }
            ?? "the fields are \(EntryFields.names.joined(separator: ", "))"
    }

    private static let ofOtherTools: [String: String] = {
        let words = [
            "“json”, “text” or “file”": ["body", "data", "response"],
            "“status”": ["statuscode", "code"],
            "“methods”, a list": ["method"],
            "“mimeType”": ["contenttype"],
            "“delay”, in seconds": ["latency", "wait"],
            "“forwardTo”": ["to", "redirect", "proxy", "url"],
            "“when”, for requests to answer, or “setRequestHeaders”": ["match", "if", "request", "requestheaders"],
            "“times”": ["repeat", "count"],
        ]
        return words.reduce(into: [:]) { meant, words in
            for word in words.value { meant[word] = words.key }
        }
    }()
}
