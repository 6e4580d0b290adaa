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

@Suite("Several representations of one URL", .threads, .timeLimit(.minutes(5)))
struct RepresentationTests {
    private let fixture: RecorderFixture

    init() throws { fixture = try RecorderFixture() }

    /// A response of an origin that chooses it by request headers.
    struct Chosen: Sendable {
        let headers: [String: String]
        let type: String
        let body: String
    }

    struct Site: CustomTestStringConvertible, Sendable {
        let vary: String
        let chosen: [Chosen]
        /// Requests that weren't recorded, and the bodies that they get.
        let others: [(headers: [String: String], body: String)]
        var testDescription: String { vary }

        /// Returns the response for a request; `nil` if the origin has none.
        func response(_ header: (String) -> String?) -> Chosen? {
            let names = Set(chosen.flatMap(\.headers.keys)).subtracting(["Sec-Fetch-Dest"])
            return chosen.first { response in names.allSatisfy { header($0) == response.headers[$0] } }
        }
    }

    private static let page = "text/html,application/xhtml+xml,image/avif,*/*;q=0.8"

    static let sites: [Site] = [
        Site(
            vary: "Accept",
            chosen: [
                Chosen(headers: ["Accept": "*/*"], type: "application/json", body: "{}"),
                Chosen(headers: ["Accept": "application/ld+json"], type: "application/ld+json", body: "[]"),
                Chosen(headers: ["Accept": page, "Sec-Fetch-Dest": "document"], type: "text/html", body: "<p>page"),
            ],
            others: [
                (["Accept": "text/html,*/*;q=0.9"], "<p>page"), ([:], "<p>page"), (["accept": "*/*"], "{}"),
            ]
        ),
        Site(
            vary: "HX-Request, accept-encoding",
            chosen: [
                Chosen(headers: [:], type: "text/html", body: "<html><p>whole"),
                Chosen(headers: ["HX-Request": "true"], type: "text/html", body: "<p>part"),
            ],
            others: [(["HX-Request": "false"], "<html><p>whole"), (["hx-request": "true"], "<p>part")]
        ),
        Site(
            vary: "RSC, Next-Router-State-Tree, Next-Router-Prefetch, Accept-Encoding",
            chosen: [
                Chosen(
                    headers: ["RSC": "1", "Next-Router-State-Tree": "%5B*%22a%5D"],
                    type: "text/x-component",
                    body: "0:a"
                ),
                Chosen(headers: [:], type: "text/html", body: "<html>"),
                Chosen(
                    headers: ["RSC": "1", "Next-Router-State-Tree": "%5B%22b%5D"],
                    type: "text/x-component",
                    body: "0:b"
                ),
            ],
            others: [
                (["RSC": "1"], "<html>"),
                (["RSC": "1", "Next-Router-State-Tree": "%5Bx%22a%5D"], "<html>"),
                (["RSC": "1", "Next-Router-State-Tree": "%5B%22b%5D", "Next-Router-Prefetch": "1"], "0:b"),
            ]
        ),
        Site(
            vary: "X-Inertia",
            chosen: [
                Chosen(headers: ["X-Inertia": "true"], type: "application/json", body: #"{"component": "Cart"}"#),
                Chosen(headers: [:], type: "text/html", body: "<div id=app>"),
            ],
            others: [(["Cookie": "a=b"], "<div id=app>")]
        ),
        Site(
            vary: "Turbo-Frame",
            chosen: [
                Chosen(headers: ["Turbo-Frame": "cart"], type: "text/html", body: "<turbo-frame id=cart>"),
                Chosen(headers: ["Turbo-Frame": "menu"], type: "text/html", body: "<turbo-frame id=menu>"),
                Chosen(headers: [:], type: "text/html", body: "<html>"),
            ],
            others: [(["Turbo-Frame": "other"], "<html>")]
        ),
    ]

    @Test("Each client gets its own again: at once, after reopening, and from the map alone", arguments: sites)
    func replay(_ site: Site) async throws {
        let origin = try LoopbackServer { request in
            guard let chosen = site.response({ request.header($0) }) else { return .status(500) }
            let headers = [("Content-Type", chosen.type), ("Vary", site.vary)]
            return LoopbackServer.Answer(headers: headers, body: Data(chosen.body.utf8))
        }
        let url = origin.url("items").absoluteString
        let expected = site.chosen.map { ($0.headers, $0.body) } + site.others.map { ($0.headers, $0.body) }
        func check(_ visit: Visit) async throws {
            for (headers, body) in expected where headers["Cookie"] == nil {
                let data = try await visit.session.data(for: RecorderFixture.request(url, headers)).0
                #expect(String(decoding: data, as: UTF8.self) == body, "\(headers)")
            }
        }
        let visit = try Visit(fixture.folder.url)
        for chosen in site.chosen {
            let request = try RecorderFixture.request(url, chosen.headers)
            #expect(try await visit.session.data(for: request).0 == Data(chosen.body.utf8))
        }
        origin.stop()
        try await check(visit)
        visit.end()
        let text = fixture.mapText
        let offline = try Visit(fixture.folder.url, unmatched: .fail)
        try await check(offline)
        offline.end()
        #expect(fixture.mapText == text)

        let cache = LocalSubstitutionCache(map: try fixture.map())
        for (headers, body) in expected {
            let found = try #require(cache.cachedResponse(for: RecorderFixture.request(url, headers)))
            #expect(String(decoding: found.data, as: UTF8.self) == body, "\(headers)")
            #expect(found.response.mimeType == site.chosen.first { $0.body == body }?.type)
        }
        #expect(fixture.files.count == site.chosen.count)
    }

    /// The headers of requests in order, each with another response, and which of them a client without any header gets.
    static let fallbacks: [(requests: [[String: String]], place: Int)] = [
        ([["Accept": "a"], [:], ["Accept": "b", "Sec-Fetch-Dest": "document"]], 1),
        ([["Accept": "a"], ["Accept": "b", "Sec-Fetch-Dest": "document"], ["Accept": "c"]], 1),
        ([["Accept": "b"], ["Accept": "a"]], 0),
        ([["Accept": "a", "HX-Request": "true"], ["Accept": "b"]], 1),
        ([["HX-Request": "true"], ["HX-Request": "true", "Accept": "a"], [:]], 2),
    ]

    @Test(
        "Other clients get what was requested without the header, or the page, or what came first",
        arguments: fallbacks
    )
    func fallback(requests: [[String: String]], place: Int) throws {
        let recorder = try fixture.open()
        for (number, headers) in requests.enumerated() {
            #expect(try record(recorder, "body \(number)", for: headers, vary: "Accept, HX-Request").isRecorded)
        }
        let unknown = ["Accept": "x", "HX-Request": "x"]
        #expect(try recorder.body(Self.url, unknown) == "body \(place)")
        recorder.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        let found = try #require(cache.cachedResponse(for: RecorderFixture.request(Self.url, unknown)))
        #expect(found.data == Data("body \(place)".utf8))
    }

    @Test("A condition has only the headers in which the requests differ")
    func onlyWhatDiffers() throws {
        let recorder = try fixture.open()
        let same = ["Accept-Language": "de", "X-Token": "secret"]
        let vary = "Accept, ACCEPT-LANGUAGE, hx-request, X-Token, Cookie, User-Agent, Origin"
        try record(recorder, "one", for: same.merging(["Accept": "a*"]) { $1 }, vary: vary)
        try record(recorder, "two", for: same.merging(["accept": "b*"]) { $1 }, vary: vary)
        recorder.close()
        let digest = Digest.hexadecimal(of: Data("two".utf8)).prefix(8)
        #expect(
            fixture.mapText == """
                {
                  "https://h/a": [
                    { "when": { "headers": { "Accept": "b\\\\*" } }, "file": "h/a-\(digest).txt" },
                    "h/a.txt"
                  ]
                }

                """
        )
        #expect(!(try String(contentsOf: fixture.folder.file("recorder.json"), encoding: .utf8)).contains("secret"))
    }

