package import Foundation
import Guarded

/// The bytes of one version of a file, shared by all responses that are made from them.
package final class FileBytes: Sendable {
    package let data: Data
    package let status: FileStatus
    /// The time at which the last read of the bytes began, in nanoseconds since 1970.
    private let readAt: Guarded<Int64>
    /// Whether the bytes are mapped from the file, so that they take no heap memory.
    let isMapped: Bool

    /// In bytes.
    static let smallestMapped = 64 << 10

    /// If the file changes while it's read, reads it again, up to three times in all.
    ///
    /// - Parameter mayMap: Whether a large file in a bundle is mapped; `false` by default. Don't map a file that may be
    ///   truncated in place: reading a removed page ends the process.
    /// - Throws: An error if the file changed during each read, so that bytes of two versions are never mixed.
    package init(opening name: String, in folder: ResourcesFolder, mayMap: Bool = false) throws(Complaint) {
        for _ in 0..<3 {
            let started = System.now
            let file = try folder.open(name)
            let isMapped = mayMap && folder.isInBundle && file.status.size >= Self.smallestMapped
            let data = try isMapped ? file.mappedContents() : file.contents()
            guard file.isUnchanged else { continue }
            self.data = data
            self.isMapped = isMapped
            status = file.status
            readAt = Guarded(started)
            return
        }
        throw .writtenFile
    }

    /// Computed at first use.
    var digest: String {
        if let known = digested.withLock({ $0 }) { return known }
        // Computed without the lock, since it takes long for a large file.
        let digest = Digest.base64(of: data)
        digested.withLock { $0 = digest }
        return digest
    }

    private let digested = Guarded<String?>(nil)

    /// 0 if the bytes are mapped.
    var heapBytes: Int { isMapped ? 0 : data.count }

    /// Whether a file with this status certainly has these bytes.
    func isCurrent(_ status: FileStatus) -> Bool { status.isUnchanged(since: self.status, readAt: lastRead) }

    func wasRead(since time: Int64) -> Bool { lastRead >= time }

    private var lastRead: Int64 { readAt.withLock { $0 } }

    /// Notes that the file was read again later, into `other`, and still had the same bytes.
    func confirm(by other: FileBytes) {
        let time = other.lastRead
        readAt.withLock { $0 = time }
    }

    func isSameVersion(as other: FileBytes) -> Bool {
        status == other.status && data == other.data
    }

    /// A part of the bytes, usually without copying them. The result's indices begin at 0. In a slice of `Data`, they
    /// wouldn't, and a caller's `data[0]` would trap.
    func part(_ range: Range<Int>) -> Data {
        guard range.count >= Self.smallestShared else { return Data(Array(data[range])) }
        return parts.withLock { parts in
            if let known = parts.first(where: { $0.range == range }) { return known.data }
            guard parts.count < Self.mostParts else { return Data(Array(data[range])) }
            let part = sharedPart(range)
            parts.append((range, part))
            return part
        }
    }

    private func sharedPart(_ range: Range<Int>) -> Data {
        data.withUnsafeBytes { whole in
            guard let start = whole.baseAddress else { return Data() }
            // The address stays valid because the closure retains the whole data; see `smallestShared`.
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound),
                count: range.count,
                deallocator: .custom { [data] _, _ in withExtendedLifetime(data) {} }
            )
        }
    }

    /// The shared parts. If a caller changes its part, `Data` copies the bytes first, because this array holds the same
    /// part. So the file's bytes never change.
    private let parts = Guarded<[(range: Range<Int>, data: Data)]>([])

    /// Parts beyond this number are copied.
    private static let mostParts = 1_024

    /// In bytes. A `Data` that is long enough for such a part has a stable address. A shorter one may hold its bytes
    /// inline.
    private static let smallestShared = 64
}

extension FileBytes {
    /// A large file, open for reading in pieces, so that it isn't held in memory as a whole.
    package final class Large: Sendable {
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
            beginning = try file.beginning()
        }

        /// - Throws: An error if the file was written to after it was opened, so that bytes of two versions are never
        ///   mixed.
        package func bytes(_ range: Range<Int>) throws(Complaint) -> Data {
            let bytes = try file.bytes(range)
            guard bytes.count == range.count, file.isUnwritten(at: path) else { throw .writtenFile }
            return bytes
        }
    }
}
