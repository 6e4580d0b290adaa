#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

extension Socket {
    /// Returns a socket that listens on a port of 127.0.0.1. Port 0 takes a free one.
    static func listening(on port: UInt16) throws(StartError) -> Socket {
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw .current("socket") }
        let listener = Socket(owning: descriptor)
        // Lets a fixed port be used again while connections of an earlier process are still in TIME_WAIT.
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

    /// Returns two sockets that are connected to each other.
    package static func pair() throws(StartError) -> (Socket, Socket) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &descriptors) == 0 else { throw .current("socketpair") }
        return (Socket(owning: descriptors[0]), Socket(owning: descriptors[1]))
    }

    /// Returns the port that the socket is bound to.
    func localPort() throws(StartError) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw .current("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Returns the next pending connection; `nil` if there is none or it can't be accepted.
    func nextConnection() -> Socket? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        let connection = Socket(owning: accepted)
        // On Darwin a connection inherits the listener's O_NONBLOCK. On Linux it doesn't.
        guard fcntl(accepted, F_SETFL, 0) == 0 else { return nil }
        // The head and the body are written separately. Nagle's algorithm would hold the body back for a delayed ACK.
        connection.set(TCP_NODELAY, at: Int32(IPPROTO_TCP))
        return connection
    }

    /// Returns the socket address of a port of 127.0.0.1.
    package static func loopbackAddress(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    #if canImport(Glibc)
    // Only Glibc declares it as a C enumeration.
    package static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    package static let streamType = SOCK_STREAM
    #endif
}
