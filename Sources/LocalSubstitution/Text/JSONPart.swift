/// A JSON text as a condition sees it: neither the spelling of its values nor the order of its members matters.
package struct JSONPart: Sendable, Hashable {
    private let value: JSONValue

    /// Returns `nil` if the text isn't JSON, or is nested too deep.
    package init?(_ text: String) {
        guard let value = Array(text.utf8).withUnsafeBufferPointer({ try? JSONValue($0) }) else { return nil }
        self.value = value
    }

    /// The number of values in it. A text has more of them than any other text that is a part of it.
    package var count: Int { value.count }
}

extension JSONValue {
    fileprivate var count: Int {
        switch self {
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let object): object.members.reduce(1) { $0 + $1.value.count }
        default: 1
        }
    }
}
