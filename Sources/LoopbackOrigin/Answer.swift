public import Foundation
import Loopback

extension LoopbackServer {
    /// What an origin sends back for one request, and how well it does so.
    public struct Answer: Sendable {
        /// The status code (RFC 9110 section 15); 200 by default.
        public var status: Int

        /// The header fields, in the order in which they are sent.
        ///
        /// The origin adds `Content-Length` or `Transfer-Encoding`, and `Connection: close` when it closes, but never a
        /// field that is here already.
        public var headers: [(String, String)]

        /// The whole body. It is not sent in answer to HEAD, nor with 1xx, 204 or 304 (RFC 9112 section 6.3).
        public var body: Data

        /// Whether the body is sent with `Transfer-Encoding: chunked` (RFC 9112 section 7.1) and thus without a length.
        ///
        /// False by default. An HTTP/1.0 client, and an answer with its own `Content-Length`, never get chunks.
        public var chunked: Bool

        /// The seconds between the end of the request and the head of the answer; 0 by default.
        public var delay: Double

        /// The failure to play, or nil, the default, to answer in full.
        public var fault: Fault?

        /// An answer from its parts.
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

        /// 200 with a body of a media type.
        public static func ok(_ body: Data, type: String = "application/octet-stream") -> Answer {
            Answer(headers: [("Content-Type", type)], body: body)
        }

        /// 200 with a text in UTF-8.
        public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Answer {
            ok(Data(text.utf8), type: type)
        }

        /// A status with an empty body.
        public static func status(_ status: Int) -> Answer {
            Answer(status: status)
        }

        /// A redirection (RFC 9110 section 15.4), 302 by default, to an absolute or relative URL reference.
        public static func redirect(to location: String, status: Int = 302) -> Answer {
            Answer(status: status, headers: [("Location", location)])
        }

        /// The same answer, sent this many seconds later than the request; it replaces an earlier delay.
        public func after(seconds delay: Double) -> Answer {
            var answer = self
            answer.delay = delay
            return answer
        }

        /// The same answer with a failure on the way; it replaces an earlier one.
        public func failing(_ fault: Fault) -> Answer {
            var answer = self
            answer.fault = fault
            return answer
        }
    }
}

extension LoopbackServer.Answer {
    /// The status line and the header fields, with those that the origin adds.
    func head(chunked: Bool, closing: Bool) -> ResponseHead {
        var head = ownHead
        if head.field("Content-Length") == nil, head.field("Transfer-Encoding") == nil {
            if chunked {
                head.fields.append(("Transfer-Encoding", "chunked"))
            } else if head.allowsBody {
                head.fields.append(("Content-Length", String(body.count)))
            }
        }
        if closing, head.field("Connection") == nil {
            head.fields.append(("Connection", "close"))
        }
        return head
    }

    /// Whether the body goes out in chunks, which HTTP/1.0 does not know (RFC 9112 section 6.1).
    func isChunked(for request: LoopbackServer.Request) -> Bool {
        chunked && ownHead.allowsBody && request.minorVersion > 0 && ownHead.field("Content-Length") == nil
    }

    /// Whether the connection cannot be used after this answer.
    ///
    /// A length of its own that is not that of the body leaves the client unable to find the next message; but for HEAD, whose
    /// answer ends with its head whatever it declares.
    func endsConnection(for request: LoopbackServer.Request) -> Bool {
        let closes = ownHead.field("Connection").map { $0.lowercased().contains("close") } ?? false
        let miscounts = ownHead.field("Content-Length").map { $0 != String(body.count) } ?? false
        return closes || (miscounts && request.method != "HEAD")
    }

    /// Only what the answer itself says.
    private var ownHead: ResponseHead {
        ResponseHead(status: status, fields: headers.map { (name: $0.0, value: $0.1) })
    }
}
