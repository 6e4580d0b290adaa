package import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// An open stream socket, closed when the last reference to it is released.
///
/// It can't be closed explicitly, so `hangUp()` is safe on any thread: as long as a thread holds the socket, the system
/// can't give its descriptor to another file.
package final class Socket: Sendable {
    /// The error of a read or write: the other side has left, this side has hung up, or a time limit has passed.
    package struct Closed: Error {
        /// How many bytes of the failed write the system had already accepted; 0 for a read.
        package let written: Int

        /// Whether a time limit has passed. If so, the other side may still be connected.
        package let isTimeout: Bool

        package init(written: Int, isTimeout: Bool = false) {
            self.written = written
            self.isTimeout = isTimeout
        }

        /// Reads `errno`, so call this right after the failed system call.
        fileprivate static func current(written: Int = 0) -> Closed {
            Closed(written: written, isTimeout: errno == EAGAIN || errno == EWOULDBLOCK)
        }
    }

    /// The largest number of bytes that callers should read or write at once.
    package static let pieceSize = 64 << 10

    package let descriptor: Int32

    /// The socket closes the descriptor when it's released.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
        // Other programs that this process starts must not inherit the descriptor. The flag is set here, not by the
        // call that created the descriptor, since Darwin has neither SOCK_CLOEXEC nor accept4.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // With this option, a write to a client that has left fails instead of killing the process. On Linux, `write`
        // passes a flag to send() for that.
        turnOn(SO_NOSIGPIPE, at: SOL_SOCKET)
        #endif
    }

    deinit {
        close(descriptor)
    }

    /// Two sockets that are connected to each other.
    package static func pair() throws(StartError) -> (Socket, Socket) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &descriptors) == 0 else { throw .current("socketpair") }
        return (Socket(owning: descriptors[0]), Socket(owning: descriptors[1]))
    }

    // MARK: Reading and writing

    /// Limits how long each later read waits for the first byte.
    ///
    /// - Parameter seconds: The limit; `nil` for no limit, which is the default.
    package func setReadLimit(seconds: Double?) {
        set(SO_RCVTIMEO, seconds: seconds)
    }

    /// Limits how long each later write waits for the other side to accept more bytes.
    ///
    /// - Parameter seconds: The limit; `nil` for no limit, which is the default.
    package func setWriteLimit(seconds: Double?) {
        set(SO_SNDTIMEO, seconds: seconds)
    }

    /// Waits until bytes have arrived. The result is empty if the other side has finished sending.
    package func read(upTo count: Int) throws(Closed) -> [UInt8] {
        var received = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            repeat {
                received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            } while received < 0 && errno == EINTR
            initializedCount = max(0, received)
        }
        guard received >= 0 else { throw .current() }
        return bytes
    }

    /// Writes all of the bytes. Waits whenever the other side can't accept more.
    package func write(_ bytes: Data) throws(Closed) {
        var error: Closed?
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count, error == nil {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let sent = send(descriptor, rest.baseAddress, rest.count, Self.sendFlags)
                if sent < 0, errno == EINTR { continue }
                if sent > 0 { written += sent } else { error = .current(written: written) }
            }
        }
        if let error { throw error }
    }

    /// Writes one chunk of a body whose length isn't known in advance (RFC 9112 section 7.1). Writes nothing if the
    /// piece is empty, since an empty chunk would end the body.
    ///
    /// - Throws: ``Closed``. Its `written` counts only the bytes of the piece.
    package func writeChunk(_ piece: Data) throws(Closed) {
        guard !piece.isEmpty else { return }
        let size = Data("\(String(piece.count, radix: 16))\r\n".utf8)
        do {
            try write(size + piece + Data("\r\n".utf8))
        } catch {
            let written = min(max(0, error.written - size.count), piece.count)
            throw Closed(written: written, isTimeout: error.isTimeout)
        }
    }

    /// Ends a body that was written in chunks.
    package func endChunks() throws(Closed) {
        try write(Data("0\r\n\r\n".utf8))
    }

    // MARK: Waiting and ending

    /// The time on the monotonic clock, in seconds since an arbitrary moment before the process began. Changes of the
    /// system's time don't affect it.
    package static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Waits until at least one of the sockets is readable: it has bytes, a pending connection or an end of input.
    ///
    /// - Returns: The indices of the readable sockets, in ascending order; empty if the timeout has passed.
    /// - Parameter timeout: The timeout in seconds; `nil` for no limit.
    package static func readable(of sockets: [Socket], within timeout: Double?) -> [Int] {
        let deadline = timeout.map { now + $0 }
        var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            let left = deadline.map { max(0, $0 - now) }
            // Rounded up, so that a wait never ends early.
            let milliseconds = left.map { Int32(min(($0 * 1_000).rounded(.up), Double(Int32.max))) } ?? -1
            let count = poll(&polls, nfds_t(polls.count), milliseconds)
            if count > 0 { return polls.indices.filter { polls[$0].revents != 0 } }
            // If poll() itself fails, this pause keeps the loop from spinning.
            if count < 0, errno != EINTR, left != 0 { usleep(10_000) }
            if left == 0 { return [] }
        }
    }

    /// The state of the connection's other side.
    enum OtherSide {
        /// The other side may send more, or it has sent bytes that haven't been read yet.
        case open
        /// The other side has finished sending. It may still read, or it may have left.
        case finished
        /// The other side has left: the connection was reset.
        case left
    }

    /// The state of the other side, as far as the system knows it without waiting.
    var otherSide: OtherSide {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // After the other side has finished sending, only this call reveals a reset: reads still report the end.
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 else { return .left }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count == 0 { return .finished }
        return count > 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? .open : .left
    }

    /// Shuts down sending and receiving immediately, which wakes every thread that reads or writes.
    package func hangUp() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Shuts down sending, then reads and drops bytes until the other side finishes sending, for up to two seconds.
    ///
    /// Without this, closing the socket while it has unread bytes would reset the connection. The reset could overtake
    /// the last response on its way to the client (RFC 9112 section 9.6).
    package func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        let deadline = Self.now + 2
        while !Self.readable(of: [self], within: deadline - Self.now).isEmpty,
            let bytes = try? read(upTo: Self.pieceSize), !bytes.isEmpty
        {}
    }

    // MARK: Listening

    /// A socket that has a port of 127.0.0.1, but doesn't listen yet. Port 0 means any free port.
    package static func bound(to port: UInt16) throws(StartError) -> Socket {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw .current("socket") }
        let bound = Socket(owning: descriptor)
        // With this option, a port can be used again while connections of an earlier process are still in TIME_WAIT.
        bound.turnOn(SO_REUSEADDR, at: SOL_SOCKET)
        var address = loopbackAddress(port: port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else { throw .current("bind") }
        return bound
    }

    /// Listens on 127.0.0.1. Port 0 means any free port.
    static func listening(on port: UInt16) throws(StartError) -> Socket {
        let listener = try bound(to: port)
        guard listen(listener.descriptor, 512) == 0 else { throw .current("listen") }
        // A client can leave between poll() and accept(). If accept() could block, it would then wait for another
        // client, and `stop()` couldn't end that wait.
        guard fcntl(listener.descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw .current("fcntl") }
        return listener
    }

    package func localPort() throws(StartError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw .current("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// `nil` if no connection is pending or it can't be accepted.
    func nextConnection() -> Socket? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        let connection = Socket(owning: accepted)
        // Clears O_NONBLOCK. On Darwin, but not on Linux, a connection inherits this flag from the listening socket.
        guard fcntl(accepted, F_SETFL, 0) == 0 else { return nil }
        // The head and the body are written separately. Without this option, Nagle's algorithm would hold back the body
        // until the client acknowledges the head, and clients delay acknowledgments.
        connection.turnOn(TCP_NODELAY, at: Int32(IPPROTO_TCP))
        return connection
    }

    /// Whether the process can open at least `times` more descriptors. To find out, this duplicates this socket's
    /// descriptor, and closes the copies.
    func canBeDuplicated(_ times: Int) -> Bool {
        var copies: [Int32] = []
        while copies.count < times, case let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0), copy >= 0 {
            copies.append(copy)
        }
        for copy in copies { close(copy) }
        return copies.count == times
    }

    package static func loopbackAddress(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    // MARK: Options

    #if canImport(Glibc)
    // Glibc declares SOCK_STREAM as a C enumeration, other C libraries as an integer.
    package static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    package static let streamType = SOCK_STREAM
    #endif

    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    private func turnOn(_ option: Int32, at level: Int32) {
        var on: Int32 = 1
        _ = setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func set(_ option: Int32, seconds: Double?) {
        // To the system, zero means no limit, so the shortest limit is a millisecond. The longest is a day, which the
        // fields can hold on every platform.
        let limit = seconds.map { min(max($0, 0.001), 86_400) } ?? 0
        var time = timeval()
        time.tv_sec = .init(limit)
        time.tv_usec = .init((limit - limit.rounded(.down)) * 1_000_000)
        _ = setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
