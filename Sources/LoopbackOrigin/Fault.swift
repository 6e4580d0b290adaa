extension LoopbackServer {
    /// A way for an origin to fail while it answers, after the answer's delay.
    ///
    /// A byte count above the length of the body means the whole body. A negative one means none of it.
    public enum Fault: Sendable, Hashable {
        /// Closes the connection without sending a byte.
        case dropBeforeHead

        /// Sends a head that promises the whole body, then this many bytes of it, then closes the connection.
        ///
        /// The message is incomplete in the sense of RFC 9112 section 8; a chunked one lacks its last chunk.
        case dropAfter(bodyBytes: Int)

        /// Sends the head and this many bytes of the body, then stays silent on the open connection.
        ///
        /// The silence lasts until ``LoopbackServer/stop()`` is called or the client leaves.
        case stallAfter(bodyBytes: Int)
    }
}
