import Foundation

/// The maps that `init` makes in the targets of a package: `substitutions.json`, one or two folders below the current one.
enum NearbyMaps {
    /// Returns the maps, sorted by path. Leaves out those in a folder that anyone can write, such as the temporary folder: another
    /// user may have put them there.
    static func files() -> [URL] {
        let here = CurrentFolder.current.url
        guard !isOpenToAll(here) else { return [] }
        let folders = Self.folders(in: here).flatMap { [$0] + Self.folders(in: $0) }
        return folders.map { $0.appendingPathComponent("substitutions.json", isDirectory: false) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }.sorted { $0.path < $1.path }
    }

    private static func folders(in folder: URL) -> [URL] {
        let contents = try? FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: [.isDirectoryKey],
            options: .skipsHiddenFiles
        )
        return (contents ?? []).filter { folder in
            (try? folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true && !isOpenToAll(folder)
        }
    }

    private static func isOpenToAll(_ folder: URL) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
        guard let permissions = attributes?[.posixPermissions] as? NSNumber else { return true }
        return permissions.intValue & Int(S_IWOTH) != 0
    }
}
