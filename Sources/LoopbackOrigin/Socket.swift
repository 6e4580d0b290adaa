import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An open stream socket, closed when the last reference to it goes.
///
/// There is no call to close it, so that `hangUp()` is safe on any thread: while somebody holds the socket, its
/// descriptor cannot be closed and come back as that of another file.
final class Socket: Sendable {
    /// The other side has left, or this one has hung up.
    struct Closed: Error {
        /// The bytes of the failed write that the system had taken by then.
        let written: Int
    }

    let descriptor: Int32

    /// Takes over a descriptor.
    init(owning descriptor: Int32) {
        self.descriptor = descriptor
        // By fcntl after the fact, since Darwin has neither SOCK_CLOEXEC nor accept4.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // Keeps a write to a client that left from killing the process; Linux has a flag of send() for it instead.
        set(SO_NOSIGPIPE, at: SOL_SOCKET)
        #endif
    }

    deinit {
        close(descriptor)
    }

    /// Reads what has arrived, or waits for it; returns nothing when the other side has finished.
    func read(upTo count: Int) throws(Closed) -> [UInt8] {
        var received = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            repeat {
                received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            } while received < 0 && errno == EINTR
            initializedCount = max(0, received)
        }
        guard received >= 0 else { throw Closed(written: 0) }
        return bytes
    }

    /// Writes all of the bytes, or waits until it can.
    func write(_ bytes: Data) throws(Closed) {
        let written = bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
                let sent = send(descriptor, rest.baseAddress, rest.count, Self.sendFlags)
                if sent < 0, errno == EINTR { continue }
                guard sent > 0 else { break }
                offset += sent
            }
            return offset
        }
        guard written == bytes.count else { throw Closed(written: written) }
    }

    /// Ends both directions at once, which wakes every thread that reads or writes.
    func hangUp() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends this side's direction, then gives the other side a moment to end its own.
    ///
    /// Closing a socket that has unread bytes resets the connection, and the reset can overtake the last answer on its
    /// way to the client (RFC 9112 section 9.6).
    func finish() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
        let deadline = Self.now + 2
        while Self.firstReadable(of: [self], within: deadline - Self.now) != nil,
            let bytes = try? read(upTo: 64 << 10), !bytes.isEmpty
        {}
    }

    /// Waits, without looking at what comes, until the other side leaves or this one hangs up.
    func waitForEnd() {
        while let bytes = try? read(upTo: 64 << 10), !bytes.isEmpty {}
    }

    /// Waits until one of the sockets has bytes, a connection or an end to give.
    ///
    /// - Returns: The index of the first that has, or nil when the timeout, if there is one, runs out.
    /// - Parameter timeout: In seconds; nil to wait for as long as it takes.
    static func firstReadable(of sockets: [Socket], within timeout: Double?) -> Int? {
        let deadline = timeout.map { now + $0 }
        var polls = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            let left = deadline.map { max(0, $0 - now) }
            // Rounded up, so that a wait never ends early.
            let milliseconds = left.map { Int32(min(($0 * 1_000).rounded(.up), Double(Int32.max))) } ?? -1
            if poll(&polls, nfds_t(polls.count), milliseconds) > 0 {
                return polls.firstIndex { $0.revents != 0 }
            }
            if left == 0 { return nil }
        }
    }
}

extension Socket {
    /// Seconds since some moment before the process began, whatever the clock is set to.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension Socket {
    /// A socket that listens on 127.0.0.1; port 0 takes a free one.
    static func listening(on port: UInt16) throws(LoopbackServer.StartError) -> Socket {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw .current("socket") }
        let listener = Socket(owning: descriptor)
        // A fixed port can be had again while connections of an earlier process linger in TIME_WAIT.
        listener.set(SO_REUSEADDR, at: SOL_SOCKET)
        var address = loopbackAddress(port: port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0 else { throw .current("bind") }
        guard listen(descriptor, 512) == 0 else { throw .current("listen") }
        // A client can leave between poll() and accept(), which would then block beyond the reach of stop().
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw .current("fcntl") }
        return listener
    }

    /// Two sockets connected to each other.
    static func pair() throws(LoopbackServer.StartError) -> (Socket, Socket) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &descriptors) == 0 else { throw .current("socketpair") }
        return (Socket(owning: descriptors[0]), Socket(owning: descriptors[1]))
    }

    /// The port it is bound to.
    func localPort() throws(LoopbackServer.StartError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw .current("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The next pending connection, or nil when there is none or it cannot be had.
    func nextConnection() -> Socket? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        let connection = Socket(owning: accepted)
        // Darwin hands the listener's O_NONBLOCK down to the connection, Linux does not.
        guard fcntl(accepted, F_SETFL, 0) == 0 else { return nil }
        // Head and body are written separately; Nagle's algorithm would hold the body back for a delayed ACK.
        connection.set(TCP_NODELAY, at: Int32(IPPROTO_TCP))
        return connection
    }

    static func loopbackAddress(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    #if canImport(Glibc)
    // Only Glibc declares it as a C enumeration.
    static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    static let streamType = SOCK_STREAM
    #endif

    #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    private func set(_ option: Int32, at level: Int32) {
        var on: Int32 = 1
        _ = setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
