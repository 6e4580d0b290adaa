package import Foundation

/// The contents of a map's file, and the file's state when it was read.
package final class MapFile: Sendable {
    let url: URL
    let digest: Int
    /// The JSON text; empty in a copy made with ``withoutBytes``, which saves memory.
    package let json: [UInt8]
    private let status: FileStatus
    private let readAt: Int64

    package init(_ url: URL) throws(SubstitutionMapError) {
        self.url = url
        readAt = System.now
        do throws(Complaint) {
            let opened = try OpenedFile(path: url.path)
            json = try opened.array()
            status = opened.status
        } catch {
            let message = "The map “\(url.path)” \(error)\(Self.advice(on: error, at: url))"
            throw SubstitutionMapError(file: url, problems: [.init(.unreadableMap, message)])
        }
        // Hashes the bytes as one buffer. Swift would hash the array byte by byte, which would take a fifth of the time
        // to load a map.
        var hasher = Hasher()
        json.withUnsafeBytes { hasher.combine(bytes: $0) }
        digest = hasher.finalize()
    }

    /// The advice on a path where there's no map.
    package static let otherPath = "Use the path of an existing map."

    /// Advice with a leading space. Empty unless the problem is that the path isn't a file's.
    private static func advice(on problem: Complaint, at url: URL) -> String {
        let kind = SubstitutionMap.Problem.Kind(rawValue: problem.kind)
        guard kind == .missingFile || kind == .notRegularFile else { return "" }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        let files = names.filter { $0.hasSuffix(".json") && !ResourcesFolder.isHidden($0) }
        let file = files.first { $0 == "substitutions.json" } ?? files.min()
        return file.map { " Name a file in it, such as “\($0)”." } ?? " \(Self.otherPath)"
    }

    private init(withoutBytesOf file: MapFile) {
        (url, digest, status, readAt) = (file.url, file.digest, file.status, file.readAt)
        json = []
    }

    var withoutBytes: MapFile { MapFile(withoutBytesOf: self) }

    /// Whether the file certainly hasn't changed since it was read; `false` if it may have changed.
    var isCurrent: Bool {
        FileStatus(path: url.path)?.isUnchanged(since: status, readAt: readAt) ?? false
    }
}
