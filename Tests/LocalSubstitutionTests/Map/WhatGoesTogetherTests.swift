import Foundation
import SchemaValidator
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Fields that go together in an entry", .values)
struct WhatGoesTogetherTests {
    typealias Answer = SubstitutionMap.Answer

    /// A kind of answer, and the fields that can go with it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let json: String
        let answer: Answer
        let fields: Set<String>

        var testDescription: String { json }
    }

    private static let response: Set = ["status", "mimeType", "charset", "headers", "delay", "follow, redirect"]
    private static let offline: Set = ["whenOffline", "timeout", "setRequestHeaders, whenOffline"]
    private static let rates: Set = ["bytesPerSecond", "secondsPerLine", "secondsPerEvent"]
    /// A response with a body that the map has.
    private static let local = response.union(offline).union(rates)

    static let kinds = [
        Kind(
            json: #""file": "a""#,
            answer: "a",
            fields: local.union(["always", "untilUpdated"])
        ),
        Kind(json: #""json": [1]"#, answer: .json([1]), fields: local.union(["always"])),
        Kind(json: #""text": "a""#, answer: .text("a"), fields: local.union(["always"])),
        Kind(
            json: #""stream": ["a", {"delay": 1, "file": "a"}]"#,
            answer: .stream(["a", .file("a").delay(1)]),
            fields: response
        ),
        Kind(json: #""handler": "h""#, answer: .handler { _ in .notSubstituted }, fields: ["delay"]),
        Kind(
            json: #""status": 404"#,
            answer: .status(404),
            fields: offline.union(["status", "headers", "delay", "always"])
        ),
        Kind(json: #""error": "timedOut""#, answer: .error(.timedOut), fields: ["delay"]),
        Kind(
            json: #""forwardTo": "http://l/""#,
            answer: .forward(to: "http://l/"),
            fields: ["headers", "delay", "setRequestHeaders"]
        ),
        Kind(
            json: #""setRequestHeaders": {"B": null}"#,
            answer: .requestHeaders(["B": nil]),
            fields: ["headers", "delay", "setRequestHeaders", "status, whenOffline"]
        ),
    ]

    struct Field: Sendable {
        let name: String
        let json: String
        let set: @Sendable (Answer) -> Answer
    }

    static let fields = [
        Field(name: "status", json: #""status": 201"#) { $0.status(201) },
        Field(name: "mimeType", json: #""mimeType": "a/b""#) { $0.mimeType("a/b") },
        Field(name: "charset", json: #""charset": "utf-8""#) { $0.charset("utf-8") },
        Field(name: "headers", json: #""headers": {"A": "1"}"#) { $0.headers(["A": "1"]) },
        Field(name: "follow", json: #""follow": false"#) { $0.follow(false) },
        Field(name: "follow, redirect", json: #""status": 302, "headers": {"Location": "/"}, "follow": false"#) {
            $0.status(302).headers(["Location": "/"]).follow(false)
        },
        Field(name: "delay", json: #""delay": 0.5"#) { $0.delay(0.5) },
        Field(name: "bytesPerSecond", json: #""bytesPerSecond": 1"#) { $0.bytesPerSecond(1) },
        Field(name: "secondsPerLine", json: #""secondsPerLine": 0"#) { $0.secondsPerLine(0) },
        Field(name: "secondsPerEvent", json: #""secondsPerEvent": 3600"#) { $0.secondsPerEvent(3600) },
        Field(name: "setRequestHeaders", json: #""setRequestHeaders": {"A": "1"}"#) { $0.requestHeaders(["A": "1"]) },
        Field(
            name: "setRequestHeaders, whenOffline",
            json: #""setRequestHeaders": {"A": "1"}, "use": "whenOffline""#
        ) { $0.requestHeaders(["A": "1"]).use(.whenOffline) },
        Field(name: "status, whenOffline", json: #""status": 201, "use": "whenOffline""#) {
            $0.status(201).use(.whenOffline)
        },
        Field(name: "always", json: #""use": "always""#) { $0.use(.always) },
        Field(name: "untilUpdated", json: #""use": "untilUpdated""#) { $0.use(.untilUpdated) },
        Field(name: "whenOffline", json: #""use": "whenOffline""#) { $0.use(.whenOffline) },
        Field(name: "timeout", json: #""use": "whenOffline", "timeout": 1"#) { $0.use(.whenOffline).timeout(1) },
    ]

    /// Returns whether a combination says nothing: the field is the kind's own, or another row has the mixture.
    private static func isMeaningless(_ kind: Kind, _ field: Field) -> Bool {
        let name = field.json.prefix { $0 != ":" }
        return kind.json.hasPrefix(name + ":")
            || field.name == "status, whenOffline" && !kind.json.contains("setRequest")
    }

    static let pairs = kinds.flatMap { kind in
        fields.filter { !isMeaningless(kind, $0) }.map { field in
            (json: "{\"https://h/a\": {\(kind.json), \(field.json)}}", kind: kind, field: field)
        }
    }

    private static let handlers: [String: SubstitutionMap.Handler] = ["h": { _ in .notSubstituted }]

    @Test("The loader and answers in code agree with the table")
    func loads() throws {
        let folder = try TemporaryFolder(files: ["a"])
        #expect(Self.pairs.count > 110)
        for (json, kind, field) in Self.pairs {
            var isRight = kind.fields.contains(field.name)
            // With a status, it's an empty body whose request is forwarded only when offline.
            if kind.json.contains("setRequest"), field.name == "status" { isRight = false }
            let problems = folder.problems(json, handlers: Self.handlers)
            #expect(problems.isEmpty == isRight, "\(json) \(problems)")
            #expect(problems.allSatisfy { $0.kind == .conflict }, "\(json) \(problems)")
            let inCode = try? SubstitutionMap(["https://h/a": field.set(kind.answer)], resources: folder.url)
            #expect((inCode != nil) == isRight, "\(json)")
        }
    }

    @Test("The schema agrees with the table", .enabled(if: SchemaValidator.isAvailable, "\(SchemaValidator.advice)"))
    func schema() throws {
        let folder = try TemporaryFolder(files: ["a"])
        let documents = Self.pairs.map(\.json) + Self.mixtures + Self.inAlternatives
        for (json, problem) in zip(documents, try SchemaValidator.problems(of: documents)) {
            #expect(
                (problem == nil) == folder.problems(json, handlers: Self.handlers).isEmpty,
                "\(json): \(problem ?? "valid")"
            )
        }
    }

    /// Two fields that both set the answer.
    static let mixtures = {
        let answers = kinds.map(\.json).filter { !$0.contains("status") && !$0.contains("setRequest") }
        return answers.flatMap { first in
            answers.filter { first < $0 }.map { "{\"https://h/a\": {\(first), \($0)}}" }
        }
    }()

    static let inAlternatives = pairs.map { "{\"https://h/a\": [{\($0.kind.json), \($0.field.json)}]}" }

    @Test("Only one field says what answers")
    func mixtures() throws {
        let folder = try TemporaryFolder(files: ["a"])
        #expect(Self.mixtures.count == 21)
        for json in Self.mixtures {
            let problems = folder.problems(json, handlers: Self.handlers)
            #expect(problems.map(\.kind) == [.conflict], "\(json)")
            #expect(problems.first?.message.contains("Keep one of them.") == true)
        }
    }

    @Test("An alternative has no “use”, and is otherwise the same")
    func alternatives() throws {
        let folder = try TemporaryFolder(files: ["a"])
        for (json, pair) in zip(Self.inAlternatives, Self.pairs) {
            let hasUse = pair.field.json.contains("use")
            let sendsOn = (pair.kind.json + pair.field.json).contains("setRequest")
            let isNetwork = pair.kind.json.contains("forwardTo") || pair.kind.json.contains("setRequest")
            let isRight =
                !hasUse && (!sendsOn || isNetwork && pair.field.name != "status")
                && (pair.kind.fields.contains(pair.field.name))
            #expect(folder.problems(json, handlers: Self.handlers).isEmpty == isRight, "\(json)")
        }
    }

    @Test("A default that doesn't go with an entry is ignored there")
    func defaults() throws {
        let json = """
            {
              "$defaults": { "headers": { "A": "1" }, "mimeType": "a/b", "charset": "utf-16", "use": "untilUpdated",
                "timeout": 1, "methods": ["PUT"], "delay": 2, "bytesPerSecond": 9, "ignoreQuery": true },
              "https://h/file": { "file": "a" },
              "https://h/text": { "text": "a" },
              "https://h/status": { "status": 404 },
              "https://h/error": { "error": "timedOut" },
              "https://h/network": { "forwardTo": "http://l/" },
              "https://h/offline": { "text": "a", "use": "whenOffline" },
              "https://h/stream": { "stream": ["a"] },
              "https://h/handler": { "handler": "h" }
            }
            """
        let map = try TemporaryFolder(files: ["a"]).map(json, handlers: Self.handlers)
        let options = map.entries.map(\.options)
        let header = ["A": "1"]
        // A handler's entry keeps what its answers take.
        #expect(options.map(\.fields.headers) == [header, header, header, [:], header, header, header, header])
        #expect(options.map(\.fields.mimeType) == ["a/b", "a/b", nil, nil, nil, "a/b", "a/b", "a/b"])
        #expect(options.map(\.fields.charset) == ["utf-16", nil, nil, nil, nil, nil, nil, "utf-16"])
        let always = Substitution.Use.always
        #expect(
            options.map(\.use) == [.untilUpdated, always, always, always, always, .whenOffline, always, always]
        )
        #expect(options.map(\.fields.timeout) == [nil, nil, nil, nil, nil, 1, nil, nil])
        let rate = Rate.bytesPerSecond(9)
        #expect(options.map(\.fields.rate) == [rate, rate, nil, nil, nil, rate, nil, rate])
        #expect(options.allSatisfy { $0.methods == ["PUT"] && $0.fields.delay == 2 && $0.ignoreQuery != nil })
    }
}
