import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

@Suite("Clients that a server waits for", .waits, .timeLimit(.minutes(5)))
struct SilentClientTests {
    @Test("Clients that send nothing or don't finish a request are disconnected")
    func silentClients() async throws {
        let origin = try LoopbackServer { _ in .text("") }
        defer { origin.stop() }
        let served = try ServedMap("{}", unmatched: .load)
        let port = try served.port(String(origin.baseURL.absoluteString.dropLast()))
        let begun = ["", "GET / HT", "POST / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 9\r\n\r\nabc"]
        let clients = try begun.map { text in
            let client = try RawClient(port)
            try client.send(text)
            return client
        }
        // On another thread, since the other tests need the threads of tasks.
        let answers = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try clients.map { try $0.readToEnd() } }) }
        }
        #expect(answers.map { $0.prefix(12) } == ["", "HTTP/1.1 408", "HTTP/1.1 408"])
        #expect(origin.requests.isEmpty)
    }
}
