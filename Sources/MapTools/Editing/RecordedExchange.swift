import Foundation
import HTTPSyntax
package import LocalSubstitution
import MapWriting

/// A response for a map, and the requests for which the map returns it. The request can have any method, and the
/// response any status. No header may contain a credential.
package struct RecordedExchange: Sendable {
    package let response: RecordedResponse
    var condition: RecordedCondition
    /// For how many requests the response is returned; `nil` for any number. A sequence's last response is returned for
    /// any number.
    var times: Int?
    /// For how many requests the earlier responses of the sequence are returned; 0 by default.
    var after = 0

    init(_ response: RecordedResponse, _ condition: RecordedCondition) {
        (self.response, self.condition) = (response, condition)
    }

    /// - Parameter requestType: The request's `Content-Type`; `nil`, the default, if it has none.
    package init(_ response: RecordedResponse, requestType: String? = nil) {
        self.init(response, RecordedCondition(response.requestBody, type: requestType))
    }

    var request: Request { Request(method: response.method, condition: condition) }

    /// As a map can compare requests: by URL, method and body.
    package func hasRequest(of other: RecordedExchange) -> Bool {
        request == other.request && canonicalURL == other.canonicalURL
    }

    private var canonicalURL: String? { (try? NormalizedURL(response.url.absoluteString))?.canonical }

    /// - Parameter countsRates: Whether to compare headers with rate limits, such as `X-RateLimit-Remaining`; `true` by
    ///   default.
    func hasResponse(of other: RecordedExchange, countsRates: Bool = true) -> Bool {
        let isCompared = { (header: (key: String, value: String)) in
            countsRates || !RecordingRules.Headers.isRate(header.key.asciiLowercased)
        }
        let (one, other) = (response, other.response)
        return one.status == other.status && one.contentType == other.contentType && one.body == other.body
            && one.headersWithoutType.filter(isCompared) == other.headersWithoutType.filter(isCompared)
    }

    /// - Parameter request: The request whose digest becomes part of the name; `nil` for the URL's plain name. The
    ///   digest covers only what the map contains anyway. A digest of the whole request would let others guess a
    ///   password.
    func fileName(for url: NormalizedURL, distinguishing request: Request?) -> RecordedFileName {
        response.fileName(for: url, digest: request.map { $0.condition.digest(with: $0.method) })
    }

    /// The fields `when` and `times`, without those that aren't set.
    var conditions: EntryText.Members {
        let fields = [("when", condition.when), ("times", times.map { String($0) })]
        return fields.compactMap { key, value in value.map { (key, $0) } }
    }

    /// - Parameter file: The name of the file with the body; `nil` if the body is empty.
    func entry(for url: NormalizedURL, file: String?, defaults: EntryFields) -> WrittenEntry {
        WrittenEntry(response, at: url, file: file, defaults: defaults)
    }
}

extension RecordedExchange {
    /// The parts of a request that a URL's entry compares: its method, and the condition on its body.
    struct Request: Hashable, Sendable {
        let method: String
        let condition: RecordedCondition

        /// Returns whether the alternatives for `one` come before the alternatives for `other`. Alternatives are sorted
        /// by method, and then by condition, with narrower conditions first.
        static func isBefore(_ one: Self, _ other: Self) -> Bool {
            guard one.method == other.method else { return one.method < other.method }
            let ranks = (one.condition.rank, other.condition.rank)
            guard ranks.0 == ranks.1 else { return ranks.0.lexicographicallyPrecedes(ranks.1) }
            let texts = (one.condition.sorted, other.condition.sorted)
            return texts.0.utf8.count == texts.1.utf8.count
                ? texts.0 < texts.1 : texts.0.utf8.count > texts.1.utf8.count
        }
    }
}
