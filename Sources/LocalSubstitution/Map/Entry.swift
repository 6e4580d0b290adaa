/// A key of a map and its value, checked.
package struct Entry: Sendable {
    package let key: String
    /// The entry's line in the map; 0 for a map made in code.
    package let line: Int32
    package let file: FileName?
    package let options: EntryOptions

    package init(key: String, line: Int32, file: FileName?, options: EntryOptions) {
        (self.key, self.line, self.file, self.options) = (key, line, file, options)
    }

    package var isPattern: Bool { MapKey.isPattern(key) }

    /// The entry's alternatives, or the entry itself if it has none.
    package var answering: [Entry] { options.alternatives.isEmpty ? [self] : options.alternatives }

    /// The entry, or its first alternative for `GET`, if it answers every such request. `nil` if none does, or if the answer
    /// depends on the request or on earlier requests.
    package var answeringEveryGet: Entry? {
        guard options.isEnabled, !options.isNever,
            let first = answering.first(where: { $0.options.lists(method: "GET") }),
            first.options.when == nil, first.options.times == nil
        else { return nil }
        return first
    }

    /// The line from 1; `nil` for a map made in code.
    var lineInMap: Int? { line > 0 ? Int(line) : nil }
}
