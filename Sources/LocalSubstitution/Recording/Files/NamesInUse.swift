import Foundation

/// The names of files and folders that are taken, as the least exact file system compares them.
struct NamesInUse: Sendable {
    private var files: Set<String> = []
    /// How each folder is spelled.
    private var folders: [String: String] = [:]

    /// The name with its folders spelled as they are already, taken; `nil` if it can't be had.
    mutating func take(_ name: String) -> String? {
        let name = respelled(name)
        let folded = Self.folded(name)
        guard !files.contains(folded), folders[folded] == nil,
            !Self.prefixes(of: name).contains(where: { files.contains(Self.folded($0)) })
        else { return nil }
        insert(name)
        return name
    }

    /// Takes a name that exists, whatever else is taken.
    mutating func insert(_ name: String) {
        files.insert(Self.folded(name))
        for folder in Self.prefixes(of: name) where folders[Self.folded(folder)] == nil {
            folders[Self.folded(folder)] = folder
        }
    }

    mutating func release(_ name: String) {
        files.remove(Self.folded(name))
    }

    private func respelled(_ name: String) -> String {
        guard let longest = Self.prefixes(of: name).last(where: { folders[Self.folded($0)] != nil }),
            let spelling = folders[Self.folded(longest)]
        else { return name }
        return spelling + String(Substring(name.utf8.dropFirst(longest.utf8.count)))
    }

    /// The folders on the way to a file: `a`, `a/b` for `a/b/c`.
    private static func prefixes(of name: String) -> [String] {
        name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: "/") }.map { String(Substring(name.utf8[..<$0])) }
    }

    static func folded(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return MIMEType.asciiLowercased(name) }
        return name.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
            .decomposedStringWithCompatibilityMapping
    }
}
