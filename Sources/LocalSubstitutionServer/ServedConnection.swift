import HTTPSyntax

#if !os(watchOS)
import Dispatch
import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's side of a client's connection. It responds to requests until either side ends the connection.
struct ServedConnection: Sendable {
    let connection: Listener.Connection
    let origins: ServedOrigins
    let loader: DirectLoader
    let rewritesReferences: Bool
    /// How many seconds a client that has closed its side of the connection may wait for the next part of a response.
    let halfClosedSeconds: Double
    let log: (@Sendable (SubstitutionServer.LoggedRequest) -> Void)?

    /// The limits for reading requests, in seconds. Clients are on the same machine, so a client that takes longer has
    /// given up.
    private static let limits = RequestReader.Limits(idleSeconds: 15, headSeconds: 10, bodySeconds: 10)
    /// How long a write waits for the client to accept more bytes, in seconds. A player that is paused for longer loses
    /// its connection, and sends another request later.
    private static let writeSeconds = 60.0
    /// The longest request body that the server accepts, in bytes. Conditions on a body in a map have the same limit.
    private static let longestBody = 8 << 20

    private var socket: Socket { connection.socket }

    func serve() {
        guard let origin = origins.origin(of: connection.port) else { return }
        socket.setWriteLimit(seconds: Self.writeSeconds)
        var reader = RequestReader(socket, limits: Self.limits)
        do {
            while true {
                connection.idle()
                let head = try reader.nextHead()
                connection.busy()
                var request = ServedRequest(head, port: connection.port, of: origin, among: origins)
                guard try Listener.freeingObjects({ try answer(&request, &reader) }) else { return }
            }
        } catch let refusal as HTTPRequest.Refusal {
            _ = try? send(ServedResponse(refusal), to: nil, closes: true)
        } catch {
            // The client has disconnected, or the server was stopped.
        }
    }

    /// Responds to one request. Returns whether the connection stays open for another.
    ///
    /// After a refusal, the connection doesn't stay open, since the request's body wasn't read.
    private func answer(_ request: inout ServedRequest, _ reader: inout RequestReader) throws -> Bool {
        let start = Socket.now
        if let refusal = request.refusal { return try send(refusal, to: request, closes: true) }
        do {
            try reader.readBody(of: &request.received, limit: Self.longestBody)
        } catch let refusal as HTTPRequest.Refusal {
            return try send(ServedResponse(refusal), to: request, closes: true)
        }
        guard let url = request.url else {
            let reason = "“\(request.received.target)” isn't a valid path. Percent-encode its special characters."
            return try send(ServedResponse(status: 400, reason), to: request, closes: true)
        }
        return try send(response(to: request, for: url), to: request, since: start)
    }

    /// Returns the response to a request that isn't refused. A preflight that no entry matches gets the server's own
    /// response, and any other request gets the loader's.
    private func response(to request: ServedRequest, for url: URL) -> ServedResponse {
        let isWanted = { @Sendable [connection, halfClosedSeconds] in
            !connection.stopSignal.isRaised(within: 0)
                && connection.isClientWaiting(halfClosedSeconds: halfClosedSeconds)
        }
        let asked = request.forOrigin(url, isWhole: rewritesReferences && request.asksForDocument)
        if let preflight = request.preflightResponse, !loader.hasEntry(for: asked) { return preflight }
        var response = loader.load(asked, isWanted: isWanted)
        if rewritesReferences, let head = response.response?.head as? HTTPURLResponse, head.statusCode == 206,
            References.Syntax(of: head) != nil
        {
            // The client wants a range of the rewritten body, which isn't the same range of the original. So the whole
            // body is loaded instead.
            response = loader.load(request.forOrigin(url, isWhole: true), isWanted: isWanted)
        }
        return ServedResponse(response, to: request, for: url, rewritesReferences: rewritesReferences)
    }

    // MARK: Sending

