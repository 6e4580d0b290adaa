import Foundation
package import LocalSubstitution
import MapWriting

extension HTTPArchive {
    /// Returns the archive as a map for a test: all methods and statuses, bodies as conditions, and each request's
    /// responses in order. The last one answers all further requests.
    ///
    /// The map's ``SubstitutionMap/problems`` are the archive's entries that can't answer, such as those without content.
    package func map() throws(SubstitutionMapError) -> SubstitutionMap {
        var left: [Int: Refusal] = [:]
        let entries = responses(.forTest, inOrder: true, &left).map { url, responses in
            (key: url.canonical, value: Self.answer(responses.map(\.exchange)))
        }
        // A `HEAD` that an entry for `GET` answers isn't missing.
        let leftOut = left.filter { $0.value != .headOfGet }.sorted { $0.key < $1.key }.map { number, reason in
            let entry = self.entries[number]
            let method = entry.method.map { "\($0): " } ?? ""
            return SubstitutionMap.Problem(
                .noFile,
                key: entry.url.map { Item.shown((try? NormalizedURL($0).canonical) ?? $0) },
                "\(method)\(reason)"
            )
        }
        return try SubstitutionMap(entries, leftOut: leftOut)
    }

    private static func answer(_ exchanges: [RecordedExchange]) -> SubstitutionMap.Answer {
        var data: [Data] = []
        let alternatives = exchanges.map { exchange in
            let response = exchange.response
            var members: EntryText.Members = [("methods", JSONText.array([exchange.method]))]
            members += exchange.conditions + [("status", String(response.status))]
            var headers = response.headers
            if !response.body.isEmpty, HTTPSyntax.hasBody(status: response.status) {
                members.append(("data", String(data.count)))
                data.append(response.body)
                headers["Content-Type"] = response.contentType
                let type = response.contentType.map { MIMEType.essence(of: $0) }
                if type == MIMEType.eventStream { members.append(("secondsPerEvent", "0")) }
            }
            let fields = headers.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSONText.string($0.value)) }
            if !fields.isEmpty { members.append(("headers", JSONText.object(fields))) }
            return JSONText.object(members)
        }
        return SubstitutionMap.Answer(alternatives: alternatives, data: data)
    }
}
