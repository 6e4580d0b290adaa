import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Answers that come in pieces, and answers that code computes, in an attached session.

extension Subject {
    private static let events = String(repeating: "data: \(String(repeating: "x", count: 40))\n\n", count: 1_000)

    fileprivate static let plain = delegated(
        "1,000 events as a plain text, by a delegate",
        #""mimeType": "text/event-stream""#
    )
    fileprivate static let atOnce = delegated(
        "1,000 events, secondsPerEvent: 0, by a delegate",
        #""secondsPerEvent": 0"#
    )

    fileprivate static let handled = Subject("fetch, attached, by an empty handler", operations: 200) {
        let map = try SubstitutionMap(["https://cdn.example.com/*": .handler { _ in .status(200) }])
        let configuration = URLSessionConfiguration.default
        try LocalSubstitutionCache(map: map).attach(to: configuration)
        return fetches((0..<100).map { "https://cdn.example.com/\($0)" }, configuration, size: 0)
    }

    static let emptyByHand = Subject("fetch, by hand, of nothing", operations: 200) {
        let keys = (0..<100).map { "https://nothing.example.com/\($0)" }
        for key in keys { HandWrittenProtocol.bodies[key] = Data() }
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [HandWrittenProtocol.self]
        return fetches(keys, configuration, size: 0)
    }

    /// One stream of 20 pieces; an operation is a piece.
    fileprivate static let spaced = Subject("a piece of a stream, 20 ms after the one before", operations: 20) {
        let pieces = (0..<20).map { _ in SubstitutionMap.Piece.text("x").delay(0.02) }
        let map = try SubstitutionMap(["https://cdn.example.com/s": .stream(pieces)])
        let session = try LocalSubstitutionCache(map: map).makeSession()
        return { _ in
            guard let url = URL(string: "https://cdn.example.com/s") else { return }
            let (data, _) = try await session.data(from: url)
            guard data.count == 20 else { throw NotAnswered(url: url) }
        }
    }

    /// Returns fetches of the events through a delegate.
    private static func delegated(_ name: String, _ field: String) -> Subject {
        Subject(name, operations: 100) {
            let json = "{ \"https://cdn.example.com/e\": { \"text\": \(quoted(events)), \(field) } }"
            let cache = LocalSubstitutionCache(map: try SubstitutionMap(json: Data(json.utf8)))
            let receiver = Receiver()
            let session = try cache.makeSession(delegate: receiver)
            return { count in
                guard let url = URL(string: "https://cdn.example.com/e") else { return }
                for _ in 0..<count {
                    session.dataTask(with: url).resume()
                    for await bytes in receiver.ends.stream {
                        guard bytes == events.utf8.count else { throw NotAnswered(url: url) }
                        break
                    }
                }
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacingOccurrences(of: "\n", with: "\\n"))\""
    }
}

/// Counts the bytes of one task after the other.
private final class Receiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Unchecked, because the session calls its delegate on one serial queue.
    let ends = AsyncStream.makeStream(of: Int.self)
    private var bytes = 0

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { bytes += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(bytes)
        bytes = 0
    }
}

extension Topic {
    static let pieces = Topic(
        name: "pieces",
        subjects: [.plain, .atOnce, .handled, .emptyByHand, .spaced],
        rows: [
            Row(
                "1,000 events with `secondsPerEvent: 0`, per the same bytes at once",
                .time(.atOnce),
                per: .time(.plain),
                .atMost(3)
            ),
            Row(
                "an answer by an empty handler, attached, per hand's",
                .time(.handled),
                per: .time(.emptyByHand),
                .atMost(2)
            ),
            Row(
                "a piece that is due 20 ms after the one before, per 20 ms",
                .time(.spaced),
                per: .limit(0.02, .seconds),
                .atMost(1.25)
            ),
        ]
    )
}
