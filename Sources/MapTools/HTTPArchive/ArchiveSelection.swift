import Foundation
import LocalSubstitution

/// Which of an archive's responses are taken, as far as the archive alone tells.
package struct ArchiveSelection: Sendable {
    /// The default for the largest body, in bytes.
    package static let standardLargest = 20_000_000

    let largest: Int
    private let takesAll: Bool
    private var patterns = MapKeys()
    private let types: [Glob]
    private let statuses: Set<Int>
    /// `nil` for all.
    private let methods: Set<String>?

    /// - Parameters:
    ///   - patterns: Match patterns and URLs, as the keys of a map; none = every URL.
    ///   - types: MIME types, perhaps with `*`, as `image/*`; none = every type.
    ///   - statuses: HTTP statuses; none = 200 alone.
    ///   - methods: HTTP methods, `*` for all; none = GET alone.
    ///   - largest: How many bytes a body may have.
    package init(
        patterns: [String] = [],
        types: [String] = [],
        statuses: [Int] = [],
        methods: [String] = [],
        largest: Int = standardLargest
    ) throws(MapToolError) {
        for pattern in patterns {
            do throws(URLSyntaxError) {
                try self.patterns.insert(pattern)
            } catch {
                throw MapToolError("“\(pattern)” isn't a match pattern: it \(error.message)")
            }
        }
        takesAll = patterns.isEmpty
        self.types = types.map { Glob(Array($0.asciiLowercased.utf8)) }
        self.statuses = statuses.isEmpty ? [200] : Set(statuses)
        let names = methods.isEmpty ? ["GET"] : methods.map { $0.uppercased() }
        self.methods = names.contains("*") ? nil : Set(names)
        self.largest = largest
    }

    /// Why a response is left before its body is looked at; `nil` if it is not.
    func refusal(of entry: ArchivedEntry, _ url: NormalizedURL) -> NotImported? {
        guard takesAll || patterns.match(url) else { return .pattern }
        guard let method = entry.method, let status = entry.status else { return .malformed }
        if let methods, !methods.contains(method) { return .method(method) }
        guard statuses.contains(status) else { return .status(status) }
        let type = entry.contentType?.essence ?? ""
        if !types.isEmpty, !types.contains(where: { $0.match(Array(type.utf8)[...]) != nil }) { return .type(type) }
        if type == RecordingRules.eventStream { return .eventStream }
        if entry.body == nil { return .noBody }
        if let encoding = entry.encoding, !encoding.isEmpty, !entry.isBase64 { return .encoding(encoding) }
        return SecretName.first(in: url).map { .query($0) }
    }
}