    @Test("The same bytes and type are one file, and need no condition")
    func same() throws {
        let recorder = try fixture.open()
        for accept in ["a", "b", "c"] { try record(recorder, "one", for: ["Accept": accept], vary: "Accept") }
        recorder.close()
        #expect(fixture.mapText == "{\n  \"https://h/a\": \"h/a.txt\"\n}\n")
        // The recorder still knows who got this, when a client gets something else.
        let again = try fixture.open()
        try record(again, "two", for: ["Accept": "a"], vary: "Accept")
        #expect(try ["a", "b", "c"].map { try again.body(Self.url, ["Accept": $0]) } == ["two", "one", "one"])
        #expect(try record(again, "one", for: ["Accept": "a"], vary: "Accept").isUnchanged)
        again.close()
        #expect(fixture.mapText == "{\n  \"https://h/a\": \"h/a.txt\"\n}\n" && fixture.files == ["h/a.txt"])
    }

    @Test("The same bytes with another number of requests that a client may still make are no other representation")
    func rates() throws {
        let recorder = try fixture.open()
        for (accept, left) in [("a", "9"), ("b", "8"), ("c", "7")] {
            let headers = [
                "Content-Type": "text/plain; charset=utf-8", "Vary": "Accept", "X-RateLimit-Remaining": left,
            ]
            try recorder.record(Self.url, Data("x".utf8), headers, request: ["Accept": accept])
        }
        recorder.close()
        let entry = #"{ "file": "h/a.txt", "headers": { "X-RateLimit-Remaining": "7" } }"#
        #expect(fixture.mapText == "{\n  \"https://h/a\": \(entry)\n}\n")
    }

