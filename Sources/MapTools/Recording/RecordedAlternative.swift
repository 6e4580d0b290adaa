import Foundation
import LocalSubstitution

/// The JSON of a recorded exchange's entry, or of an alternative of one.
struct RecordedAlternative {
    let exchange: RecordedExchange
    /// The JSON of `when.json`; `nil` for no condition.
    let condition: String?
    /// How many requests it answers; `nil` for any number.
    let times: Int?
    let url: NormalizedURL
    let defaults: EntryFields

    /// Where the body's file would be if no other had its name.
    ///
    /// Its digest is of what is in the map anyway: one of the whole request would let a password be guessed.
    var fileName: RecordedFileName {
        let question = exchange.method == "GET" ? nil : Data((exchange.method + (condition ?? "")).utf8)
        return RecordedFileName(url, type: type?.essence, bodyDigest: question.map { Digest.hexadecimal(of: $0) })
    }

    /// The fields of its entry: what a request is like, and what answers.
    ///
    /// - Parameters:
    ///   - file: The body's; not used without a body.
    ///   - listsMethod: Whether `GET` is named too. An alternative would take its entry's methods otherwise.
    func members(file: String, listsMethod: Bool) -> AlternativesText.Members {
        let isEmpty = exchange.body.isEmpty
        let entry = RecordedEntry(
            methods: [exchange.method],
            status: exchange.status,
            headers: exchange.headers,
            type: isEmpty ? nil : type,
            body: exchange.body,
            url: url,
            file: isEmpty ? nil : file,
            defaults: defaults
        )
        var members: AlternativesText.Members = []
        if listsMethod || entry.members.contains(where: { $0.key == "methods" }) {
            members.append(("methods", "[\(JSONText.string(exchange.method))]"))
        }
        if let condition { members.append(("when", JSONText.object([("json", condition)]))) }
        if let times { members.append(("times", String(times))) }
        return members + entry.members.filter { $0.key != "methods" }
    }

    private var type: ContentType? { exchange.contentType.flatMap { ContentType($0) } }
}
