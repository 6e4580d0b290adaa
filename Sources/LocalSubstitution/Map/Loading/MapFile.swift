package import Foundation

/// A map's file as it was read.
package struct MapFile: Sendable {
    let url: URL
    let digest: Int
    /// The JSON; empty in a copy ``withoutBytes``.
    package private(set) var json: [UInt8]
    private let status: FileStatus
    private let readAt: Int64

    package init(_ url: URL) throws(SubstitutionMapError) {
        self.url = url
        readAt = FileStatus.now
        do throws(FileProblem) {
            let opened = try OpenedFile(path: url.path)
            json = try opened.array()
            status = opened.status
        } catch {
            let advice = error == .missing ? ": name an existing one" : ""
            throw SubstitutionMapError(
                file: url,
                problems: [.init(.unreadableMap, "the map “\(url.path)” \(error.message)\(advice)")]
            )
        }
        // All bytes at once: an array's own hash value is made byte by byte, which takes a fifth of the time of loading a map.
        var hasher = Hasher()
        json.withUnsafeBytes { hasher.combine(bytes: $0) }
        digest = hasher.finalize()
    }

    var withoutBytes: MapFile {
        var file = self
        file.json = []
        return file
    }

    /// Whether the file certainly has not changed since it was read.
    var isCurrent: Bool {
        FileStatus(path: url.path) == status && !status.isTooFresh(at: readAt)
    }
}
