import Foundation
import Guarded
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A site of pages and their parts, with validators. The parts can be changed.
final class RecordedSite: Sendable {
    struct Part: Codable, Equatable, Sendable {
        let path: String
        let status: Int
        let type: String
        let body: Data
    }

    let parts: [Part]
    /// The paths of parts that have other bytes now.
    let changed = Guarded<Set<String>>([])
    /// How many bodies were sent.
    let bodies = Guarded(0)

    /// - Parameter count: How many pages and parts there are.
    init(count: Int = 50) {
        let kinds = [
            ("page%d", "text/html; charset=utf-8"), ("css/style%d.css", "text/css; charset=utf-8"),
            ("img/picture%d.png", "image/png"), ("data/%d?lang=en&v=%d", "application/json"), ("dir%d/", "text/html"),
        ]
        parts = (0..<count).map { number in
            let (pattern, type) = kinds[number % kinds.count]
            let path = "/" + pattern.replacingOccurrences(of: "%d", with: String(number))
            return Part(path: path, status: 200, type: type, body: Self.body(path, type, isChanged: false))
        }
    }

    private static func body(_ path: String, _ type: String, isChanged: Bool) -> Data {
        let text = String(repeating: "\(isChanged ? "changed " : "")\(path) ", count: 40)
        return type == "image/png"
            ? Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Data(text.utf8) : Data(text.utf8)
    }

    /// Returns a part as it is now.
    func current(_ part: Part) -> Part {
        let isChanged = changed.withLock { $0.contains(part.path) }
        return Part(
            path: part.path,
            status: part.status,
            type: part.type,
            body: Self.body(part.path, part.type, isChanged: isChanged)
        )
    }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard let known = parts.first(where: { $0.path == request.target }) else { return .status(404) }
        let part = current(known)
        let tag = "\"\(part.body.count)\""
        if request.header("If-None-Match") == tag {
            return LoopbackServer.Answer(status: 304, headers: [("ETag", tag)])
        }
        bodies.withLock { $0 += 1 }
        return LoopbackServer.Answer(headers: [("Content-Type", part.type), ("ETag", tag)], body: part.body)
    }
}

extension RecordedSite.Part {
    /// Makes a part from a session's response for a URL.
    init(_ path: String, _ answer: (Data, URLResponse)) {
        self.init(
            path: path,
            status: (answer.1 as? HTTPURLResponse)?.statusCode ?? 0,
            type: answer.1.mimeType ?? "",
            body: answer.0
        )
    }

    /// The same part, with a type that doesn't name a charset.
    var withoutCharset: Self {
        Self(path: path, status: status, type: String(type.prefix { $0 != ";" }), body: body)
    }
}
