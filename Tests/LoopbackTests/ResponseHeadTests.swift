import Foundation
import Loopback
import TestSupport
import Testing

@Suite("A response", .sessions, .timeLimit(.minutes(5)))
struct ResponseHeadTests {
    @Test(
        "The head has a status and fields",
        arguments: [
            (200, [], "HTTP/1.1 200 OK\r\n\r\n"), (418, [("A", "")], "HTTP/1.1 418 \r\nA: \r\n\r\n"),
            (
                408, [("a-B", "1"), ("A-b", "2\t3 \u{e9}")],
                "HTTP/1.1 408 Request Timeout\r\na-B: 1\r\nA-b: 2\t3 \u{e9}\r\n\r\n"
            ),
        ] as [(Int, [(String, String)], String)]
    )
    func head(status: Int, fields: [(String, String)], text: String) {
        let head = ResponseHead(status: status, fields: fields.map { (name: $0.0, value: $0.1) })
        #expect(String(decoding: head.encoded, as: UTF8.self) == text)
    }

    @Test(
        "Anything that would end a field or a head is removed",
        arguments: [
            ("A", "1\r\nSet-Cookie: a=b"), ("A", "1\n"), ("A", "\r"), ("A", "1\u{0}"), ("A", "\u{7f}"), ("A", "\u{b}"),
            ("", "1"),
            ("A B", "1"), ("A:", "1"), ("A\r\nB", "1"), ("\u{e9}", "1"), ("A\t", "1"), ("(A)", "1"), ("A\n", "1"),
        ]
    )
    func refused(name: String, value: String) {
        let head = ResponseHead(status: 200, fields: [("X", "1"), (name: name, value: value), ("Y", "2")])
        var checked = head
        checked.removeInvalidFields()
        #expect(String(decoding: checked.encoded, as: UTF8.self) == "HTTP/1.1 200 OK\r\nX: 1\r\nY: 2\r\n\r\n")
    }

    @Test("A field is found, whatever the case of its name")
    func field() {
        let head = ResponseHead(status: 200, fields: [("Content-type", "a"), ("content-Type", "b")])
        #expect(head.field("CONTENT-TYPE") == "a")
        #expect(head.field("Content_Type") == nil)
    }

    @Test(
        "The status determines whether there's a body",
        arguments: [(100, false), (199, false), (200, true), (204, false), (205, false), (304, false), (404, true)]
    )
    func body(status: Int, allowsBody: Bool) {
        #expect(ResponseHead(status: status).allowsBody == allowsBody)
    }

    @Test("A body can be sent in chunks")
    func chunks() throws {
        let (one, other) = try Socket.pair()
        for piece in ["hello, world, hello", "", "x"] { try one.writeChunk(Data(piece.utf8)) }
        try one.endChunks()
        one.hangUp()
        #expect(
            String(decoding: try other.read(upTo: 100), as: UTF8.self)
                == "13\r\nhello, world, hello\r\n1\r\nx\r\n0\r\n\r\n"
        )
    }

    @Test("Only the bytes of the body count as written, without the chunk's framing")
    func counted() throws {
        let (one, other) = try Socket.pair()
        one.setWriteLimit(seconds: 0.02)
        let piece = Data(count: 8 << 20)
        let error = #expect(throws: Socket.Closed.self) { try one.writeChunk(piece) }
        one.hangUp()
        var taken = 0
        while case let part = try other.read(upTo: 64 << 10), !part.isEmpty { taken += part.count }
        #expect(error?.written == taken - "800000\r\n".utf8.count)
        #expect(error?.isTimeout == true)
    }
}
