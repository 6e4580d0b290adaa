import Foundation

/// A body that is written in the map.
package final class InlineBody: Sendable {
    enum Kind: Sendable {
        case json, text
        /// Data that was given in code.
        case data
    }

    let data: Data
    let kind: Kind

    var digest: String { Digest.base64(of: data) }

    init(_ data: Data, _ kind: Kind) {
        // Byte ranges count from 0, and so must the data's indices.
        self.data = data.startIndex == 0 ? data : Data(data)
        self.kind = kind
    }
}