    @Test("The same bytes with another type are another representation")
    func sameBytes() throws {
        let recorder = try fixture.open()
        for type in ["text/html", "text/plain"] {
            let headers = ["Content-Type": type, "Vary": "Accept"]
            try recorder.record(Self.url, Data("x".utf8), headers, request: ["Accept": type])
        }
        recorder.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for type in ["text/html", "text/plain"] {
            let found = cache.cachedResponse(for: try RecorderFixture.request(Self.url, ["Accept": type]))
            #expect(found?.response.mimeType == type)
        }
    }

    /// What `Vary` says, and whether the log says that an earlier response is gone.
    static let unusableHeaders: [(vary: String?, isSaid: Bool)] = [
        ("*", true), ("Accept, *", true), ("Cookie", true), ("User-Agent", true), ("Accept-Encoding, Cookie", true),
        ("X-Api-Key", true), ("Accept-Encoding", false), ("origin", false), (nil, false), (",", false),
    ]

    @Test("Without a header that a condition can compare, the last response stays", arguments: unusableHeaders)
    func lastStays(vary: String?, isSaid: Bool) throws {
        let recorder = try fixture.open()
        let names = ["Accept", "Cookie", "User-Agent", "X-Api-Key", "Accept-Encoding", "Origin"]
        var notes: [String?] = []
        for body in ["one", "two"] {
            let headers = Dictionary(uniqueKeysWithValues: names.map { ($0, body) })
            let report = try record(recorder, body, for: headers, vary: vary)
            if case .recorded(_, _, let note) = report { notes.append(note) }
        }
        #expect(notes == [nil, isSaid ? RecordingRules.keptLast : nil])
        #expect(try recorder.body(Self.url, ["Cookie": "one"]) == "two")
        recorder.close()
        #expect(!fixture.mapText.contains("when") && fixture.files.count == 1)
    }

    @Test("The same bytes that arrive together for two requests are one file")
    func sameTogether() throws {
        let recorder = try fixture.open()
        do {
            // Until it's released, nothing is saved, however long this takes.
            let turn = try FolderTurn(fixture.folder.url)
            for accept in ["a", "b"] {
                recorder.record(try exchange("one", for: ["Accept": accept], vary: "Accept")) { _ in }
            }
            recorder.writeBodies()
            withExtendedLifetime(turn) {}
        }
        recorder.close()
        #expect(fixture.mapText == "{\n  \"https://h/a\": \"h/a.txt\"\n}\n" && fixture.files == ["h/a.txt"])
    }

