import Foundation

/// A search for a map's missing files. It finds a file in another place beside the map, and one whose name repeats the
/// name of the resources folder.
struct MisplacedFiles {
    /// What's known about a missing file.
    struct Finding {
        /// What's wrong and what to do, in sentences that follow the name.
        let message: String
        /// The name that the entry should have, if the resources folder has that file.
        var meant: String?
    }

    /// A place beside the map where its files aren't looked for.
    private struct Place {
        let folder: ResourcesFolder
        /// What's wrong with a file in this place. It follows the file's name.
        let problem: String
        /// What to do instead of moving the file; `nil` if the file should be moved.
        var fix: String?
    }

    private let folder: ResourcesFolder
    private let others: [Place]

    init(_ folder: ResourcesFolder) {
        self.folder = folder
        others = Self.others(beside: folder)
    }

    /// - Parameters:
    ///   - name: The name that the entry has.
    ///   - part: The part of the name that doesn't exist: the whole name, by default, or the folder before the name's
    ///     first wildcard.
    ///   - kind: What the part should be: a regular file, by default, or a folder.
    func finding(on name: String, part: String? = nil, kind: FileStatus.Kind = .regular) -> Finding? {
        let part = part ?? name
        let thing = kind == .folder ? "folder" : "file"
        func message(_ place: Place) -> String { "\(place.problem). \(place.fix ?? "Move the \(thing)")" }

        let prefixes = ResourcesFolder.standardNames.map { $0 + "/" }
        guard let prefix = prefixes.first(where: name.hasPrefix) else {
            return others.first { Self.has(part, kind, in: $0.folder) }.map { Finding(message: "\(message($0)).") }
        }
        let (name, rest) = (Self.drop(prefix, from: name), Self.drop(prefix, from: part))
        let isRelative = "doesn't exist. Names are relative to “\(folder.path)”. Write “\(name)”"
        if Self.has(rest, kind, in: folder) { return Finding(message: "\(isRelative).", meant: name) }
        // A folder that was named may be the wrong one.
        guard folder.map != nil else { return nil }
        let other = others.first { Self.has(rest, kind, in: $0.folder) }
        return Finding(
            message: other.map { "\(message($0)), and write “\(name)”." } ?? "\(isRelative), and add the \(thing)."
        )
    }

    private static func drop(_ prefix: String, from name: String) -> String {
        String(Substring(name.utf8.dropFirst(prefix.utf8.count)))
    }

    /// An empty name means the folder itself.
    private static func has(_ name: String, _ kind: FileStatus.Kind, in folder: ResourcesFolder) -> Bool {
        name.isEmpty ? kind == .folder : folder.servedStatus(of: name)?.kind == kind
    }

    /// The places where a map's files would be if the folder beside the map had another name or didn't exist. Empty if
    /// the folder was named.
    private static func others(beside folder: ResourcesFolder) -> [Place] {
        guard let map = folder.map else { return [] }
        if let misspelled = folder.misspelled {
            return [
                Place(
                    folder: ResourcesFolder(folder.url(of: misspelled.name)),
                    problem: "is in the folder \(misspelled.name), but letter case matters",
                    fix: "Rename that folder to \(misspelled.standard)"
                )
            ]
        }
        guard folder.mapName == nil else { return [] }
        let own = map.deletingLastPathComponent()
        let name = ResourcesFolder.split(folder.path).last
        let reason = "but a folder \(name) exists, so only that counts"
        let beside = ResourcesFolder(own, mapName: map.lastPathComponent)
        let unused = ResourcesFolder.standardNames.filter { $0 != name && ResourcesFolder.hasFolder($0, in: own) }
        return [Place(folder: beside, problem: "is beside the map, \(reason)")]
            + unused.map { other in
                let folder = ResourcesFolder(own.appendingPathComponent(other, isDirectory: true))
                return Place(folder: folder, problem: "is in the folder \(other), \(reason)")
            }
    }
}