    /// Sends a response, and logs the request.
    ///
    /// - Parameters:
    ///   - request: The request; `nil` if its head couldn't be read.
    ///   - closes: Whether the connection is closed afterwards, even if the client would keep it open.
    ///   - start: When the request arrived, as a value of `Socket.now`. The default is now.
    /// - Returns: Whether the connection stays open for another request.
    private func send(
        _ response: ServedResponse,
        to request: ServedRequest?,
        closes: Bool = false,
        since start: Double = Socket.now
    ) throws -> Bool {
        func log(_ bytes: Int, _ failure: String? = nil) {
            self.log?(
                SubstitutionServer.LoggedRequest(
                    method: request?.received.method ?? "?",
                    url: request?.url?.absoluteString ?? request?.received.target ?? "?",
                    status: response.head?.status,
                    source: failure.map { .failed($0) } ?? response.source,
                    warning: request.flatMap { request in
                        response.original?.headers[header: "Set-Cookie"].flatMap {
                            ServedCookies(of: request.origin).warning(about: $0)
                        }
                    },
                    response: response.original,
                    bytes: bytes,
                    seconds: Socket.now - start
                )
            )
        }
        guard var head = response.head else {
            guard case .data(let line) = response.body else { return false }
            log(line.count)
            try socket.write(line)
            return false
        }
        head.fields.append(("Cache-Control", "no-store"))
        let hasBody = head.allowsBody && request?.received.method != "HEAD"
        var keepsAlive = !closes && request?.received.closesConnection == false
        var isChunked = false
        if hasBody {
            if let length = response.body.length {
                head.setField("Content-Length", to: String(length))
            } else if head.field("Content-Length") == nil {
                // HTTP/1.0 has no chunks. There, closing the connection ends the body.
                isChunked = request.map { $0.received.minorVersion > 0 } ?? false
                if isChunked { head.fields.append(("Transfer-Encoding", "chunked")) } else { keepsAlive = false }
            }
        }
        let length = hasBody ? head.field("Content-Length").flatMap { Int($0) } : 0
        // A 205 has no body, and says so (RFC 9110 section 15.3.6).
        if head.status == 205 { head.setField("Content-Length", to: "0") }
        // A 204 must not have `Content-Length`. A 304 may have it: it's the length of the body that a 200 would have.
        // So a 304 loses the header only if the length is zero.
        if head.status == 204 || (head.status == 304 && head.field("Content-Length") == "0") {
            head.setField("Content-Length", to: nil)
        }
        if !keepsAlive { head.fields.append(("Connection", "close")) }
        // If a response is still arriving, it's read to its end even if its body isn't sent, so that the recorder gets
        // all of it.
        let body = hasBody || response.body.length == nil ? response.body : .data(Data())
        let isWhole = try send(body, after: head, length: length, isChunked: isChunked, rate: response.rate, log: log)
        return isWhole && keepsAlive
    }

    /// Sends a head and a body, which may still be arriving. The response is recorded and logged before its last bytes
    /// are sent, so a client that has the whole response can rely on both.
    ///
    /// - Parameters:
    ///   - length: The number of bytes to send; `nil` to send the whole body. Bytes of the body beyond this number
    ///     aren't sent, since the client would read them as the next response.
    ///   - isChunked: Whether to send the body in chunks.
    ///   - rate: How fast to send the body; `nil` to send it at once, or as it arrives.
    ///   - log: Called once, with the number of body bytes that were sent or are about to be sent. If the body can't be
    ///     read to its end, also with the reason.
    /// - Returns: Whether all `length` bytes were sent; `true` if `length` is `nil`.
    private func send(
        _ body: Response.Body,
        after head: ResponseHead,
        length: Int?,
        isChunked: Bool,
        rate: Rate?,
        log: (_ bytes: Int, _ failure: String?) -> Void
    ) throws -> Bool {
        // Sending a head and a short body together takes the system half as long as sending them separately.
        var isTogether = length == 0
        if case .data = body, let length, rate == nil { isTogether = length <= Socket.pieceSize }
        var rest = length
        var sent = 0
        var end = Data()
        var throttled = ThrottledBody(body, at: rate, longestPiece: Socket.pieceSize)
        do {
            if !isTogether { try socket.write(head.encoded) }
            while let (received, _, due) = try throttled.next() {
                try wait(until: due)
                connection.busy()
                let piece = received.prefix(rest ?? received.count)
                guard !piece.isEmpty else { continue }
                rest = rest.map { $0 - piece.count }
                if rest == 0 {
                    end = piece
                    continue
                }
                if isChunked { try socket.writeChunk(piece) } else { try socket.write(piece) }
                sent += piece.count
            }
        } catch {
            log(sent, Self.failure(error))
            throw error
        }
        log(sent + end.count, nil)
        if isChunked { try socket.endChunks() } else { try socket.write(isTogether ? head.encoded + end : end) }
        return rest ?? 0 == 0
    }

    /// Returns why a body can't be read to its end; `nil` if the client has left.
    private static func failure(_ error: any Error) -> String? {
        switch error {
        case is Socket.Closed, URLError.cancelled: nil
        default: error.localizedDescription
        }
    }

    /// Throws if the client leaves or the server is stopped.
    private func wait(until time: DispatchTime) throws {
        while case let seconds = DispatchTime.now().seconds(until: time), seconds > 0 {
            guard !connection.stopSignal.isRaised(within: min(seconds, Self.secondsBetweenQuestions)),
                connection.isClientWaiting(halfClosedSeconds: halfClosedSeconds)
            else { throw Socket.Closed(written: 0) }
        }
    }

    /// The time between two checks of whether a client that waits for a piece is still connected, in seconds.
    private static let secondsBetweenQuestions = 0.5
}

extension DispatchTime {
    /// Returns the seconds until a later time; negative if it's over.
    fileprivate func seconds(until time: DispatchTime) -> Double {
        (Double(time.uptimeNanoseconds) - Double(uptimeNanoseconds)) / 1e9
    }
}

extension ServedResponse {
    fileprivate init(_ refusal: HTTPRequest.Refusal) {
        let reason =
            switch refusal {
            case .timeout: "The request didn't arrive in time. Send it again, without pauses."
            case .bodyTooLarge: "The request's body is too long. Send at most 8 MiB."
            case .headTooLarge: "The request's headers are too long. Send at most 64 KiB of them."
            case .unknownCoding: "The request's body has a transfer coding other than chunked. Use chunked."
            case .malformed: "The request isn't valid HTTP/1.1. Correct its request line, headers or chunks."
            }
        self.init(status: refusal.rawValue, reason)
    }
}
#endif
