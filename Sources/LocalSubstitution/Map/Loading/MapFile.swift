package import Foundation

/// A map's file as it was read.
package struct MapFile: Sendable {
    let url: URL
    let digest: Int
    /// The JSON; empty once the map was made of it.
    package let json: [UInt8]
    private let status: FileStatus
    private let readAt: Int64

    package init(_ url: URL) throws(SubstitutionMapError) {
        self.url = url
        readAt = FileStatus.now
        do throws(FileProblem) {
            let opened = try OpenedFile(path: url.path)
            guard opened.status.kind == .regular else { throw .notRegular(opened.status.kind) }
            json = Array(try opened.contents())
            status = opened.status
        } catch {
            let advice = error == .missing ? ": name an existing one" : ""
            throw SubstitutionMapError(
                file: url,
                problems: [.init(.unreadableMap, "the map “\(url.path)” \(error.message)\(advice)")]
            )
        }
        digest = json.hashValue
    }

    private init(_ other: MapFile) {
        url = other.url
        digest = other.digest
        status = other.status
        readAt = other.readAt
        json = []
    }

    var withoutBytes: MapFile { MapFile(self) }

    /// Whether the file certainly has not changed since it was read.
    var isCurrent: Bool {
        FileStatus(path: url.path) == status && !status.isTooFresh(at: readAt)
    }
}
