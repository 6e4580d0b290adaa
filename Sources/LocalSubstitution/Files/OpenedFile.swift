package import Foundation

/// A file that is open for reading, until this value goes.
package struct OpenedFile: ~Copyable {
    /// As it was when the file was opened.
    package let status: FileStatus
    private let descriptor: Int32

    /// Opens a file by its path.
    package init(path: String) throws(FileProblem) {
        try self.init(descriptor: open(path, Self.reading))
    }

    /// Opens a file by its name in an opened folder, wherever that folder's path leads now.
    init(_ name: String, in folder: borrowing OpenedFile) throws(FileProblem) {
        try self.init(descriptor: openat(folder.descriptor, name, Self.reading))
    }

    /// Opens a path only to find out what is there and where it leads, not to read it.
    init(placeOf path: String) throws(FileProblem) {
        try self.init(descriptor: open(path, Self.asking))
    }

    /// Opens a name in an opened folder in the same way.
    init(placeOf name: String, in folder: borrowing OpenedFile) throws(FileProblem) {
        try self.init(descriptor: openat(folder.descriptor, name, Self.asking))
    }

    /// Doesn't block, so that opening a named pipe without a writer doesn't wait.
    private static let reading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY

    #if os(Linux)
    /// `O_PATH`, which doesn't need read permission. Glibc's module leaves it out.
    private static let asking = 0o10_000_000 | O_CLOEXEC
    #else
    private static let asking = reading
    #endif

    private init(descriptor: Int32) throws(FileProblem) {
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR, ENAMETOOLONG, EINVAL, ELOOP: throw .missing
            case ENXIO: throw .notRegular(.socket)
            case let code: throw .unreadable(errno: code)
            }
        }
        guard let status = FileStatus(descriptor: descriptor) else {
            let code = errno
            close(descriptor)
            throw .unreadable(errno: code)
        }
        self.descriptor = descriptor
        self.status = status
    }

    deinit {
        close(descriptor)
    }

    /// The path of the open file, in bytes. The kernel looks it up by the descriptor, so that another thread can't redirect it.
    /// On Linux, a deleted file's path ends in “ (deleted)”. `nil` if the system doesn't know.
    var realPath: [UInt8]? {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            #if canImport(Darwin)
            guard let start = buffer.baseAddress, fcntl(descriptor, F_GETPATH, UnsafeMutableRawPointer(start)) == 0
            else {
                return
            }
            count = buffer.firstIndex(of: 0) ?? 0
            #else
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { max(0, readlink("/proc/self/fd/\(descriptor)", $0, buffer.count)) } ?? 0
            }
            #endif
        }
        return path.first == UInt8(ascii: "/") ? path : nil
    }

    /// Whether nobody has written to it since it was opened.
    var isUnchanged: Bool { FileStatus(descriptor: descriptor) == status }

    /// The first bytes, at most so many.
    func prefix(_ count: Int) throws(FileProblem) -> Data {
        try bytes(upTo: count)
    }

    /// All of the bytes. A file that grows or shrinks meanwhile gives what could be read.
    package func contents() throws(FileProblem) -> Data {
        try bytes(upTo: nil)
    }

    /// All of the bytes, mapped. Pages are private, so that whoever changes the `Data` changes neither file nor neighbours.
    func mappedContents() throws(FileProblem) -> Data {
        guard status.size > 0 else { return Data() }
        let address = mmap(nil, status.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .unreadable(errno: errno) }
        return Data(bytesNoCopy: address, count: status.size, deallocator: .unmap)
    }

    private func bytes(upTo limit: Int?) throws(FileProblem) -> Data {
        // One byte more than expected, so that the end of the file shows without another round.
        var data = Data(count: limit ?? status.size + 1)
        var count = 0
        while true {
            let room = data.count - count
            let got = data.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress.map { $0 + count }, room)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadable(errno: errno) }
            count += got
            if got == 0 || count == limit { break }
            if count == data.count { data.count += max(64 << 10, count / 2) }
        }
        data.count = count
        return data
    }
}
