import Foundation
import TestSupport

@testable import LocalSubstitution
@testable import MapTools

/// One response of an archive, as a browser writes it; `nil` leaves a field out.
struct Recording: Sendable {
    var url: String? = "https://h.com/a"
    var method: String? = "GET"
    var status: Int? = 200
    var mimeType: String? = "text/plain"
    var text: String? = "hello"
    var encoding: String?
    /// The name of the file with the body.
    var file: String?
    /// The length of the decoded body, and of the body as it was received.
    var size = -1
    var bodySize = -1
    var headers: [(String, String)] = []
    /// The request's body and its type.
    var request: (text: String, type: String)?
    /// The fields of the request's form, if the archive has only these.
    var params: [(String, String)] = []
    /// When the request began.
    var time: String?

    var json: [String: Any] {
        var content: [String: Any] = ["size": size]
        content["mimeType"] = mimeType
        content["text"] = text
        content["encoding"] = encoding
        content["_file"] = file
        var request: [String: Any] = [
            "headers": [["name": "Cookie", "value": "s3cr3t"], ["name": "Authorization", "value": "s3cr3t"]],
            "cookies": [["name": "a", "value": "s3cr3t"]],
        ]
        request["postData"] = self.request.map { ["mimeType": $0.type, "text": $0.text] }
        if !params.isEmpty {
            let list = params.map { ["name": $0.0, "value": $0.1] }
            request["postData"] = ["mimeType": "application/x-www-form-urlencoded", "params": list]
        }
        request["url"] = url
        request["method"] = method
        var response: [String: Any] = [
            "content": content, "headers": headers.map { ["name": $0.0, "value": $0.1] }, "bodySize": bodySize,
        ]
        response["status"] = status
        var entry: [String: Any] = [
            "request": request, "response": response, "_initiator": ["stack": ["callFrames": [1, -2.5e3, true]]],
        ]
        entry["startedDateTime"] = time
        return entry
    }

    static func archive(_ recordings: [Recording]) throws -> Data {
        let log: [String: Any] = ["version": "1.2", "pages": [], "entries": recordings.map(\.json)]
        return try JSONSerialization.data(withJSONObject: ["log": log], options: .sortedKeys)
    }
}

/// A folder that archives are imported into.
struct ArchiveFixture {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    var mapFile: URL { folder.file("substitutions.json") }
    var resources: URL { folder.file("Resources") }

    func edited(isDryRun: Bool = false) throws -> EditedMap {
        try EditedMap(mapFile, resources: resources, isDryRun: isDryRun)
    }

    @discardableResult
    func take(
        _ recordings: [Recording],
        _ selection: HTTPArchive.Selection? = nil,
        replacing: Bool = false,
        onlyLast: Bool = false,
        isDryRun: Bool = false
    ) throws -> [HTTPArchive.Item] {
        let archive = try HTTPArchive(Recording.archive(recordings))
        var map = try edited(isDryRun: isDryRun)
        let selection = try selection ?? HTTPArchive.Selection()
        let imported = map.take(archive, selection, replacing: replacing, onlyLast: onlyLast)
        try map.save()
        return imported.items
    }

    func map() throws -> SubstitutionMap {
        try SubstitutionMap(contentsOf: mapFile)
    }

    var mapText: String {
        get throws { try String(contentsOf: mapFile, encoding: .utf8) }
    }

    /// Returns what the map serves for a URL: file, type and bytes.
    func served(
        _ url: String,
        method: String = "GET",
        request: String? = nil
    ) throws -> (file: String, type: String, status: Int, body: Data)? {
        let body = request.map { RequestFacts.Body.data(Data($0.utf8)) } ?? .none
        let match = try map().match(NormalizedURL(url), for: RequestFacts(method: method, body: body))
        guard let substitution = match.substitution, let file = substitution.fileName else { return nil }
        let bytes = try Data(contentsOf: resources.appendingPathComponent(file))
        return (file, substitution.contentType(ofBody: bytes), substitution.status, bytes)
    }

    /// Returns all files in the folder, with their contents.
    func contents() throws -> [String: Data] {
        let names = ResourcesFolder(folder.url).names(limit: .max)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.file($0))) })
    }
}

extension HTTPArchive.Item {
    var file: EditedMap.ResponseFile? { try? outcome.get() }

    var left: Complaint? {
        if case .failure(let reason) = outcome { reason } else { nil }
    }
}
