public import Foundation
import Loopback

extension LoopbackServer {
    /// An origin's answer to one request: the response, its delay, and a fault to play.
    public struct Answer: Sendable {
        /// The status code (RFC 9110 section 15); 200 by default.
        public var status: Int

        /// The header fields, in the order in which they are sent.
        ///
        /// The origin adds `Content-Length` or `Transfer-Encoding`, and `Connection: close` when it closes the connection, but
        /// never replaces a field listed here.
        public var headers: [(String, String)]

        /// The whole body. It isn't sent in answer to HEAD, or with 1xx, 204 or 304 (RFC 9112 section 6.3).
        public var body: Data

        /// Whether the body is sent with `Transfer-Encoding: chunked` (RFC 9112 section 7.1), and so without a length.
        ///
        /// The default is false. Chunks are never sent to an HTTP/1.0 client, or for an answer with its own `Content-Length`.
        public var chunked: Bool

        /// The seconds between the end of the request and the head of the answer; 0 by default.
        public var delay: Double

        /// The fault to play; `nil`, the default, to answer in full.
        public var fault: Fault?

        /// Creates an answer from its parts.
        public init(
            status: Int = 200,
            headers: [(String, String)] = [],
            body: Data = Data(),
            chunked: Bool = false,
            delay: Double = 0,
            fault: Fault? = nil
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.chunked = chunked
            self.delay = delay
            self.fault = fault
        }

        /// Returns an answer with status 200 and a body of a media type.
        public static func ok(_ body: Data, type: String = "application/octet-stream") -> Answer {
            Answer(headers: [("Content-Type", type)], body: body)
        }

        /// Returns an answer with status 200 and a text in UTF-8.
        public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Answer {
            ok(Data(text.utf8), type: type)
        }

        /// Returns an answer with a status and an empty body.
        public static func status(_ status: Int) -> Answer {
            Answer(status: status)
        }

        /// Returns a redirect (RFC 9110 section 15.4) to an absolute or relative URL reference. The default status is 302.
        public static func redirect(to location: String, status: Int = 302) -> Answer {
            Answer(status: status, headers: [("Location", location)])
        }

        /// Returns the same answer, sent this many seconds after the request. This replaces an earlier delay.
        public func after(seconds delay: Double) -> Answer {
            var answer = self
            answer.delay = delay
            return answer
        }

        /// Returns the same answer with a fault, which replaces an earlier one.
        public func failing(_ fault: Fault) -> Answer {
            var answer = self
            answer.fault = fault
            return answer
        }
    }

    /// A way for an origin to fail while it answers, after the answer's delay.
    ///
    /// A byte count above the length of the body means the whole body. A negative one means none of it.
    public enum Fault: Sendable, Hashable {
        /// Closes the connection without sending a byte.
        case dropBeforeHead

        /// Sends these bytes in place of the answer, then closes the connection.
        case sendInstead(Data)

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

extension LoopbackServer.Answer {
    /// Returns the status line and the header fields, including those that the origin adds.
    func head(chunked: Bool, closing: Bool) -> ResponseHead {
        var head = ownHead
        if head.field("Content-Length") == nil, head.field("Transfer-Encoding") == nil {
            if chunked {
                head.fields.append(("Transfer-Encoding", "chunked"))
            } else if head.allowsBody {
                head.fields.append(("Content-Length", String(body.count)))
            } else if status == 205 {
                head.fields.append(("Content-Length", "0"))
            }
        }
        if closing, head.field("Connection") == nil {
            head.fields.append(("Connection", "close"))
        }
        return head
    }

    /// Returns whether the body is sent in chunks, which HTTP/1.0 doesn't have (RFC 9112 section 6.1).
    func isChunked(for request: LoopbackServer.Request) -> Bool {
        chunked && ownHead.allowsBody && request.minorVersion > 0 && ownHead.field("Content-Length") == nil
    }

    /// Returns whether the connection can't be used after this answer.
    ///
    /// If the answer's own `Content-Length` isn't the body's, the client can't find the next message. HEAD is an exception: its
    /// answer ends with the head, whatever that declares.
    func endsConnection(for request: LoopbackServer.Request) -> Bool {
        let closes = ownHead.field("Connection").map { $0.lowercased().contains("close") } ?? false
        let miscounts = ownHead.field("Content-Length").map { $0 != String(body.count) } ?? false
        return closes || (miscounts && request.method != "HEAD")
    }

    /// The head without the fields that the origin adds.
    private var ownHead: ResponseHead {
        ResponseHead(status: status, fields: headers.map { (name: $0.0, value: $0.1) })
    }
}
