import Foundation

/// A body that is written in the map.
final class InlineBody: Sendable {
    enum Kind: Sendable {
        case json, text
        /// Made in code.
        case data
    }

    let data: Data
    let kind: Kind

    /// The digest of the bytes.
    var digest: String { Digest.base64(of: data) }

    init(_ data: Data, _ kind: Kind) {
        // Ranges count from 0.
        self.data = data.startIndex == 0 ? data : Data(data)
        self.kind = kind
    }
}
