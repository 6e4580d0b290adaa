import Foundation
import Guarded

/// The names of files that are being written or are about to go, on disk before that happens: so the next recorder finds those
/// that a process left behind when it was killed.
final class RecordingJournal: Sendable {
    private let descriptor: Int32
    /// Names on disk that can't be forgotten yet.
    private let pending = Guarded<Set<String>>([])

    static let name = ".recorder.journal"
    private static let longest = 16 << 20

    /// Opens the journal, and gives the names in it.
    static func open(in folder: URL) throws(SubstitutionRecorderError) -> (RecordingJournal, names: [String]) {
        let descriptor = try FileInPlace.open(name, in: folder, appending: true)
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        let text = (try? OpenedFile(path: path).prefix(longest)) ?? Data()
        let lines = text.split(separator: UInt8(ascii: "\n")).compactMap { String(utf8: $0) }
        return (RecordingJournal(descriptor), lines.filter { isName($0) })
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Notes that files are about to be written, or that no map will name them any more.
    func begin(_ names: some Sequence<String>) throws(WrittenFolder.Problem) {
        let code = pending.withLock { pending in
            let new = names.filter { !pending.contains($0) }
            let code = WrittenFolder.write(Data(new.map { "\($0)\n" }.joined().utf8), to: descriptor)
            if code == 0 { pending.formUnion(new) }
            return code
        }
        guard code == 0 else { throw WrittenFolder.Problem(name: Self.name, code: code) }
    }

    /// Forgets files that the map on disk names, or that are gone. When none is left, the journal is emptied.
    func settle(_ names: some Sequence<String>) {
        pending.withLock { pending in
            pending.subtract(names)
            if pending.isEmpty { _ = ftruncate(descriptor, 0) }
        }
    }

    /// Whether a line can be the name of a recorder's file: such as ``RecordedFileName`` makes them, in a host's folder.
    private static func isName(_ line: String) -> Bool {
        let segments = line.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.count > 1 && FileName(text: line).problem == nil
            && segments.allSatisfy { !$0.isEmpty && $0.first != UInt8(ascii: ".") && $0.count <= 255 }
    }
}