    @Test("Of two responses that arrive together, the log says that the earlier one is gone")
    func together() throws {
        let recorder = try fixture.open()
        let notes = Guarded<[String?]>([])
        // Until it's released, nothing is saved, however long this takes.
        let turn = try FolderTurn(fixture.folder.url)
        for body in ["one", "two"] {
            recorder.record(try exchange(body, for: [:], vary: "*")) { report in
                if case .recorded(_, _, let note) = report { notes.withLock { $0.append(note) } }
            }
        }
        recorder.writeBodies()
        withExtendedLifetime(turn) {}
        #expect(notes.withLock { $0 } == [RecordingRules.keptLast])
    }

    @Test("Recording again replaces, and a 404 removes, only what the same request got")
    func again() throws {
        let requests: [[String: String]] = [[:], ["HX-Request": "true"], ["HX-Request": "2"]]
        let first = try fixture.open()
        for (number, headers) in requests.enumerated() {
            try record(first, "old \(number)", for: headers, vary: "HX-Request", etag: "\"\(number)\"")
        }
        first.close()
        let second = try fixture.open()
        try record(second, "new", for: requests[1], vary: "HX-Request", etag: "\"new\"")
        #expect(try requests.map { try second.body(Self.url, $0) } == ["old 0", "new", "old 2"])
        let tags = try requests.map { try second.validators(for: RecorderFixture.request(Self.url, $0))?.entityTag }
        #expect(tags == ["\"0\"", "\"new\"", "\"2\""])
        // The server may have something else for this request.
        #expect(try second.validators(for: RecorderFixture.request(Self.url, ["HX-Request": "3"])) == nil)
        second.close()
        #expect(fixture.files.count == 3)
        let third = try fixture.open()
        try third.record(Self.url, Data(), [:], status: 404, request: requests[2])
        try third.record(Self.url, Data(), [:], status: 404, request: ["HX-Request": "3"])
        #expect(try requests.map { try third.body(Self.url, $0) } == ["old 0", "new", "old 0"])
        third.close()
        #expect(fixture.files.count == 2)
        #expect(fixture.mapText.contains("when"))
        let fourth = try fixture.open()
        try fourth.record(Self.url, Data(), [:], status: 404, request: requests[1])
        fourth.close()
        #expect(fixture.mapText == "{\n  \"https://h/a\": \"h/a.txt\"\n}\n")
    }

    @Test("A 304 confirms what the same request got, and another request isn't conditional")
    func confirmed() async throws {
        let site = Self.sites[4]
        let origin = try LoopbackServer { request in
            // The origin has one date for all of them.
            if request.header("If-Modified-Since") != nil { return .status(304) }
            guard let chosen = site.response({ request.header($0) }) else { return .status(500) }
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            let headers = [("Content-Type", chosen.type), ("Vary", site.vary), ("Last-Modified", date)]
            return LoopbackServer.Answer(headers: headers, body: Data(chosen.body.utf8))
        }
        defer { origin.stop() }
        let url = origin.url("items").absoluteString
        let visit = try Visit(fixture.folder.url)
        defer { visit.end() }
        for _ in 0..<2 {
            for chosen in site.chosen {
                let data = try await visit.session.data(for: RecorderFixture.request(url, chosen.headers)).0
                #expect(String(decoding: data, as: UTF8.self) == chosen.body)
            }
            visit.recorder.flush()
        }
        let areConditional = origin.requests.map { $0.header("If-Modified-Since") != nil }
        #expect(areConditional == [false, false, false, true, true, true])
    }

