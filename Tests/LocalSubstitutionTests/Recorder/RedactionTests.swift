import Dispatch
import Foundation
import Guarded
import LoopbackOrigin
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import LocalSubstitutionRecording
@testable import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A recorder's redaction", .sessions, .timeLimit(.minutes(5)))
struct RedactionTests {
    private static let url = "https://h/a"
    private static let secret = "s3cr3t-W0rd"
    private static let validators = ["ETag": "\"1\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]

    /// Replaces the secret in a body.
    private static let redact: RecordedResponse.Redaction = { response in
        let text = String(decoding: response.body, as: UTF8.self)
        response.body = Data(text.replacingOccurrences(of: secret, with: "…").utf8)
    }

    private let fixture: RecorderFixture

    init() throws { fixture = try RecorderFixture() }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let redact: RecordedResponse.Redaction
        var reason: Complaint?
        var body: String?
        var hasValidators = false
    }

    static let rows = [
        Row(testDescription: "leaves it", redact: { _ in }, body: "new \(secret)", hasValidators: true),
        Row(testDescription: "changes it", redact: redact, body: "new …"),
        Row(
            testDescription: "changes a header",
            redact: { $0.headers["X-A"] = "a" },
            body: "new \(secret)",
            hasValidators: true
        ),
        Row(testDescription: "excludes it", redact: { $0.isExcluded = true }, reason: .excludedByClosure),
        Row(
            testDescription: "makes it too large",
            redact: { $0.body = Data(count: 51) },
            reason: .tooLarge(bytes: 51, most: 50)
        ),
        Row(testDescription: "sets a status that isn't recorded", redact: { $0.status = 404 }, reason: .status(404)),
    ]

