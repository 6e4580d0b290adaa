import Foundation
import Guarded
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording
@testable import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A recorder's folder, with shortcuts for keeping responses in it.
struct RecorderFixture {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var mapText: String { (try? String(contentsOf: folder.file("substitutions.json"), encoding: .utf8)) ?? "" }

    func open(
        limit: Int = 50_000_000,
        redacting: RecordedResponse.Redaction? = nil
    ) throws -> SubstitutionRecorder {
        try SubstitutionRecorder(folder: folder.url, limit: limit, redacting: redacting)
    }

    /// Keeps a response and releases the folder. A recorder only does that once its queue is done.
    func recordAndClose(_ url: String, _ body: String, etag: String? = nil) throws {
        let recorder = try open()
        try recorder.record(url, body, etag: etag)
        recorder.close()
    }

    /// The names of the files in `Substitutes`.
    var files: [String] { ResourcesFolder(folder.file("Substitutes")).names(limit: .max) }

    /// Loads the folder's map as an app would.
    func map() throws -> SubstitutionMap { try SubstitutionMap(contentsOf: folder.file("substitutions.json")) }

    static func request(_ url: String, _ headers: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    static func response(_ url: String, _ status: Int, _ headers: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: url))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        )
    }
}

extension SubstitutionRecorder {
    @discardableResult
    func record(
        _ url: String,
        _ body: Data,
        _ headers: [String: String] = ["Content-Type": "text/plain; charset=utf-8"],
        status: Int = 200,
        request: [String: String] = [:],
        target: String? = nil
    ) throws -> Exchange.Report {
        let received = try Exchange(
            request: RecorderFixture.request(url, request),
            response: RecorderFixture.response(target ?? url, status, headers),
            body: body,
            redirects: target.map { [try RecorderFixture.request($0)] } ?? []
        )
        return try record(received)
    }

    /// Records a response, writes its body, and returns the outcome.
    func record(_ received: Exchange) throws -> Exchange.Report {
        let outcome = Guarded<Exchange.Report?>(nil)
        record(received) { new in outcome.withLock { $0 = new } }
        writeBodies()
        return try #require(outcome.withLock { $0 })
    }

    @discardableResult
    func record(_ url: String, _ body: String, etag: String? = nil) throws -> Exchange.Report {
        var headers = ["Content-Type": "text/plain; charset=utf-8"]
        headers["ETag"] = etag
        return try record(url, Data(body.utf8), headers)
    }

    func takes(_ request: URLRequest) -> Bool { refusal(of: request) == nil }

    func body(_ url: String, _ headers: [String: String] = [:]) throws -> String? {
        try answer(RecorderFixture.request(url, headers)).map { String(decoding: $0.response.data, as: UTF8.self) }
    }

    func etag(_ url: String) throws -> String? { try validators(for: RecorderFixture.request(url))?.entityTag }
}

extension Exchange.Report {
    var reason: String? { if case .notRecorded(let reason) = self { reason.fragment } else { nil } }
    var isRecorded: Bool { if case .recorded = self { true } else { false } }
    var isUnchanged: Bool { if case .unchanged = self { true } else { false } }
}