    @Test("A URL has at most 16 representations, and the oldest go first, but not the one for all other requests")
    func bounded() throws {
        let recorder = try fixture.open()
        for number in 0..<20 { try record(recorder, "\(number)", for: ["RSC": "\(number)"], vary: "RSC") }
        recorder.close()
        #expect(fixture.files.count == 16)
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for number in [0] + Array(5..<20) {
            let request = try RecorderFixture.request(Self.url, ["RSC": "\(number)"])
            #expect(cache.cachedResponse(for: request)?.data == Data("\(number)".utf8))
        }
        let other = try fixture.open()
        for number in 0..<40 { try record(other, "same", for: ["RSC": "\(number)"], vary: "RSC") }
        try record(other, "last", for: ["RSC": "39"], vary: "RSC")
        other.close()
        #expect(try fixture.map().entries.map(\.responding.count) == [2])
    }

    @Test("Beyond 16 different responses or requests, the log says that an older one is gone")
    func boundedNotes() throws {
        func isGone(_ report: Exchange.Report) -> Bool {
            if case .recorded(_, _, RecordingRules.keptNewest?) = report { true } else { false }
        }
        let recorder = try fixture.open()
        let gone = try (0..<20).map {
            isGone(try record(recorder, "\($0)", for: ["RSC": "\($0)"], vary: "RSC"))
        }
        #expect(gone == Array(repeating: false, count: 16) + Array(repeating: true, count: 4))
        #expect(recorder.newOrChanged == 16)
        recorder.close()
        let other = try RecorderFixture()
        let next = try other.open()
        // Requests for what all others get, too, can't be told apart from them.
        for number in 0..<20 {
            #expect(!isGone(try record(next, "page", for: number == 0 ? [:] : ["RSC": "\(number)"], vary: "RSC")))
        }
        let parts = try (20..<40).map { isGone(try record(next, "part", for: ["RSC": "\($0)"], vary: "RSC")) }
        #expect(parts == Array(repeating: false, count: 16) + Array(repeating: true, count: 4))
        #expect(next.newOrChanged == 2)
        next.close()
    }

    @Test("Beyond 16, the response for all other requests stays, and so does the request that makes it that")
    func boundedPage() throws {
        let recorder = try fixture.open()
        try record(recorder, "page", for: [:], vary: "RSC")
        for number in 0..<20 { try record(recorder, "\(number)", for: ["RSC": "\(number)"], vary: "RSC") }
        for number in 20..<40 { try record(recorder, "page", for: ["RSC": "\(number)"], vary: "RSC") }
        recorder.close()
        #expect(fixture.files.count == 16)
        let cache = LocalSubstitutionCache(map: try fixture.map())
        #expect(cache.cachedResponse(for: try RecorderFixture.request(Self.url, [:]))?.data == Data("page".utf8))
        let again = try fixture.open()
        #expect(try again.body(Self.url) == "page")
        again.close()
    }

    @Test(
        "If the server stops naming headers, what it chose by them before stays apart, and the map valid",
        arguments: [false, true]
    )
    func withoutVary(isOther: Bool) throws {
        let recorder = try fixture.open()
        let part = isOther ? ["HX-Request": "true", "RSC": "1"] : ["HX-Request": "true"]
        try record(recorder, "a", for: [:], vary: "HX-Request")
        try record(recorder, "b", for: part, vary: isOther ? "HX-Request, RSC" : "HX-Request")
        try record(recorder, "c", for: [:], vary: nil)
        try record(recorder, "d", for: part, vary: nil)
        #expect(try [[:], part].map { try recorder.body(Self.url, $0) } == ["c", "d"])
        recorder.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for (headers, body) in [([:], "c"), (part, "d")] as [([String: String], String)] {
            #expect(cache.cachedResponse(for: try RecorderFixture.request(Self.url, headers))?.data == Data(body.utf8))
        }
        let again = try fixture.open()
        #expect(try [[:], part].map { try again.body(Self.url, $0) } == ["c", "d"])
        again.close()
        #expect(fixture.files.count == 2)
    }

