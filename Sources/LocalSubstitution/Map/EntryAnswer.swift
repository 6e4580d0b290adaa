package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an entry, or one of its alternatives, answers with.
package enum EntryAnswer: Sendable {
    /// Nothing: the entry is `null`, and its URLs are never substituted.
    case never
    /// The entry's file.
    case file
    case inline(InlineBody)
    /// An empty body.
    case empty
    case error(URLError.Code)
    /// The network, at another URL if the entry forwards requests.
    case network(ForwardTarget?)

    /// Creates the answer that an entry's fields describe. It's `.file` if they don't describe any.
    init(_ fields: EntryFields) {
        self =
            switch EntryKind(fields) {
            case .inline: fields.body.map { .inline($0) } ?? .empty
            case .empty, .alternatives: .empty
            case .error: .error(fields.error ?? .unknown)
            case .network: .network(fields.forwardTo)
            case .file, nil: .file
            }
    }

    /// The methods that are answered if the entry doesn't list any.
    var defaultMethods: [String] {
        switch self {
        case .never, .file, .inline, .empty: ["GET"]
        case .error, .network: ["*"]
        }
    }
}
