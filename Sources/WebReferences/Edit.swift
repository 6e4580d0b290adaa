import Foundation

/// A part of a document, and the text that replaces it.
struct Edit {
    let place: Range<Int>
    let text: String

    /// Returns the document with the edits applied; `nil` if there are none. Edits must not overlap.
    static func apply(_ edits: [Edit], to document: [UInt8]) -> Data? {
        guard !edits.isEmpty else { return nil }
        var result = Data(capacity: edits.reduce(document.count) { $0 + $1.text.utf8.count })
        var end = 0
        for edit in edits.sorted(by: { $0.place.lowerBound < $1.place.lowerBound }) where edit.place.lowerBound >= end {
            result += document[end..<edit.place.lowerBound]
            result += edit.text.utf8
            end = edit.place.upperBound
        }
        result += document[end...]
        return result
    }
}
