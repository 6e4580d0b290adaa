package import Foundation

/// Sends a body whose length isn't known in advance (RFC 9112 section 7.1).
package struct ChunkedWriter: Sendable {
    private let socket: Socket

    package init(_ socket: Socket) {
        self.socket = socket
    }

    /// Sends some of the body. If there are no bytes, it sends nothing, since an empty chunk would end the body.
    ///
    /// - Throws: ``Socket/Closed``, which counts the body's bytes only.
    package func write(_ piece: Data) throws(Socket.Closed) {
        guard !piece.isEmpty else { return }
        let size = Data("\(String(piece.count, radix: 16))\r\n".utf8)
        do {
            try socket.write(size + piece + Data("\r\n".utf8))
        } catch {
            let written = min(max(0, error.written - size.count), piece.count)
            throw Socket.Closed(written: written, isTimeout: error.isTimeout)
        }
    }

    /// Ends the body.
    package func end() throws(Socket.Closed) {
        try socket.write(Data("0\r\n\r\n".utf8))
    }
}
