extension SubstitutionMap {
    /// A reference to an entry of a map, or to one of its alternatives.
    public struct EntryReference: Sendable, Hashable, CustomStringConvertible {
        /// The entry's key, as written in the map.
        public let key: String
        /// The line of the entry or alternative in the map, from 1; `nil` for a map made in code.
        public let line: Int?
        /// The alternative's position in its entry, from 1; `nil` for an entry.
        public let alternative: Int?

        private let alternatives: Int

        /// The key, and the alternative and line if there are any.
        public var description: String {
            "“\(key)”" + (alternative.map { ", alternative \($0) of \(alternatives)" } ?? "")
                + (line.map { ", line \($0)" } ?? "")
        }

        init(_ entry: Entry) {
            key = entry.key
            line = entry.lineInMap
            alternative = entry.options.place?.number
            alternatives = entry.options.place?.count ?? 0
        }
    }
}
