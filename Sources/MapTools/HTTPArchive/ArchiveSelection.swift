import Foundation
import LocalSubstitution
import MapWriting

/// Which of an archive's responses are imported, as far as the archive alone tells.
package struct ArchiveSelection: Sendable {
    /// The default for the most bytes in a body.
    package static let standardLargest = 20_000_000

    let largest: Int
    private let takesAll: Bool
    private var patterns = MapKeys()
    private let types: [Glob]
    private let statuses: Set<Int>
    /// The methods; `nil` for all.
    private let methods: Set<String>?

    /// - Parameters:
    ///   - patterns: Match patterns and URLs, like the keys of a map. If empty, every URL.
    ///   - types: MIME types, which may contain `*`, such as `image/*`. If empty, every type.
    ///   - statuses: HTTP statuses. If empty, 200 only.
    ///   - methods: HTTP methods, or `*` for all. If empty, GET only.
    ///   - largest: The most bytes in a body.
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
                throw MapToolError("“\(pattern)” isn't a match pattern. It \(error.message)")
            }
        }
        takesAll = patterns.isEmpty
        self.types = types.map { Glob(Array($0.asciiLowercased.utf8)) }
        self.statuses = statuses.isEmpty ? [200] : Set(statuses)
        let names = methods.isEmpty ? ["GET"] : methods.map { $0.uppercased() }
        self.methods = names.contains("*") ? nil : Set(names)
        self.largest = largest
    }

    /// Returns why a response isn't imported, before its body is read; `nil` if there's no reason yet.
    func refusal(of entry: ArchivedEntry, _ url: NormalizedURL) -> NotImported? {
        guard takesAll || patterns.match(url) else { return .pattern }
        guard let method = entry.method else { return .noMethod }
        guard let status = entry.status else { return .noStatus }
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
