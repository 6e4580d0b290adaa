/// The text of a JSON string, compared scalar by scalar. To Swift's own comparison, “é” equals an “e” with a combining accent.
struct JSONString: Sendable, Hashable {
    let text: String

    static func == (first: JSONString, second: JSONString) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
