package import Foundation

/// A file that is open for reading as long as this value exists.
package struct OpenedFile: ~Copyable {
    /// The status when the file was opened.
    package let status: FileStatus
    private let descriptor: Int32

    package init(path: String) throws(Complaint) {
        try self.init(descriptor: open(path, Self.reading), isRegular: true)
    }

    /// Works even if the folder has been moved or replaced since it was opened.
    init(_ name: String, in folder: borrowing OpenedFile) throws(Complaint) {
        try self.init(descriptor: openat(folder.descriptor, name, Self.reading), isRegular: true)
    }

    /// Throws an error if a part of the name is a symbolic link, empty or `..`, or if the name has more than
    /// ``mostSteps`` folders.
    package init(withoutLinks name: String, in folder: borrowing OpenedFile) throws(Complaint) {
        // The system splits paths by bytes. To Swift, a slash can be a part of a longer character.
        var parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard !parts.contains(where: { $0.isEmpty || $0 == ".." }), let last = parts.popLast(),
            parts.count <= Self.mostSteps
        else { throw .outsideFolder }
        var place = folder.descriptor
        defer { if place != folder.descriptor { close(place) } }
        for part in parts {
            let next = openat(place, part, Self.asking | O_DIRECTORY | O_NOFOLLOW)
            if place != folder.descriptor { close(place) }
            place = next
            guard next >= 0 else { throw .missingFile }
        }
        try self.init(descriptor: openat(place, last, Self.reading | O_NOFOLLOW), isRegular: true)
    }

    /// The maximum number of folders to open one by one. For a longer path, checking the opened file's real path is
    /// faster.
    private static let mostSteps = 8

    /// Opens a path only for its status and real path. Its bytes can't be read.
    package init(placeOf path: String) throws(Complaint) {
        try self.init(descriptor: open(path, Self.asking))
    }

    /// Opens a name only for its status and real path. Its bytes can't be read.
    init(placeOf name: String, in folder: borrowing OpenedFile) throws(Complaint) {
        try self.init(descriptor: openat(folder.descriptor, name, Self.asking))
    }

    /// The flags to open a file for reading. With `O_NONBLOCK`, opening a named pipe doesn't wait for a writer.
    private static let reading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY

    private static let asking = reading | System.placeOnly

    /// - Parameter isRegular: Whether to throw an error if the file isn't regular; `false` by default.
    private init(descriptor: Int32, isRegular: Bool = false) throws(Complaint) {
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR, ENAMETOOLONG, EINVAL, ELOOP: throw .missingFile
            case ENXIO: throw .notRegularFile(.socket)
            case let code: throw .unreadableFile(code)
            }
        }
        guard let status = FileStatus(descriptor: descriptor) else {
            let code = errno
            close(descriptor)
            throw .unreadableFile(code)
        }
        guard status.kind == .regular || !isRegular else {
            close(descriptor)
            throw .notRegularFile(status.kind)
        }
        self.descriptor = descriptor
        self.status = status
    }

    deinit {
        close(descriptor)
    }

    /// `nil` if the system doesn't know the path.
    var realPath: [UInt8]? { System.realPath(of: descriptor) }

    /// Whether the status is still the one with which the file was opened.
    var isUnchanged: Bool { FileStatus(descriptor: descriptor) == status }

    /// Whether the file wasn't written to since it was opened. `true` even if it was moved or deleted, or if a hard
    /// link to it was made. `false` also if an attribute was set, such as its permissions.
    ///
    /// - Parameter path: The path at which the file was opened.
    func isUnwritten(at path: String) -> Bool {
        // A moved file gets its new status an instant before its path changes, so look again before calling it written.
        for pause: UInt32 in [0, 1_000, 10_000, 100_000] {
            if pause > 0 { usleep(pause) }
            guard let now = FileStatus(descriptor: descriptor), now.size == status.size,
                now.modified == status.modified
            else { return false }
            // After a write, the modification time may have been set back. Then only the time of the last change shows
            // it. Moving, deleting and linking the file change that time, too, but they also change the path's file or
            // the number of links.
            if now == status || now.links != status.links || FileStatus(path: path)?.isSameFile(as: now) != true {
                return true
            }
        }
        return false
    }

    /// The result is shorter if the file ends within the range.
    func bytes(_ range: Range<Int>) throws(Complaint) -> Data {
        var data = Data(count: range.count)
        data.count = try data.withUnsafeMutableBytes { buffer in
            Result { () throws(Complaint) in try fill(buffer, from: range.lowerBound) }
        }.get()
        return data
    }

    package func prefix(_ count: Int) throws(Complaint) -> Data { try bytes(0..<count) }

    /// The first bytes, enough to detect a byte order mark, which has at most four bytes.
    func beginning() throws(Complaint) -> Data { try prefix(4) }

    /// All bytes, even if the file has grown since it was opened.
    @inline(never)
    package func contents() throws(Complaint) -> Data {
        // Asks for one byte more than expected. A read that returns fewer bytes than asked for has reached the end of
        // the file.
        var end = status.size + 1
        var data = try bytes(0..<end)
        while data.count == end {
            end += max(64 << 10, end / 2)
            data += try bytes(data.count..<end)
        }
        return data
    }

    /// The pages are private, so that changing the `Data` doesn't change the file.
    @inline(never)
    func mappedContents() throws(Complaint) -> Data {
        guard status.size > 0 else { return Data() }
        let address = mmap(nil, status.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .unreadableFile(errno) }
        return Data(bytesNoCopy: address, count: status.size, deallocator: .unmap)
    }

    /// All bytes, in one allocation.
    func array() throws(Complaint) -> [UInt8] {
        var failure: Complaint?
        let array = [UInt8](unsafeUninitializedCapacity: status.size + 1) { buffer, count in
            do throws(Complaint) { count = try fill(UnsafeMutableRawBufferPointer(buffer), from: 0) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        // If the file has grown since it was opened, reads it again.
        return array.count > status.size ? Array(try contents()) : array
    }

    /// Reads until the buffer is full or the file ends. Returns how many bytes were read.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(Complaint) -> Int {
        var count = 0
        while count < buffer.count {
            let start = buffer.baseAddress.map { $0 + count }
            let got = pread(descriptor, start, buffer.count - count, off_t(offset + count))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .unreadableFile(errno) }
            if got == 0 { break }
            count += got
        }
        return count
    }
}
