import Foundation

/// A response that a recorder has in its folder.
struct KeptResponse: Sendable {
    let entry: Entry
    /// The entry's value in the map.
    let text: String
    /// The file's name in the resources folder.
    let file: String
    let bytes: Int
    /// Of the body; `nil` where it is not known that the file still has it.
    let digest: String?
    let entityTag: String?
    let lastModified: String?
    let isRedirected: Bool
    /// When it was kept or confirmed, in milliseconds since 1970; no two are the same.
    var stamp = 0
}
