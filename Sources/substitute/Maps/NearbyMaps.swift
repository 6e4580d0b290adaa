import Foundation

/// The maps that `init` makes in the targets of a package: `substitutions.json`, one or two folders below the current one.
enum NearbyMaps {
    static func files() -> [URL] {
        let here = URL(fileURLWithPath: ".", isDirectory: true)
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
        return (contents ?? []).filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true }
    }
}
