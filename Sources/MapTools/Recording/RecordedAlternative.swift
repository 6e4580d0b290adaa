import Foundation
import LocalSubstitution
import MapWriting

/// The JSON of a recorded exchange, for its own entry or for an alternative of one.
struct RecordedAlternative {
    let exchange: RecordedExchange
    let condition: RecordedCondition
    /// How many requests it answers; `nil` for any number.
    let times: Int?
    let url: NormalizedURL
    let defaults: EntryFields

    /// The name of the body's file, unless another file already has it.
    ///
    /// The digest is only of what the map has anyway. A digest of the whole request would let others guess a password.
    var fileName: RecordedFileName {
        let digest = exchange.method == "GET" ? nil : condition.digest(with: exchange.method)
        return RecordedFileName(url, type: type?.essence, bodyDigest: digest)
    }

    /// Returns the fields of its entry: the conditions for a request, and the answer.
    ///
    /// - Parameters:
    ///   - file: The body's file. It's ignored if the body is empty.
    ///   - listsMethod: Whether `GET` is named too. Otherwise an alternative would have its entry's methods.
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
        if let when = condition.when { members.append(("when", when)) }
        if let times { members.append(("times", String(times))) }
        return members + entry.members.filter { $0.key != "methods" }
    }

    private var type: ContentType? { exchange.contentType.flatMap { ContentType($0) } }
}
