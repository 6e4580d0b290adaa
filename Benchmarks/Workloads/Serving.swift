import Foundation
import LocalSubstitution
import LocalSubstitutionServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// A stream of 1,000 pieces, all due at once, from a server on loopback.

extension Subject {
    private static let pieces = (0..<1_000).map { "data: \($0) \(String(repeating: "x", count: 40))\n\n" }

    fileprivate static let wholeFromServer = Subject("1,000 events in one piece, from a server", operations: 20) {
        try served(.text(pieces.joined()))
    }

    fileprivate static let piecesFromServer = Subject("1,000 pieces, from a server", operations: 20) {
        try served(.stream(pieces.map { .text($0) }))
    }

    fileprivate static let chunks = Subject(countOf: "chunks of 1,000 pieces, from a server") {
        let (server, url) = try serve(.stream(pieces.map { .text($0) }))
        return {
            defer { withExtendedLifetime(server) {} }
            return try Chunks.count(of: url)
        }
    }

    private static func served(_ answer: SubstitutionMap.Answer) throws -> @Sendable (Int) async throws -> Void {
        let (server, url) = try serve(answer)
        let length = pieces.joined().utf8.count
        return fetches([url.absoluteString], .ephemeral, size: length) { withExtendedLifetime(server) {} }
    }

    private static func serve(_ answer: SubstitutionMap.Answer) throws -> (SubstitutionServer, URL) {
        let key = "https://cdn.example.com/s"
        let cache = LocalSubstitutionCache(map: try SubstitutionMap([key: answer]))
        let server = try SubstitutionServer(cache: cache)
        guard let url = URL(string: key) else { throw NotAnswered(url: nil) }
        return (server, try server.url(for: url))
    }
}

/// The chunks of a response, as the server sends them.
private enum Chunks {
    static func count(of url: URL) throws -> Int {
        let connection = try TinyServer.connection(to: UInt16(url.port ?? 0))
        defer { close(connection) }
        let request = Array("GET \(url.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        var response = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        guard write(connection, request, request.count) == request.count else { throw NotAnswered(url: url) }
        while case let count = read(connection, &buffer, buffer.count), count > 0 { response += buffer[..<count] }
        guard let head = response.range(of: Data("\r\n\r\n".utf8)) else { throw NotAnswered(url: url) }
        var rest = response[head.upperBound...]
        var chunks = 0
        while let line = rest.range(of: Data("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
        {
            if size == 0 { return chunks }
            chunks += 1
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        throw NotAnswered(url: url)
    }
}

extension Topic {
    static let serving = Topic(
        name: "serving",
        subjects: [.wholeFromServer, .piecesFromServer, .chunks],
        rows: [
            Row(
                "a stream of 1,000 pieces from a server, per the same bytes at once",
                .time(.piecesFromServer),
                per: .time(.wholeFromServer)
            ),
            Row("chunks that the server sends for 1,000 pieces", .count(.chunks), per: .limit(1_000, .count)),
        ]
    )
}
