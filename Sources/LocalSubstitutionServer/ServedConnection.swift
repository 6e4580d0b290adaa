import Dispatch
import Foundation
import LocalSubstitution
import Loopback

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if !os(watchOS)
/// One client's connection, from its first request to its close.
struct ServedConnection: Sendable {
    let connection: Listener.Connection
    let responder: ServerResponder
    /// The longest pause in an answer to a client that sends no more, in seconds. Such a client may have left.
    let halfClosedSeconds: Double
    let log: (@Sendable (ServedRequest) -> Void)?

    /// The clients are on the same machine, so one that takes longer has given up.
    private static let limits = RequestReader.Limits(idleSeconds: 15, headSeconds: 10, bodySeconds: 10)
    /// How long a client may take to read what it's sent. A paused player reads nothing, and sends another request later.
    private static let writeSeconds = 60.0
    /// The longest request body, in bytes. Conditions in a map don't look at longer bodies either.
    private static let longestBody = 8 << 20
    /// The size of the pieces in which a body is sent, in bytes.
    private static let pieceSize = 64 << 10

    private var socket: Socket { connection.socket }

    /// Answers requests until one side ends the connection.
    func serve() {
        socket.setWriteLimit(seconds: Self.writeSeconds)
        var reader = RequestReader(socket, limits: Self.limits)
        do {
            while true {
                connection.idle()
                var request = try reader.nextHead()
                connection.busy()
                #if canImport(Darwin)
                // Frees Foundation's autoreleased objects: the thread has no pool, and may serve many requests.
                let goesOn = try autoreleasepool { try answer(&request, &reader) }
                #else
                let goesOn = try answer(&request, &reader)
                #endif
                guard goesOn else { return }
            }
        } catch let refusal as HTTPRequest.Refusal {
            try? refuse(ServedResponse(status: refusal.status, refusal.reason), nil)
        } catch {
            // The client has disconnected, or the server was stopped.
        }
    }

    /// Answers one request. Returns whether the connection stays open for another.
    private func answer(_ request: inout HTTPRequest, _ reader: inout RequestReader) throws -> Bool {
        let start = DispatchTime.now()
        do throws(Refusal) {
            try Refusal.check(request, port: connection.port, responder.origins)
        } catch {
            try refuse(ServedResponse(status: error.status, error.reason), request)
            return false
        }
        do {
            try reader.readBody(of: &request, limit: Self.longestBody)
        } catch let refusal as HTTPRequest.Refusal {
            try refuse(ServedResponse(status: refusal.status, refusal.reason), request)
            return false
        }
        guard let url = responder.url(of: request, at: connection.port) else {
            try refuse(ServedResponse(status: 400, "“\(request.target)” isn't a path."), request)
            return false
        }
        let response = responder.response(to: request, for: url, at: connection.port) {
            [connection, halfClosedSeconds] in
            !connection.stopSignal.isRaised(within: 0)
                && connection.isClientWaiting(halfClosedSeconds: halfClosedSeconds)
        }
        if case .data = response.body {
            // Logged before it's sent, so that a client that has the response finds it in the log.
            record(request, url, response, since: start)
            return try send(response, to: request) { _, _ in }
        }
        var bytes = 0
        var isLogged = false
        defer { if !isLogged { record(request, url, response, sent: bytes, since: start) } }
        return try send(response, to: request) { count, isLast in
            bytes += count
            guard isLast else { return }
            record(request, url, response, sent: bytes, since: start)
            isLogged = true
        }
    }

    /// Sends a response and has the connection closed, since the client's body wasn't read.
    private func refuse(_ response: ServedResponse, _ request: HTTPRequest?) throws {
        let url = request.flatMap { responder.url(of: $0, at: connection.port) }
        record(request, url, response, since: .now())
        _ = try send(response, to: request, closes: true) { _, _ in }
    }

    /// Logs a request.
    ///
    /// - Parameter sent: The number of body bytes that were sent; `nil` for all of them.
    private func record(
        _ request: HTTPRequest?,
        _ url: URL?,
        _ response: ServedResponse,
        sent: Int? = nil,
        since start: DispatchTime
    ) {
        guard let log else { return }
        let whole = sendsBody(response, to: request) ? response.body.length ?? 0 : 0
        log(
            ServedRequest(
                method: request?.method ?? "?",
                url: url?.absoluteString ?? request?.target ?? "?",
                status: response.head.status,
                source: response.source,
                response: response.original,
                bytes: sent ?? whole,
                seconds: Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
            )
        )
    }

    // MARK: Sending

