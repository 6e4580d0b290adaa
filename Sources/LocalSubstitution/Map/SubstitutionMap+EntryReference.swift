extension SubstitutionMap {
    /// An entry of a map.
    public struct EntryReference: Sendable, Hashable, CustomStringConvertible {
        /// The entry's key, as the map has it.
        public let key: String
        /// The entry's line in the map, from 1; `nil` for a map that was made in code.
        public let line: Int?

        /// The key, and the line if there is one.
        public var description: String { "“\(key)”" + (line.map { ", line \($0)" } ?? "") }

        init(_ entry: Entry) {
            key = entry.key
            line = entry.lineInMap
        }
    }
}
