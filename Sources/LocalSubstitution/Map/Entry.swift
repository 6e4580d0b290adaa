/// One key and value of a map, checked.
package struct Entry: Sendable {
    package let key: String
    /// The entry's line in the map; 0 for a map made in code.
    package let line: Int32
    package let file: FileName?
    package let options: EntryOptions

    package var isPattern: Bool { MapKey.isPattern(key) }

    /// The line from 1; `nil` for a map made in code.
    var lineInMap: Int? { line > 0 ? Int(line) : nil }
}
