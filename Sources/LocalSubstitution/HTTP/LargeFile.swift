package import Foundation

/// A large file, open for reading in pieces, so that it isn't held in memory as a whole.
package final class LargeFile: Sendable {
    let status: FileStatus
    /// The first bytes, enough to detect a byte order mark.
    let beginning: Data
    private let file: OpenedFile
    private let path: String

    /// The minimum size, in bytes, of a file that is read in pieces if the client can take pieces.
    static let smallestSize = 1 << 20

    /// `nil` if the file doesn't exist or is smaller than ``smallestSize``.
    init?(opening name: String, in folder: ResourcesFolder) throws(Complaint) {
        path = folder.path(of: name)
        guard let size = FileStatus(path: path)?.size, size >= Self.smallestSize else { return nil }
        file = try folder.open(name)
        status = file.status
        beginning = try file.prefix(MIMEType.longestByteOrderMark)
    }

    /// - Throws: An error if the file was written to after it was opened, so that bytes of two versions are never
    ///   mixed.
    package func bytes(_ range: Range<Int>) throws(Complaint) -> Data {
        let bytes = try file.bytes(range)
        guard bytes.count == range.count, file.isUnwritten(at: path) else { throw .writtenFile }
        return bytes
    }
}
