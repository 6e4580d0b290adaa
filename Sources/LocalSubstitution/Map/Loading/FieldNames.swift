/// The fields that are allowed in each place, and what other tools call them.
package enum FieldNames {
    /// The place of an object with fields.
    package enum Place: Sendable, Hashable {
        case entry, defaults, alternative
    }

    static let inDefaults = [
        "headers", "mimeType", "charset", "ignoreQuery", "methods", "use", "timeout", "enabled", "delay", "comment",
    ]

    /// Returns why a field isn't allowed in a place, and what to do; `nil` if it's allowed.
    static func refusal(of name: String, in place: Place) -> String? {
        switch place {
        case .entry where name == "times":
            "“times” is only for alternatives. Write a list, such as [{ …, \"times\": 2 }, { … }]."
        case .defaults where !inDefaults.contains(name):
            "“\(name)” can't be a default. Defaults are \(inDefaults.joined(separator: ", ")). Write it in each entry."
        case .alternative where name == "ignoreQuery" || name == "enabled":
            "“\(name)” is for all alternatives together. Write { \"\(name)\": …, \"alternatives\": […] }."
        case .alternative where name == "use" || name == "timeout":
            "“\(name)” isn't allowed in an alternative. Remove it."
        case .alternative where name == "alternatives":
            "“alternatives” isn't allowed in an alternative. Put them all in one list."
        case .entry, .defaults, .alternative: nil
        }
    }

    /// Returns what to do about an unknown field.
    static func advice(on name: String) -> String {
        if let meant = ofOtherTools[name.lowercased()] {
            return "Use \(meant)."
        }
        return NearestName.of(name, in: EntryFields.names).map { "Did you mean “\($0)”?" }
            ?? "The fields are \(EntryFields.names.joined(separator: ", "))."
    }

    private static let ofOtherTools: [String: String] = {
        let words = [
            "“json”, “text” or “file”": ["body", "data", "response"],
            "“status”": ["statuscode", "code"],
            "“methods”, a list": ["method"],
            "“mimeType”": ["contenttype"],
            "“delay”, in seconds": ["latency", "wait"],
            "“forwardTo”": ["to", "redirect", "proxy", "url"],
            "“when”, to match requests, or “setRequestHeaders”, to change them": [
                "match", "if", "request", "requestheaders",
            ],
            "“times”": ["repeat", "count"],
        ]
        return words.reduce(into: [:]) { meant, words in
            for word in words.value { meant[word] = words.key }
        }
    }()
}