    private func sendsBody(_ response: ServedResponse, to request: HTTPRequest?) -> Bool {
        response.head.allowsBody && request?.method != "HEAD"
    }

    /// Sends a response.
    ///
    /// - Parameters:
    ///   - closes: Whether the connection is closed afterwards, even if the client would keep it open.
    ///   - count: Called with the size of each piece of a long body, and whether it's the last: before the last piece is sent, and
    ///     after each of the others.
    /// - Returns: Whether the connection stays open for another request.
    private func send(
        _ response: ServedResponse,
        to request: HTTPRequest?,
        closes: Bool = false,
        count: (Int, _ isLast: Bool) -> Void
    ) throws -> Bool {
        var head = response.head
        head.fields.append(("Cache-Control", "no-store"))
        let hasBody = sendsBody(response, to: request)
        var keepsAlive = !closes && request?.closesConnection == false
        var isChunked = false
        if hasBody {
            if let length = response.body.length {
                head.fields.removeAll { $0.name.isSameHeader(as: "Content-Length") }
                head.fields.append(("Content-Length", String(length)))
            } else if head.field("Content-Length") == nil {
                // HTTP/1.0 has no chunks, so closing the connection ends the body.
                isChunked = request.map { $0.minorVersion > 0 } ?? false
                if isChunked { head.fields.append(("Transfer-Encoding", "chunked")) } else { keepsAlive = false }
            }
        }
        // In a 304, the length may be that of the body that isn't sent.
        if head.status == 204 || (head.status == 304 && head.field("Content-Length") == "0") {
            head.fields.removeAll { $0.name.isSameHeader(as: "Content-Length") }
        }
        if !keepsAlive { head.fields.append(("Connection", "close")) }
        switch response.body {
        case .data(let data):
            let body = hasBody ? data : Data()
            if body.count <= Self.pieceSize {
                // Sent together, which takes the system half as long.
                try socket.write(head.encoded + body)
            } else {
                try socket.write(head.encoded)
                try socket.write(body)
            }
        case .large(let body):
            if !hasBody || body.range.isEmpty { count(0, true) }
            try socket.write(head.encoded)
            guard hasBody else { break }
            for start in stride(from: body.range.lowerBound, to: body.range.upperBound, by: Self.pieceSize) {
                let end = min(start + Self.pieceSize, body.range.upperBound)
                let piece = try body.file.bytes(start..<end)
                let isLast = end == body.range.upperBound
                if isLast { count(piece.count, true) }
                try socket.write(piece)
                if !isLast { count(piece.count, false) }
            }
        case .arriving(let arriving):
            let length = hasBody ? head.field("Content-Length").flatMap { Int($0) } : 0
            return try send(arriving, after: head, length: length, isChunked: isChunked, count: count) && keepsAlive
        }
        return keepsAlive
    }

    /// Sends a response while it arrives. The end is held back until the response is recorded and logged, so a client that has all
    /// of it finds it in both.
    ///
    /// - Parameter length: The number of bytes to send. No more are sent, since the client would take them for the next response.
    /// - Returns: Whether that many bytes arrived.
    private func send(
        _ response: ArrivingResponse,
        after head: ResponseHead,
        length: Int?,
        isChunked: Bool,
        count: (Int, _ isLast: Bool) -> Void
    ) throws -> Bool {
        var rest = length
        var end = Data()
        if rest == 0 { end = head.encoded } else { try socket.write(head.encoded) }
        while let received = try response.nextBytes() {
            let piece = received.prefix(rest ?? received.count)
            connection.busy()
            guard !piece.isEmpty else { continue }
            rest = rest.map { $0 - piece.count }
            if rest == 0 {
                end = piece
                continue
            }
            if isChunked { try socket.writeChunk(piece) } else { try socket.write(piece) }
            count(piece.count, false)
        }
        count(length == 0 ? 0 : end.count, true)
        if isChunked { try socket.endChunks() } else { try socket.write(end) }
        return rest ?? 0 == 0
    }
}

extension DirectResponse.Body {
    /// The length in bytes; `nil` if it isn't known.
    fileprivate var length: Int? {
        switch self {
        case .data(let data): data.count
        case .large(let body): body.range.count
        case .arriving: nil
        }
    }
}

extension HTTPRequest.Refusal {
    fileprivate var reason: String {
        switch status {
        case 408: "The request didn't arrive in time."
        case 413: "The request's body is too long. The limit is 8 MiB."
        case 431: "The request's header is too long."
        case 501: "The request's body has a transfer coding other than chunked. Use chunked."
        default: "The request isn't valid HTTP/1.1."
        }
    }
}
#endif
