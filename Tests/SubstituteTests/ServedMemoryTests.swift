#if os(Linux)
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("The memory of substitute serve", .sessions, .timeLimit(.minutes(5)))
struct ServedMemoryTests {
    @Test("A file of 256 MiB is sent from its file, which takes at most 16 MiB")
    func largeFile() async throws {
        let folder = try TemporaryFolder()
        try folder.writeMap(
            #"{ "http://site.invalid/small": "small.txt", "http://site.invalid/large": "large.bin" }"#,
            files: ["small.txt": "small", "large.bin": ""]
        )
        // The file has a length, but no blocks on the disk.
        let length = 256 << 20
        let file = try FileHandle(forWritingTo: folder.url.appendingPathComponent("Resources/large.bin"))
        try file.truncate(atOffset: UInt64(length))
        try file.close()
        let server = try await ServerProcess(in: folder, ["--offline"])
        let port = UInt16(try #require(server.baseURL.port))

        #expect(try load("/small", from: port) == 5)
        let before = try peak(of: server)
        #expect(try load("/large", from: port) == length)
        let bytes = try peak(of: server) - before
        #expect(bytes <= 16 << 20)
        #expect(try await server.end().status == 0)
    }

    @Test("A response from the network is released once it's sent")
    func network() async throws {
        let length = 4 << 20
        let origin = try LoopbackServer(routes: ["/": .ok(Data(count: length))])
        defer { origin.stop() }
        let name = String(origin.baseURL.absoluteString.dropLast())
        let folder = try TemporaryFolder()
        try folder.writeMap("{}", files: [:])
        let server = try await ServerProcess(in: folder, ["--origin", name])
        let port = UInt16(try #require(server.baseURL.port))
        for _ in 0..<8 { #expect(try load("/", from: port) == length) }
        let before = try peak(of: server)
        for _ in 0..<32 { #expect(try load("/", from: port) == length) }
        let bytes = try peak(of: server) - before
        #expect(bytes <= 64 << 20)
        #expect(try await server.end().status == 0)
    }

    @Test("Bodies of 60 MB that 24 clients send at once are refused, and aren't held")
    func longBodies() async throws {
        let folder = try TemporaryFolder()
        try folder.writeMap("{}", files: [:])
        let server = try await ServerProcess(in: folder, ["--origin", "http://site.invalid"])
        let port = UInt16(try #require(server.baseURL.port))
        let before = try peak(of: server)
        await withTaskGroup { group in
            for number in 0..<24 {
                group.addTask {
                    // A thread for each, since they wait for the server.
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            try? post(60_000_000, isChunked: number.isMultiple(of: 2), to: port)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        let bytes = try peak(of: server) - before
        #expect(bytes <= 16 << 20)
        // A client that goes on sending may lose its response, so the server's log says what became of it.
        let lines = try await server.end().lines.filter { $0.hasPrefix("POST") }
        #expect(lines.count == 24 && lines.allSatisfy { $0.contains("  413  ") }, "\(lines)")
    }

    /// Sends a body whole, or until the server closes the connection.
    private func post(_ length: Int, isChunked: Bool, to port: UInt16) throws {
        let client = try RawClient(port)
        let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        try client.send("POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(field)\r\n\r\n")
        if isChunked { try client.send(String(length, radix: 16) + "\r\n") }
        let piece = Data(repeating: 0x78, count: 60_000)
        for _ in 0..<(length / piece.count) {
            try client.connection.write(piece)
        }
        _ = try client.readToEnd()
    }

    /// Returns the length of a body. It holds only one piece at a time.
    private func load(_ path: String, from port: UInt16) throws -> Int {
        let client = try RawClient(port)
        try client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        let head = try client.read(through: "\r\n\r\n")
        try #require(head.hasPrefix("HTTP/1.1 200 "), "\(head)")
        var length = 0
        while case let piece = try client.connection.read(upTo: 1 << 20), !piece.isEmpty { length += piece.count }
        return length
    }

    /// The most bytes that the process has ever had in memory.
    private func peak(of server: ServerProcess) throws -> Int {
        try ProcessMemory.bytes("VmHWM", of: "\(server.identifier)")
    }
}
#endif
