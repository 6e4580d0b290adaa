import Foundation
import LocalSubstitution

/// The file in which a recorder keeps notes about its responses, beside its map: `recorder.json`.
struct RecorderFile {
    static let name = "recorder.json"

    /// The notes about one response.
    struct Record: Decodable {
        let file: String
        let bytes: Int
        let digest: String?
        let etag: String?
        let lastModified: String?
        let redirected: Bool?
        /// When the response was recorded or confirmed, in milliseconds since 1970.
        let date: Int
    }

    private struct Contents: Decodable {
        let responses: [String: Record]
    }

    /// Returns the records by canonical URL; `nil` if the file doesn't exist or is damaged.
    static func records(in folder: URL) -> [String: Record]? {
        let path = folder.appendingPathComponent(name, isDirectory: false).path
        return try? JSONDecoder().decode(Contents.self, from: OpenedFile(path: path).contents()).responses
    }

    static func data(_ responses: [String: RecordedResponse]) -> Data {
        let responses = JSONText.lines(responses.mapValues(text), indent: "  ")
        return Data((JSONText.lines(["responses": responses]) + "\n").utf8)
    }

    private static func text(_ kept: RecordedResponse) -> String {
        var members = [
            ("file", JSONText.string(kept.file)), ("bytes", String(kept.bytes)), ("date", String(kept.stamp)),
        ]
        if let digest = kept.digest { members.append(("digest", JSONText.string(digest))) }
        if let tag = kept.entityTag { members.append(("etag", JSONText.string(tag))) }
        if let date = kept.lastModified { members.append(("lastModified", JSONText.string(date))) }
        if kept.isRedirected { members.append(("redirected", "true")) }
        return JSONText.object(members)
    }
}