    @Test("What it leaves replaces an earlier copy, even if that's nothing", arguments: rows)
    func outcomes(_ row: Row) throws {
        try fixture.recordAndClose(Self.url, "old", etag: "\"0\"")
        let recorder = try fixture.open(limit: 1_000, redacting: row.redact)
        let headers = Self.validators.merging(["Content-Type": "text/plain"]) { $1 }
        let outcome = try recorder.record(Self.url, Data("new \(Self.secret)".utf8), headers)
        recorder.flush()
        #expect(outcome.reason == row.reason?.description)
        if case .recorded(_, let bytes, _) = outcome { #expect(bytes == row.body?.utf8.count) }
        #expect(try recorder.body(Self.url) == row.body)
        #expect(try (recorder.validators(for: RecorderFixture.request(Self.url)) != nil) == row.hasValidators)
        let records = try #require(RecorderIndex.notes(in: fixture.folder.url)).compactMapValues(\.first)
        #expect(records[Self.url]?.bytes == row.body?.utf8.count)
        #expect(records[Self.url]?.digest == row.body.map { Digest.hexadecimal(of: Data($0.utf8)) })
        #expect((records[Self.url]?.etag != nil) == row.hasValidators)
        #expect(fixture.files.count == (row.body == nil ? 0 : 1))
    }

    @Test("It's called once, in order, for each response that the rules allow, and a URL's last one counts")
    func calls() throws {
        let seen = Guarded<[String]>([])
        let recorder = try fixture.open { response in
            let text = String(decoding: response.body, as: UTF8.self)
            let line = "\(response.method) \(response.url.path) \(text) \(response.status)"
            seen.withLock { $0.append(line) }
            response.isExcluded = text == "3"
        }
        let rows: [(path: String, status: Int, headers: [String: String])] = [
            ("a", 200, [:]), ("b", 200, [:]), ("a", 200, [:]), ("b", 200, [:]), ("c", 500, [:]),
            ("d", 200, ["Set-Cookie": "a=b"]), ("e?token=1", 200, [:]),
        ]
        for (number, row) in rows.enumerated() {
            let url = "https://h/\(row.path)"
            let received = try Exchange(
                request: RecorderFixture.request(url),
                response: RecorderFixture.response(url, row.status, row.headers),
                body: Data("\(number)".utf8),
                redirects: []
            )
            recorder.record(received) { _ in }
        }
        for _ in 0..<2 { recorder.flush() }
        #expect(seen.withLock { $0 } == ["GET /a 0 200", "GET /b 1 200", "GET /a 2 200", "GET /b 3 200"])
        #expect(try recorder.body("https://h/a") == "2" && recorder.body("https://h/b") == nil)
        #expect(fixture.files.count == 1)
    }

    @Test("Nothing in the folder describes the bytes that the server sent")
    func describingHeaders() throws {
        let recorder = try fixture.open(redacting: Self.redact)
        let marks = [
            "Content-Length": "471147114711", "Content-MD5": "m-d5", "Digest": "sha-256=d1gest",
            "Content-Digest": "sha-256=:c0ntent:",
            "Repr-Digest": "sha-256=:r3pr:", "ETag": "\"e-tag\"", "Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT",
            "Content-Range": "bytes 0-1/2", "Accept-Ranges": "n0ne", "X-Checksum": "ch3ck",
        ]
        // Latin-1, which the entry would have to name if the redacted body weren't UTF-8.
        let body = Data("\(Self.secret) ".utf8) + [0xE9]
        let headers = marks.merging(["Content-Type": "text/html; charset=utf-8", "Content-Language": "de"]) { $1 }
        #expect(try recorder.record(Self.url, body, headers).isRecorded)
        recorder.flush()
        #expect(fixture.mapText.contains(#"{ "file": "h/a.html", "headers": { "Content-Language": "de" } }"#))
        for value in marks.values { try expectNowhere(value) }
        let answer = try #require(try recorder.answer(RecorderFixture.request(Self.url))).response
        let http = try #require(answer.response as? HTTPURLResponse)
        #expect(http.value(forHTTPHeaderField: "Content-Length").map { $0 == String(answer.data.count) } ?? true)
        for name in marks.keys where !["Content-Length", "Accept-Ranges"].contains(name) {
            #expect(http.value(forHTTPHeaderField: name) != marks[name], "\(name)")
        }
    }

    @Test("It sees the headers that are recorded, and those that it sets are written, but for credentials")
    func headers() throws {
        let seen = Guarded<[String: String]>([:])
        let recorder = try fixture.open { response in
            seen.withLock { [headers = response.headers] in $0 = headers }
            response.headers["Content-Type"] = "text/plain; charset=utf-8"
            response.headers["Link"] = nil
            response.headers["X-Recorded"] = "yes"
            response.headers["Set-Cookie"] = "a=\(Self.secret)"
            response.headers["Content-Length"] = "471147114711"
        }
        let sent = ["Content-Type": "text/html", "Link": "<a>", "Content-Language": "de"]
        let all = sent.merging(["ETag": "\"1\"", "X-Other": "x", "Cache-Control": "no-cache"]) { $1 }
        let outcome = try recorder.record(Self.url, Data("body".utf8), all)
        recorder.flush()
        #expect(seen.withLock { $0 } == sent)
        var note: String?
        if case .recorded(_, _, let found) = outcome { note = found }
        #expect(note == "without Content-Length (a map can't set it) and Set-Cookie (it may be a credential)")
        let headers = #"{ "Content-Language": "de", "X-Recorded": "yes" }"#
        #expect(fixture.mapText.contains(#"{ "file": "h/a.txt", "headers": \#(headers) }"#), "\(fixture.mapText)")
        recorder.close()
        let next = try fixture.open()
        #expect(try next.record(Self.url, "other").isRecorded, "it's the recorder's own entry")
    }

    /// A status that a recorded site keeps or doesn't keep, and what the map then has.
    struct StatusRow: Sendable {
        let status: Int
        var location: String?
        var reason: Complaint?
    }

    @Test(
        "A recorded site's response gets the status that it sets, if a site's responses may have that",
        arguments: [
            StatusRow(status: 200), StatusRow(status: 410), StatusRow(status: 302, location: "https://h/b"),
            StatusRow(status: 204, reason: .status(204)), StatusRow(status: 500, reason: .status(500)),
            StatusRow(status: 302, location: "https://h/?token=1", reason: .secretHeader("Location")),
        ]
    )
    func status(_ row: StatusRow) throws {
        let recorder = try fixture.open { response in
            response.status = row.status
            response.headers["Location"] = row.location
        }
        let received = try Exchange(
            request: RecorderFixture.request(Self.url),
            response: RecorderFixture.response(Self.url, 404, ["Content-Type": "text/plain; charset=utf-8"]),
            body: Data("gone".utf8),
            redirects: [],
            isBrowsed: true
        )
        #expect(try recorder.record(received).reason == row.reason?.description)
        recorder.flush()
        let substitution = try fixture.map().substitution(for: #require(URL(string: Self.url)))
        #expect(substitution?.status == (row.reason == nil ? row.status : nil))
        #expect(substitution?.headers["Location"] == (row.reason == nil ? row.location : nil))
    }

    @Test("While it runs, requests are intercepted, responses are recorded, and other recorded responses are returned")
    func holdsUpNothing() throws {
        let (entered, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let recorder = try fixture.open { response in
            guard response.url.path == "/slow" else { return }
            entered.signal()
            goesOn.wait()
        }
        try recorder.record(Self.url, "copy")
        let slow = try Exchange(
            request: RecorderFixture.request("https://h/slow"),
            response: RecorderFixture.response("https://h/slow", 200, [:]),
            body: Data("slow".utf8),
            redirects: []
        )
        // It's saved soon, on the recorder's queue.
        recorder.record(slow) { _ in }
        entered.wait()
        let request = try RecorderFixture.request(Self.url)
        #expect(recorder.takes(request) && recorder.hasAnswer(to: request))
        #expect(try recorder.body(Self.url) == "copy")
        let other = try Exchange(
            request: RecorderFixture.request("https://h/other"),
            response: RecorderFixture.response("https://h/other", 200, [:]),
            body: Data("other".utf8),
            redirects: []
        )
        recorder.record(other) { _ in }
        goesOn.signal()
        #expect(try recorder.body("https://h/slow") == "slow" && recorder.body("https://h/other") == "other")
    }

    @Test("A session delivers what the server sent and requests it again, and offline gets the redacted copy")
    func session() async throws {
        let full = "{\"name\":\"Ada\",\"token\":\"\(Self.secret)\"}"
        let origin = try LoopbackServer { request in
            request.header("If-None-Match") == nil
                ? LoopbackServer.Answer(
                    headers: [("Content-Type", "application/json"), ("ETag", "\"1\"")],
                    body: Data(full.utf8)
                )
                : .status(304)
        }
        let url = origin.url("me")
        let visit = try Visit(fixture.folder.url, redacting: Self.redact)
        for _ in 0..<2 {
            let (data, response) = try await visit.session.data(from: url)
            visit.recorder.flush()
            #expect(String(decoding: data, as: UTF8.self) == full)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") == "\"1\"")
        }
        // The app's own condition. It gets the server's 304, and the copy stays.
        var conditional = URLRequest(url: url)
        conditional.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
        let (_, response) = try await visit.session.data(for: conditional)
        #expect((response as? HTTPURLResponse)?.statusCode == 304)
        visit.recorder.flush()
        try expectNowhere(Self.secret)
        origin.stop()
        let (copy, _) = try await visit.session.data(from: url)
        #expect(String(decoding: copy, as: UTF8.self) == #"{"name":"Ada","token":"…"}"#)
        #expect(visit.cache.statistics.recorded == 1)
        visit.end()
        try expectNowhere(Self.secret)
    }

    @Test("An excluded response is reported, and none of its bytes is in the folder")
    func refused() async throws {
        let origin = try LoopbackServer(routes: ["/me": .text(Self.secret)])
        defer { origin.stop() }
        let visit = try Visit(fixture.folder.url, redacting: { $0.isExcluded = true })
        let events = HeardEvents(of: visit.cache)
        let (data, _) = try await visit.session.data(from: origin.url("me"))
        #expect(data == Data(Self.secret.utf8))
        visit.recorder.flush()
        let reason = "not recorded \(origin.url("me")): the redacting closure excludes it"
        #expect(events.all.map(\.description).contains(reason))
        visit.end()
        try expectNowhere(Self.secret)
    }

    private func expectNowhere(_ text: String) throws {
        let walk = try #require(FileManager.default.enumerator(atPath: fixture.folder.url.path))
        for case let name as String in walk {
            let bytes = (try? Data(contentsOf: fixture.folder.file(name))) ?? Data()
            #expect(bytes.range(of: Data(text.utf8)) == nil && !name.contains(text), "“\(text)” is in \(name)")
        }
    }
}
