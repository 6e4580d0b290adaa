import Foundation
import LocalSubstitution

/// A response that is kept in a map.
package struct KeptFile: Sendable, Hashable {
    package enum Change: String, Sendable, Hashable {
        case new, replaced, unchanged
    }

    package let change: Change
    /// The file's name in the resources folder.
    package let name: String
    package let bytes: Int
    /// The `Content-Type` that it is served with.
    package let contentType: String

    init(_ change: Change, _ name: String, _ body: Data, _ substitution: Substitution) {
        self.change = change
        self.name = name
        bytes = body.count
        contentType = substitution.contentType(ofBody: body)
    }
}