    @Test("A request that moved to another response before the recorder was killed is right in the map")
    func killedAfterMoving() throws {
        let recorder = try fixture.open()
        for accept in ["a", "b"] { try record(recorder, "same", for: ["Accept": accept], vary: "Accept") }
        recorder.flush()
        let notes = try Data(contentsOf: fixture.folder.file("recorder.json"))
        try record(recorder, "new", for: ["Accept": "b"], vary: "Accept")
        recorder.close()
        let text = fixture.mapText
        try notes.write(to: fixture.folder.file("recorder.json"))
        try fixture.folder.write(".recorder.journal", fixture.files.map { "\($0)\n" }.joined())
        let again = try fixture.open()
        #expect(fixture.mapText == text && fixture.files.count == 2)
        #expect(try ["a", "b"].map { try again.body(Self.url, ["Accept": $0]) } == ["same", "new"])
        try record(again, "newest", for: ["Accept": "b"], vary: "Accept")
        again.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        let bodies = try ["a", "b"].map { accept in
            let found = cache.cachedResponse(for: try RecorderFixture.request(Self.url, ["Accept": accept]))
            return found.map { String(decoding: $0.data, as: UTF8.self) }
        }
        #expect(bodies == ["same", "newest"])
    }

    @Test("Many names and long values in a hostile response cost little, and aren't noted", .timeLimit(.minutes(1)))
    func hostile() throws {
        let recorder = try fixture.open()
        let names = (0..<30_000).map { "a\($0)" }.joined(separator: ", ")
        for number in 0..<20 { try record(recorder, "\(number)", for: ["a1": "\(number)"], vary: names) }
        #expect(try recorder.body(Self.url) == "19")
        for number in 0..<20 {
            let value = String(repeating: "x", count: 60_000) + "\(number)"
            try record(recorder, "long \(number)", for: ["RSC": value], vary: "RSC")
        }
        #expect(try recorder.body(Self.url) == "long 19")
        recorder.close()
        #expect(fixture.files.count == 1)
        #expect(try Data(contentsOf: fixture.folder.file("recorder.json")).count < 1_000)
    }

    @Test("The limit counts each representation, and the oldest ones go")
    func limit() throws {
        let recorder = try fixture.open(limit: 100)
        for number in 0..<30 { try record(recorder, "body\(number % 10)", for: ["RSC": "\(number)"], vary: "RSC") }
        for path in 0..<30 { try recorder.record("https://h/\(path)", "12345") }
        recorder.close()
        #expect(fixture.files.count == 20)
        #expect(try fixture.map().count == 20)
    }

    @Test("Without its notes, the recorder knows the requests from the map", arguments: [true, false])
    func withoutNotes(isKilled: Bool) throws {
        let recorder = try fixture.open()
        try record(recorder, "page", for: ["Accept": "a"], vary: "Accept, RSC")
        let before = fixture.folder.file("recorder.json")
        recorder.flush()
        let notes = try Data(contentsOf: before)
        try record(recorder, "data", for: ["RSC": "1*"], vary: "Accept, RSC")
        recorder.close()
        let text = fixture.mapText
        if isKilled {
            // As after a kill between writing the map and the notes.
            try notes.write(to: before)
            try fixture.folder.write(".recorder.journal", fixture.files.map { "\($0)\n" }.joined())
        } else {
            try fixture.folder.remove("recorder.json")
        }
        let again = try fixture.open()
        #expect(fixture.mapText == text && fixture.files.count == 2)
        #expect(try again.body(Self.url, ["RSC": "1*"]) == "data")
        try record(again, "new", for: ["RSC": "1*"], vary: "Accept, RSC")
        again.close()
        #expect(fixture.files.count == 2)
        let cache = LocalSubstitutionCache(map: try fixture.map())
        for (headers, body) in [(["RSC": "1*"], "new"), (["Accept": "a"], "page"), ([:], "page")] {
            let found = cache.cachedResponse(for: try RecorderFixture.request(Self.url, headers))
            #expect(found?.data == Data(body.utf8))
        }
    }

