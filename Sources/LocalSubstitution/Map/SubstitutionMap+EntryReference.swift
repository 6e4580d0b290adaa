extension SubstitutionMap {
    /// An entry of a map, or one of its alternatives.
    public struct EntryReference: Sendable, Hashable, CustomStringConvertible {
        /// The entry's key, as the map has it.
        public let key: String
        /// The line in the map of the entry or the alternative, from 1; `nil` for a map that was made in code.
        public let line: Int?
        /// The alternative's place among those of its entry, from 1; `nil` for an entry.
        public let alternative: Int?

        private let alternatives: Int

        /// The key, the alternative and the line, as far as there are any.
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
