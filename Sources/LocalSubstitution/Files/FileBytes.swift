package import Foundation
import Guarded

/// The bytes of one version of a file, held once, however many responses are made of them.
package final class FileBytes: Sendable {
    /// All of them.
    package let data: Data
    package let status: FileStatus
    /// When reading began, in nanoseconds since 1970; later, when it was found that the file still has these bytes.
    private let readAt: Guarded<Int64>
    /// Whether the bytes stay on disk and don't count as retained memory.
    let isMapped: Bool

    /// Files of at least so many bytes are mapped, where the folder allows it.
    static let smallestMapped = 64 << 10

    /// Reads a file, and again if it was written to meanwhile.
    package init(opening name: String, in folder: ResourcesFolder) throws(FileProblem) {
        var attempts = 3
        while true {
            let started = FileStatus.now
            let file = try folder.open(name)
            let isMapped = folder.mapsLargeFiles && file.status.size >= Self.smallestMapped
            let data = try isMapped ? file.mappedContents() : file.contents()
            attempts -= 1
            guard attempts == 0 || file.isUnchanged else { continue }
            self.data = data
            self.isMapped = isMapped
            status = file.status
            readAt = Guarded(started)
            return
        }
    }

    /// Bytes that answer in place of a file's, until that changes.
    init(_ data: Data, insteadOf file: FileBytes) {
        self.data = data
        status = file.status
        isMapped = false
        readAt = Guarded(file.readAt.withLock { $0 })
    }

    /// The digest of the bytes, made when it is first asked for.
    var digest: String {
        if let known = digested.withLock({ $0 }) { return known }
        // Not under the lock, since it takes long for a large file.
        let digest = Digest.base64(of: data)
        digested.withLock { $0 = digest }
        return digest
    }

    /// Whether the digest takes no time.
    var isDigested: Bool { digested.withLock { $0 != nil } }

    private let digested = Guarded<String?>(nil)

    /// What they take of the process's own memory.
    var heapBytes: Int { isMapped ? 0 : data.count }

    /// Whether a file with this status certainly has these bytes.
    func isCurrent(_ status: FileStatus) -> Bool {
        status == self.status && !status.isTooFresh(at: readAt.withLock { $0 })
    }

    /// Notes that the file, read again, had the same bytes.
    func confirm(by other: FileBytes) {
        let time = other.readAt.withLock { $0 }
        readAt.withLock { $0 = time }
    }

    func isSameVersion(as other: FileBytes) -> Bool {
        status == other.status && data == other.data
    }

    /// A part of the bytes that is not copied, and whose indices begin at 0.
    ///
    /// A slice of `Data` would keep the whole's indices, and then a caller's `data[0]` traps.
    func part(_ range: Range<Int>) -> Data {
        guard range.count >= Self.smallestShared else { return Data(Array(data[range])) }
        return parts.withLock { parts in
            if let known = parts[range] { return known }
            guard parts.count < Self.mostParts else { return Data(Array(data[range])) }
            let part = sharedPart(range)
            parts[range] = part
            return part
        }
    }

    private func sharedPart(_ range: Range<Int>) -> Data {
        data.withUnsafeBytes { whole in
            guard let start = whole.baseAddress else { return Data() }
            // Only a closure that holds on to the whole makes the address outlive this scope; see `smallestShared`.
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound),
                count: range.count,
                deallocator: .custom { [data] _, _ in withExtendedLifetime(data) {} }
            )
        }
    }

    /// The parts that were handed out. A `Data` that is the only one of its storage is changed in place, and would change the
    /// whole; one that is also here is copied first.
    private let parts = Guarded<[Range<Int>: Data]>([:])

    /// Further ones are copied, so that endless ranges take no endless memory.
    private static let mostParts = 1_024

    /// `Data` holds a few bytes in itself, where they have no address that lasts. A part of so many is never of such a whole.
    private static let smallestShared = 64
}
