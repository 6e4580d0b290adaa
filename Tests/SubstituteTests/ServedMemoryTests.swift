#if os(Linux)
import Foundation
import LoopbackOrigin
import TestSupport
import Testing

@Suite("The memory of substitute serve", .timeLimit(.minutes(5)))
struct ServedMemoryTests {
    @Test("a file of 1 GiB is sent from its file: it takes at most 16 MiB")
    func largeFile() async throws {
        let folder = try TemporaryFolder()
        try folder.writeMap(
            #"{ "http://site.invalid/small": "small.txt", "http://site.invalid/large": "large.bin" }"#,
            files: ["small.txt": "small", "large.bin": ""]
        )
        // It has a length, and no blocks on the disk.
        let length = 1 << 30
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

    @Test("a response from the network isn't held once it was sent")
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

    /// Returns the length of a body, of which it holds no more than a piece.
    private func load(_ path: String, from port: UInt16) throws -> Int {
        let client = try RawClient(port)
        try client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        let head = try client.read(through: "\r\n\r\n")
        try #require(head.hasPrefix("HTTP/1.1 200 "), "\(head)")
        var length = 0
        while case let piece = try client.connection.read(upTo: 1 << 20), !piece.isEmpty { length += piece.count }
        return length
    }

    /// The most bytes that the process has ever had in memory (proc(5), `VmHWM`).
    private func peak(of server: ServerProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(server.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) << 10
    }
}
#endif
