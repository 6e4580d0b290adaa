import Foundation
import LocalSubstitution

/// Which of an archive's responses are taken, as far as the archive alone tells.
package struct ArchiveSelection: Sendable {
    /// What somebody asked for that can't be understood.
    package struct Problem: Error {
        package let message: String
    }

    /// How many bytes a body may have, unless somebody says otherwise.
    package static let standardLargest = 20_000_000

    let largest: Int
    private let patterns: SubstitutionMap?
    private let types: [Glob]
    private let statuses: Set<Int>

    /// - Parameters:
    ///   - patterns: Match patterns and URLs, as the keys of a map; none = every URL.
    ///   - types: MIME types, perhaps with `*`, as `image/*`; none = every type.
    ///   - statuses: HTTP statuses; none = 200 alone.
    ///   - largest: How many bytes a body may have.
    package init(
        patterns: [String] = [],
        types: [String] = [],
        statuses: [Int] = [],
        largest: Int = standardLargest
    ) throws(Problem) {
        self.patterns = patterns.isEmpty ? nil : try Self.map(patterns)
        self.types = types.map { Glob(Array(MIMEType.asciiLowercased($0).utf8)) }
        self.statuses = statuses.isEmpty ? [200] : Set(statuses)
        self.largest = largest
    }

    /// Why a response is left before its body is looked at; `nil` if it is not.
    func refusal(of entry: ArchivedEntry, _ url: NormalizedURL) -> NotImported? {
        if let patterns, patterns.match(url).winner == nil { return .pattern }
        guard let method = entry.method, let status = entry.status else { return .malformed }
        // HTTP's methods are case-sensitive, but not all programs that write archives know that.
        if method.uppercased() != "GET" { return .method(method) }
        guard statuses.contains(status) else { return .status(status) }
        let type = entry.contentType?.essence ?? ""
        if !types.isEmpty, !types.contains(where: { $0.match(Array(type.utf8)[...]) != nil }) { return .type(type) }
        if type == RecordingRules.eventStream { return .eventStream }
        if entry.body == nil { return .noBody }
        if let encoding = entry.encoding, !encoding.isEmpty, !entry.isBase64 { return .encoding(encoding) }
        return SecretName.first(in: url).map { .query($0) }
    }

    /// A map finds what the patterns match: it knows hosts, ports and the order of parameters.
    private static func map(_ patterns: [String]) throws(Problem) -> SubstitutionMap {
        for pattern in patterns {
            do throws(URLSyntaxError) {
                if pattern.utf8.contains(UInt8(ascii: "*")) {
                    _ = try MatchPattern(pattern)
                } else {
                    _ = try NormalizedURL(key: pattern)
                }
            } catch {
                throw Problem(message: "“\(pattern)” is no match pattern: it \(error.message)")
            }
        }
        let members = patterns.map { ($0, #"{ "status": 200 }"#) }
        let json = Data(JSONText.object(members).utf8)
        do throws(SubstitutionMapError) {
            // Skips, since the same pattern given twice does no harm.
            return try SubstitutionMap(
                json: json,
                resources: FileManager.default.temporaryDirectory,
                invalidEntries: .skip
            )
        } catch {
            throw Problem(message: "\(error)")
        }
    }
}
