import Foundation
import Guarded
import LocalSubstitution
import MapWriting

/// A journal with the names of files that are about to be written or removed. It's on disk before the files change, so
/// that the next recorder finds the files that a killed process left behind.
final class RecordingJournal: Sendable {
    private let descriptor: Int32
    /// The names that this recorder has added since it last cleared the journal.
    private let added = Guarded<Set<String>>([])

    static let name = ".recorder.journal"
    private static let longest = 16 << 20

    init(in folder: URL) throws(SubstitutionRecorderError) {
        descriptor = try FileInPlace.open(Self.name, in: folder, appending: true)
    }

    deinit {
        close(descriptor)
    }

    /// Returns the names in a folder's journal; an empty array if it can't be read. Skips lines that aren't names of
    /// recorded files, and everything after 16 MiB.
    static func names(in folder: URL) -> [String] {
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        let text = (try? OpenedFile(path: path).prefix(longest)) ?? Data()
        return text.split(separator: UInt8(ascii: "\n")).compactMap { String(utf8: $0) }.filter(isName)
    }

    /// Adds the names of files that are about to be written, or that the map will no longer use. If that fails, throws
    /// a problem, and the journal has only its earlier names.
    func add(_ names: some Sequence<String>) throws(Complaint) {
        try added.withLock { added throws(Complaint) in
            let new = names.filter { !added.contains($0) }
            let length = FileStatus(descriptor: descriptor)?.size
            let code = WrittenFolder.write(Data(new.map { "\($0)\n" }.joined().utf8), to: descriptor)
            guard code == 0 else {
                // A truncated name could match another file, or run into the next name.
                if let length { _ = ftruncate(descriptor, off_t(length)) }
                throw .unwritableFile(Self.name, code)
            }
            added.formUnion(new)
        }
    }

    /// Call this only when the map on disk matches the files in the folder.
    func clear() {
        added.withLock { added in
            if ftruncate(descriptor, 0) == 0 { added = [] }
        }
    }

    /// Returns whether a line has the form of a recorded file's name, in a host's folder: see ``RecordedFileName``.
    private static func isName(_ line: String) -> Bool {
        let segments = line.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.count > 1 && FileName(text: line).problem == nil
            && segments.allSatisfy { !$0.isEmpty && $0.first != UInt8(ascii: ".") && $0.count <= 255 }
    }
}
