import Foundation
import LocalSubstitution

/// The names of files and folders that are taken, compared as the least exact file system compares them.
///
/// They form a tree, and looking up a name compares each of its segments once. So the time is proportional to the name's length.
package struct NamesInUse: Sendable {
    /// A name in a folder.
    private struct Place: Hashable {
        /// The folder's number; 0 is the outermost folder.
        let folder: Int
        let name: String
    }

    private struct Folder {
        let number: Int
        /// The folder's path, as it's spelled in the name that introduced it.
        let spelling: Substring
    }

    package init() {}

    private var files: Set<Place> = []
    private var folders: [Place: Folder] = [:]
    /// The folder of the name that was inserted last, and its path in that name. The next name is often in the same folder.
    private var recent: (path: String, folder: Folder)?

    /// Takes a name, and returns it with its folders spelled as they already are; returns `nil` if the name isn't free.
    package mutating func take(_ name: String) -> String? {
        let (path, last) = ResourcesFolder.split(name)
        if let recent, recent.path.utf8.elementsEqual(path.utf8) {
            let place = Place(folder: recent.folder.number, name: Self.folded(last))
            guard folders[place] == nil, files.insert(place).inserted else { return nil }
            return "\(recent.folder.spelling)/\(last)"
        }
        var folder = Folder(number: 0, spelling: "")
        var rest = Self.segments(of: name)[...]
        while rest.count > 1, let segment = rest.first {
            let place = Place(folder: folder.number, name: Self.folded(segment))
            if files.contains(place) { return nil }
            guard let next = folders[place] else { break }
            folder = next
            rest.removeFirst()
        }
        // In a new folder, every name is free.
        if rest.count == 1, let last = rest.first {
            let place = Place(folder: folder.number, name: Self.folded(last))
            guard !files.contains(place), folders[place] == nil else { return nil }
        }
        let start = folder.number == 0 ? [] : [folder.spelling]
        let name = (start + rest).joined(separator: "/")
        insert(name)
        return name
    }

    /// Takes the name of a file that exists, whatever else is taken.
    package mutating func insert(_ name: String) {
        var last = Folder(number: 0, spelling: "")
        var segments = Self.segments(of: name)
        guard let file = segments.popLast() else { return }
        for segment in segments {
            let place = Place(folder: last.number, name: Self.folded(segment))
            if let folder = folders[place] {
                last = folder
            } else {
                last = Folder(number: folders.count + 1, spelling: name[..<segment.endIndex])
                folders[place] = last
            }
        }
        recent = last.number == 0 ? nil : (ResourcesFolder.split(name).folder, last)
        files.insert(Place(folder: last.number, name: Self.folded(file)))
    }

    package mutating func release(_ name: String) {
        var number = 0
        var segments = Self.segments(of: name)
        guard let file = segments.popLast() else { return }
        for segment in segments {
            guard let folder = folders[Place(folder: number, name: Self.folded(segment))] else { return }
            number = folder.number
        }
        files.remove(Place(folder: number, name: Self.folded(file)))
    }

    /// Returns the folders that lead to a file, and then the file: `a`, `b`, `c` for `a/b/c`.
    private static func segments(of name: String) -> [Substring] {
        name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    }

    package static func folded(_ name: some StringProtocol) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return String(name).asciiLowercased }
        return name.decomposedStringWithCompatibilityMapping.uppercased().lowercased()
            .decomposedStringWithCompatibilityMapping
    }
}