    @Test("A representation whose file is gone is dropped, and the others stay", arguments: [true, false])
    func lostFile(isOpen: Bool) throws {
        let open = try recorder(of: 3, whileOpen: isOpen) {
            let digest = Digest.hexadecimal(of: Data("1".utf8)).prefix(8)
            try fixture.folder.remove("Substitutes/h/a-\(digest).txt")
        }
        try open.record("https://h/b", "b")
        open.close()
        let cache = LocalSubstitutionCache(map: try fixture.map())
        let bodies = try (0..<3).map { number in
            let found = cache.cachedResponse(for: try RecorderFixture.request(Self.url, ["RSC": "\(number)"]))
            return found.map { String(decoding: $0.data, as: UTF8.self) }
        }
        #expect(bodies == ["0", "0", "2"])
    }

    @Test("Alternatives that a person changed or wrote stay", arguments: [true, false])
    func edited(isOpen: Bool) throws {
        let open = try recorder(of: 2, whileOpen: isOpen) {
            let text = fixture.mapText.replacing(#""RSC": "1" } }, "#, with: #""RSC": "1" } }, "comment": "mine", "#)
            try fixture.folder.write("substitutions.json", text)
        }
        try #require(fixture.mapText.contains("mine"))
        try open.record("https://h/b", "b")
        open.flush()
        #expect(fixture.mapText.contains("mine"))
        #expect(try record(open, "new", for: ["RSC": "1"], vary: "RSC").reason != nil)
        #expect(try open.body(Self.url, ["RSC": "1"]) == "1" && open.body(Self.url) == "0")
        open.close()
    }

    @Test("Fields of $defaults don't change a representation")
    func defaults() throws {
        let defaults =
            #"{"$defaults": {"use": "whenOffline", "ignoreQuery": true, "methods": ["POST"], "charset": "x"}}"#
        try fixture.folder.write("substitutions.json", defaults)
        for body in ["old", "new"] {
            let recorder = try fixture.open()
            try record(recorder, "page", for: [:], vary: "RSC")
            try record(recorder, body, for: ["RSC": "1"], vary: "RSC")
            recorder.close()
            let cache = LocalSubstitutionCache(map: try fixture.map())
            for (headers, body) in [([:], "page"), (["RSC": "1"], body)] as [([String: String], String)] {
                let found = cache.cachedResponse(for: try RecorderFixture.request(Self.url, headers))
                #expect(found?.data == Data(body.utf8), "\(fixture.mapText)")
            }
        }
        #expect(fixture.files.count == 2)
    }

    // MARK: Keeping

    private static let url = "https://h/a"

    /// Records a number of representations, changes something in the folder while the recorder is open or closed, and
    /// returns an open recorder.
    private func recorder(
        of count: Int,
        whileOpen: Bool,
        _ change: () throws -> Void
    ) throws -> SubstitutionRecorder {
        let recorder = try fixture.open()
        for number in 0..<count { try record(recorder, "\(number)", for: ["RSC": "\(number)"], vary: "RSC") }
        recorder.flush()
        if !whileOpen { recorder.close() }
        try change()
        return whileOpen ? recorder : try fixture.open()
    }

    private func exchange(
        _ body: String,
        for request: [String: String],
        vary: String?,
        etag: String? = nil
    ) throws -> Exchange {
        var headers = ["Content-Type": "text/plain; charset=utf-8"]
        headers["Vary"] = vary
        headers["ETag"] = etag
        return Exchange(
            request: try RecorderFixture.request(Self.url, request),
            response: try RecorderFixture.response(Self.url, 200, headers),
            body: Data(body.utf8),
            redirects: [],
            isBrowsed: true
        )
    }

    @discardableResult
    private func record(
        _ recorder: SubstitutionRecorder,
        _ body: String,
        for request: [String: String],
        vary: String?,
        etag: String? = nil
    ) throws -> Exchange.Report {
        try recorder.record(exchange(body, for: request, vary: vary, etag: etag))
    }
}
