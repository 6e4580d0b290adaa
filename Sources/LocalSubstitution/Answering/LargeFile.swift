package import Foundation

/// A file that is too large to hold in memory, open for reading in pieces.
package final class LargeFile: Sendable {
    /// A range of the file's bytes.
    package struct Part: Sendable {
        package let file: LargeFile
        package let range: Range<Int>
    }

    let status: FileStatus
    /// The first bytes, enough to detect a byte order mark.
    let beginning: Data
    private let file: OpenedFile

    /// The minimum size, in bytes, of a file that is read in pieces, if the client can take pieces.
    static let smallestSize = 1 << 20

    /// Opens a file; returns `nil` if it doesn't exist, or if it's smaller than ``smallestSize``.
    init?(opening name: String, in folder: ResourcesFolder) throws(FileProblem) {
        guard let size = FileStatus(path: folder.path(of: name))?.size, size >= Self.smallestSize else { return nil }
        file = try folder.open(name)
        status = file.status
        beginning = try file.prefix(Charset.longestByteOrderMark)
    }

    /// Returns a range of the bytes.
    ///
    /// - Throws: An error if the file was written to after it was opened: bytes of two versions must not be mixed.
    package func bytes(_ range: Range<Int>) throws(FileProblem) -> Data {
        let bytes = try file.bytes(range)
        guard bytes.count == range.count, file.isUnwritten else { throw .written }
        return bytes
    }
}
