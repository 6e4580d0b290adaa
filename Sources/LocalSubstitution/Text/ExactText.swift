/// A text that's compared byte by byte. Swift's own comparison treats “é” and an “e” with a combining accent as equal.
/// In JSON and in the names of files on Linux, they're different.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (first: ExactText, second: ExactText) -> Bool {
        var (first, second) = (first.text, second.text)
        return first.withUTF8 { first in second.withUTF8 { first.elementsEqual($0) } }
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
