import Foundation
import LocalSubstitution
import MapWriting
import TestSupport
import Testing

@testable import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Recorded exchanges", .values)
struct RecordedExchangeTests {
    @Test(
        "A JSON body becomes a condition, without anything that may be a credential",
        arguments: [
            (#"{"a": 1.0, "b": ["x", {"password": "p", "c": null}]}"#, #"{ "a": 1.0, "b": ["x", { "c": null }] }"#),
            ("{\n  \"a\" :\t-1e5 ,\n  \"b\": \"\\u00e9 \\\"\" }\n", #"{ "a": -1e5, "b": "\u00e9 \"" }"#),
            (#"[ 1, 2 ]"#, "[1, 2]"), ("[]", "[]"), ("{}", nil), (#"{"token": "t"}"#, nil), ("a=b", nil), ("", nil),
            (#"{"a": }"#, nil), ("null", nil), ("7", nil),
            (
                #"{"code": "c", "key": 1, "pin": 2, "session": "s", "sign": 3, "ticket": "t", "mail": "ada@h"}"#,
                #"{ "code": "c", "key": 1, "session": "s", "sign": 3, "ticket": "t", "mail": "ada@h" }"#
            ),
            (#"{"apiKey": 1, "client_secret": 2, "refreshToken": [3], "max_tokens": 4}"#, #"{ "max_tokens": 4 }"#),
            (#"{"a": "http://h/?access_token=t", "b": "Bearer t", "c": "http://u:p@h/", "n": 4}"#, #"{ "n": 4 }"#),
            (#"{"list": [1, "x=1&token=t"], "n": 4}"#, #"{ "n": 4 }"#),
            (
                #"[{"name": "password", "value": "p"}, {"key": "user", "value": "ada"}]"#,
                #"[{ "name": "password" }, { "key": "user", "value": "ada" }]"#
            ),
            (
                #"[{"id": "pin", "val": 1, "n": 2}, {"values": ["p"], "field": "Passcode"}, {"id": "code", "value": 3}]"#,
                #"[{ "id": "pin", "n": 2 }, { "field": "Passcode" }, { "id": "code", "value": 3 }]"#
            ),
            (#"{"label": "password=p", "text": "p", "n": 4}"#, #"{ "n": 4 }"#),
            (#"{"query": "mutation { login(user: \"ada\", password: \"p\") { id } }", "n": 4}"#, #"{ "n": 4 }"#),
            (
                #"{"query": "query($password: String!) { login(password: $password) { id } }", "n": 4}"#,
                #"{ "query": "query($password: String!) { login(password: $password) { id } }", "n": 4 }"#
            ),
            (#"{"body": "{\"user\": {\"pass\": \"p\"}}", "n": 4}"#, #"{ "n": 4 }"#),
            (#"{"body": "[{\"id\": \"password\", \"value\": \"p\"}]", "n": 4}"#, #"{ "n": 4 }"#),
            (#"{"body": "{\"user\": \"ada\"}"}"#, #"{ "body": "{\"user\": \"ada\"}" }"#),
            (#"{"a": "{\"b\": \"{\\\"token\\\": \\\"t\\\"}\"}", "n": 4}"#, #"{ "n": 4 }"#),
            (
                #"{"a": "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "b": "Token 0a1b", "c": "Basic YTpi", "n": 4}"#,
                #"{ "n": 4 }"#
            ),
            (
                #"{"a": "Token of esteem", "b": "1.2.3", "c": "at 12:30"}"#,
                #"{ "a": "Token of esteem", "b": "1.2.3", "c": "at 12:30" }"#
            ),
        ]
    )
    func condition(_ body: String, _ expected: String?) {
        #expect(RecordedCondition(Data(body.utf8)).json == expected)
    }

    private static let form = "application/x-www-form-urlencoded"
    private static let longestForm = "a=\(String(repeating: "x", count: 65_534))"

    @Test(
        "A form becomes a condition, with * for what may be a credential, and so does an empty object",
        arguments: [
            ("user=ada&page=2", form, "user=ada&page=2"), ("user=ada", "\(form); charset=UTF-8", "user=ada"),
            ("user=ada&password=p", form, "user=ada&password=*"), ("access%5Ftoken=t&a=", form, "access%5Ftoken=*&a="),
            ("code=1&key=2&session=3&sign=4&ticket=5&n=6", form, "code=*&key=*&session=*&sign=*&ticket=*&n=6"),
            ("a=1&b=Bearer+t&c=2", form, "a=1&b=*&c=2"), ("a=1&&b", form, "a=1&&b"), ("a=%2A", form, "a=%2A"),
            ("user=ada&password=p", nil, "user=ada&password=*"), ("{}", nil, "{}"), ("{ }", "application/json", "{ }"),
            (longestForm, form, longestForm),
        ] as [(String, String?, String)]
    )
    func text(_ body: String, _ type: String?, _ expected: String) {
        let condition = RecordedCondition(Data(body.utf8), type: type)
        #expect(condition.text == expected)
        #expect(condition.obstacle == nil)
        #expect(condition.isRedacted == expected.contains("*"))
    }

    @Test(
        "A body that a map can't compare has no condition, which is reported",
        arguments: [
            (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), nil, "64 levels"),
            (#"{"a": "\#(String(repeating: "x", count: 65_536))"}"#, nil, "64 KiB"),
            ("\(longestForm)x", form, "64 KiB"), ("a=1&b=*", form, "it has a *"),
            ("password=p&token=t", form, "every value in it may be a credential"),
            (#"{"token": "t"}"#, nil, "every value in it may be a credential"),
            (#"["Bearer t"]"#, nil, "every value in it may be a credential"),
            ("[\"\u{301} ghp_0123456789abcdefghij\"]", nil, "every value in it may be a credential"),
            ("text", nil, "neither JSON nor a form"),
            ("a b=1", nil, "neither JSON nor a form"), ("a=1", "text/plain", "neither JSON nor a form"),
            ("7", nil, "neither JSON nor a form"), (#"{"n": 1e-00010}"#, nil, "an exponent of more than 4 digits"),
        ] as [(String, String?, String)]
    )
    func noCondition(_ body: String, _ type: String?, _ reason: String) {
        let condition = RecordedCondition(Data(body.utf8), type: type)
        #expect(condition.when == nil)
        #expect(condition.obstacle?.contains(reason) == true, "\(condition.obstacle ?? "")")
    }

    @Test(
        "Members with these names may be credentials",
        arguments: [
            "password", "password_confirmation", "newPassword2", "pass", "userPass", "pin", "otp", "passcode", "jwt",
            "bearer",
            "sessionId", "session_id", "auth", "userAuth", "cookie", "privateKey", "PRIVATE_KEY", "passwordHash",
            "tokenValue",
            "authorizationCode", "authCode", "secretAnswer", "cvv", "CVV2", "x-api-key", "apikeyv2", "accessToken",
            "idtoken",
            "credentials", "client_secret", "twoFactorCode", "code_verifier", "SAMLResponse", "assertion", "sig",
            "csrfToken",
        ]
    )
    func secretMembers(name: String) {
        #expect(RecordedCondition(Data("{\"\(name)\": \"x\", \"n\": 4}".utf8)).json == #"{ "n": 4 }"#)
    }

    @Test(
        "A card's number is left out, with its code or in a card",
        arguments: [
            (#"{"card": {"number": "4111111111111111", "cvc": "123", "n": 4}}"#, #"{ "card": { "n": 4 } }"#),
            (#"{"cvc": "123", "creditCard": {"n": 4, "number": 4111111111111111}}"#, #"{ "creditCard": { "n": 4 } }"#),
            (#"{"number": "4111", "n": 4, "cvv2": "123"}"#, #"{ "n": 4 }"#),
            (#"{"cards": [{"pan": "4111", "n": 4, "security_code": "123"}]}"#, #"{ "cards": [{ "n": 4 }] }"#),
            (#"{"number": 7, "house": {"number": "12 b"}}"#, #"{ "number": 7, "house": { "number": "12 b" } }"#),
            (#"{"sk": "a1b2c3d4e5f6g7h8", "ak": "short", "n": 4}"#, #"{ "ak": "short", "n": 4 }"#),
            (#"{"tok": "aaaaaaaaaaaaaaaaaaaa", "n": 4}"#, #"{ "tok": "aaaaaaaaaaaaaaaaaaaa", "n": 4 }"#),
            (#"{"hook": "https://h/services/T00000000/B00000000/aaaaaaaaaaaaaaaaaaaaaaaa", "n": 4}"#, #"{ "n": 4 }"#),
        ]
    )
    func cards(body: String, json: String) {
        #expect(RecordedCondition(Data(body.utf8)).json == json)
    }

    @Test("A form's card number is left out beside its code", arguments: ["cvc", "CVV"])
    func cardForm(code: String) {
        let form = RecordedCondition(
            Data("number=4111&\(code)=123&n=4".utf8),
            type: "application/x-www-form-urlencoded"
        )
        #expect(form.when?.contains("number=*&\(code)=*&n=4") == true, "\(form.when ?? "")")
    }

    @Test(
        "Members with these names are conditions",
        arguments: [
            "author", "authority", "authorId", "passenger", "passengers", "passport_country", "shippingAddress",
            "max_tokens",
            "maxTokens", "total_tokens", "pinned", "pinterest", "code", "country_code", "key", "sortKey", "keyboard",
            "keyword",
            "session", "sessionCount", "sign", "signup", "ticket", "tickets", "tokenize", "tokenizer", "token_type",
            "otpless",
            "passwordless", "password_policy", "hasPassword", "compass", "secretary", "topping", "announcement",
            "sidebar",
        ]
    )
    func harmlessMembers(name: String) {
        #expect(RecordedCondition(Data("{\"\(name)\": \"x\"}".utf8)).json == "{ \"\(name)\": \"x\" }")
    }

    @Test(
        "Bodies that are meant to take long take time in proportion to their size",
        arguments: [
            (#"{"a": ["#, "1,", "1]}"), ("[", #""a:1=","#, "1]"), (#"["{\"a\":["#, #"\"id\","#, #"1]}"]"#),
            (#"[""#, "[", #""]"#),
            (#"[""#, #"{\"a\":"#, #""]"#), (#"{"n": 1"#, #", "id": "pin""#, "}"),
        ]
    )
    func time(_ start: String, _ piece: String, _ end: String) {
        let body = { Data((start + String(repeating: piece, count: $0) + end).utf8) }
        #expect(takesLinearTime(from: 500, of: body) { _ = RecordedCondition($0) })
    }

    @Test(
        "A narrower condition comes first, however it's spelled",
        arguments: [
            [#"{"q": "a", "page": 2}"#, #"{"q": "a"}"#, "a=1&token=t&b=2", "a=1&token=t", "text"],
            [#"{"a": 1, "b": {"c": 1, "d": 2}}"#, #"{"a": 1.0000000000000000000, "b": {"c": 1}}"#],
            ["a=1&token=t", "text"], ["{}", "text"], ["user=ada&page=12345", "pin=1&otp=2&cvv=3&a=1"],
        ]
    )
    func order(_ bodies: [String]) throws {
        let exchanges = try bodies.map { try Self.exchange("POST", body: $0, request: $0) }
        let texts = try [exchanges, exchanges.reversed()].map { try Self.added($0).text }
        #expect(texts[0] == texts[1])
        let map = try SubstitutionMap(json: Data(texts[0].utf8), invalidEntries: .skip)
        #expect(map.problems.allSatisfy { $0.kind == .noResources })
        let places = bodies.map { body in
            texts[0].range(of: RecordedCondition(Data(body.utf8)).when ?? "\"methods\": [\"POST\"], \"file\"")?
                .lowerBound
        }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted(), "\(texts[0])")
    }

    @Test(
        "Alternatives are added to the existing text, which isn't changed",
        arguments: [
            (#""a.txt""#, "[\n    \"a.txt\",\n    N\n  ]"),
            (#"{ "file":"a.txt" }"#, "[\n    { \"file\":\"a.txt\" },\n    N\n  ]"),
            (#"["a.txt"]"#, "[\"a.txt\",\n    N\n  ]"), ("[\n    1\n  ]", "[\n    1,\n    N\n  ]"),
            ("[ ]", "[\n    N\n  ]"),
            (
                #"{ "comment": "c", "alternatives": ["a.txt"], "ignoreQuery": true }"#,
                "{ \"comment\": \"c\", \"alternatives\": [\"a.txt\",\n    N\n  ], \"ignoreQuery\": true }"
            ),
            (#"{ "file": "a.txt", "use": "whenOffline" }"#, nil),
            (#"{ "file": "a.txt", "enabled": false }"#, nil), ("null", nil), ("7", nil), ("{", nil),
        ] as [(String, String?)]
    )
    func alternatives(_ old: String, _ expected: String?) {
        let new: EntryText.Members = [("file", #""n.txt""#), ("use", #""always""#), ("enabled", "true")]
        #expect(EntryText(old)?.adding([new]) == expected?.replacing("N", with: #""n.txt""#))
    }

    @Test("A file's name may begin with a combining mark", arguments: ["\"\u{301}c.txt\"", "[\"\u{301}c.txt\"]"])
    func combiningMark(_ value: String) throws {
        let answer = try #require(EntryText(value)?.answers.first)
        #expect(answer["file"]?.utf8.elementsEqual("\"\u{301}c.txt\"".utf8) == true)
    }

    @Test(
        "An entry only has alternatives if it needs them, and then has the fields that apply to all",
        arguments: [
            ([[("file", "1")]], "1"), ([[("status", "204")]], #"{ "status": 204 }"#),
            ([[("file", "1"), ("use", "2")]], #"{ "file": 1, "use": 2 }"#),
            ([[("file", "1"), ("when", "2")]], "[\n    { \"file\": 1, \"when\": 2 }\n  ]"),
            (
                [[("file", "1"), ("use", "2"), ("enabled", "3")], [("file", "4"), ("enabled", "3")]],
                "{ \"enabled\": 3, \"alternatives\": [\n    1,\n    4\n  ] }"
            ),
        ] as [([EntryText.Members], String)]
    )
    func value(_ answers: [EntryText.Members], _ expected: String) {
        #expect(EntryText.value(of: answers) == expected)
    }

    private static func exchange(
        _ method: String = "GET",
        _ url: String = "http://h/a",
        body: String = "body",
        status: Int = 200,
        request: String? = nil,
        headers: [String: String] = [:],
        type: String = "text/plain; charset=utf-8"
    ) throws -> RecordedExchange {
        RecordedExchange(
            RecordedResponse(
                method: method,
                url: try #require(URL(string: url)),
                requestBody: request.map { Data($0.utf8) },
                status: status,
                headers: headers.merging(["Content-Type": type]) { $1 },
                body: Data(body.utf8)
            )
        )
    }

    @Test(
        "A response without a body keeps its type",
        arguments: [
            ("application/json", #", "headers": { "Content-Type": "application/json" }"#),
            ("text/html; charset=iso-8859-1", #", "headers": { "Content-Type": "text/html; charset=iso-8859-1" }"#),
            // The key's extension says so, too.
            ("image/png", ""),
        ]
    )
    func typeWithoutBody(type: String, fields: String) throws {
        let text = try Self.added([try Self.exchange("GET", "http://h/a.png", body: "", type: type)]).text
        #expect(text == "{\n  \"http://h/a.png\": { \"status\": 200\(fields) }\n}\n")
        let url = try #require(URL(string: "http://h/a.png"))
        let answer = try SubstitutionMap(json: Data(text.utf8)).substitution(for: url)
        #expect(answer?.contentType(ofBody: Data()) == type)
    }

    @Test(
        "A response without a body and type is returned without a type, and so is one that can't have a body",
        arguments: [
            (200, "", true), (200, "x", true), (200, "*/*", true), (302, "", true), (404, "", true), (500, "x", true),
            (204, "", false), (204, "text/html", false), (205, "text/html", false), (304, "text/html", false),
        ]
    )
    func noType(status: Int, type: String, isWritten: Bool) async throws {
        let exchange = try Self.exchange(body: "", status: status, type: type)
        let fields = isWritten ? #", "headers": { "Content-Type": "" }"# : ""
        let text = try Self.added([exchange]).text
        #expect(text == "{\n  \"http://h/a\": { \"status\": \(status)\(fields) }\n}\n")
        let cache = LocalSubstitutionCache(map: try SubstitutionMap(json: Data(text.utf8)))
        let answer = try await cache.answer(to: URLRequest(url: exchange.response.url))
        let head = try #require(answer?.1)
        #expect(head.statusCode == status && head.value(forHTTPHeaderField: "Content-Type") == nil)
        // As a recorder writes it.
        let url = try NormalizedURL("http://h/a.html")
        let entry = WrittenEntry(exchange.response, at: url, file: "a.html", defaults: EntryFields())
        #expect(entry.text.contains("Content-Type") == isWritten, "\(entry.text)")
    }

    @Test("HEAD doesn't need its own entry if GET has one")
    func head() throws {
        let exchanges = [try Self.exchange("HEAD", body: ""), try Self.exchange(), try Self.exchange()]
        let (text, outcomes) = try Self.added(exchanges)
        #expect(outcomes.compactMap { try? $0.get().file } == ["h/a.txt", "h/a.txt", "h/a.txt"])
        #expect(text == "{\n  \"http://h/a\": \"h/a.txt\"\n}\n")
    }

    @Test("HEAD has its own entry if GET has another condition")
    func headWithoutBody() throws {
        let exchanges = [try Self.exchange("HEAD", body: ""), try Self.exchange(request: #"{"a": 1}"#)]
        let (text, outcomes) = try Self.added(exchanges)
        #expect(outcomes.allSatisfy { (try? $0.get()) != nil }, "\(outcomes)")
        #expect(text.contains(#""methods": ["HEAD"]"#), "\(text)")
    }

    /// Returns the text of a recording after exchanges were added to it, and their outcomes.
    private static func added(
        to json: String = "{}",
        _ exchanges: [RecordedExchange]
    ) throws -> (text: String, outcomes: [Result<RecordedMap.Added, Complaint>]) {
        let folder = try TemporaryFolder()
        let file = try folder.write("test.json", json)
        var map = try RecordedMap(file, bodies: folder.file("test"), keepsEntries: true)
        let outcomes = map.add([exchanges]).outcomes.first ?? []
        try map.save()
        return ((try? String(contentsOf: file, encoding: .utf8)) ?? "", outcomes)
    }

    @Test("A file's name says nothing about a password")
    func fileName() throws {
        let names = try ["a", "b"].map { password in
            let request = #"{"user": "ada", "password": "\#(password)"}"#
            return try Self.added([Self.exchange("POST", request: request)]).outcomes.map { try $0.get().file }
        }
        #expect(names.first == names.last)
        let both = try Self.added([
            Self.exchange("POST", request: #"{"user": "ada"}"#), Self.exchange("POST", request: #"{"user": "bob"}"#),
        ])
        #expect(Set(both.outcomes.compactMap { try? $0.get().file }).count == 2)
    }

    @Test(
        "That a partial response answers requests without its condition is reported",
        arguments: [
            (["GET 206"], ["requests without “Range”"]), (["GET 304"], ["unconditional requests"]),
            (["GET 200"], [nil]),
            (["GET 200", "HEAD 304"], [nil, nil]), (["GET 200", "GET 304"], [nil, "unconditional requests"]),
        ]
    )
    func partial(_ exchanges: [String], _ expected: [String?]) throws {
        let added = try Self.added(
            exchanges.map { text in
                let parts = text.split(separator: " ").map(String.init)
                return try Self.exchange(parts[0], body: parts[1] == "304" ? "" : "body", status: Int(parts[1]) ?? 0)
            }
        )
        let notes = try added.outcomes.map { try $0.get().note }
        for (note, expected) in zip(notes, expected) {
            #expect(expected.map { note?.contains($0) == true } ?? (note == nil), "\(notes)")
        }
    }

    @Test("Bodies that only differ in a password are one request, which is reported")
    func oneQuestion() throws {
        let exchanges = try ["a", "b"].map { try Self.exchange("POST", request: #"{"u": 1, "password": "\#($0)"}"#) }
        let notes = try Self.added(exchanges).outcomes.map { try $0.get().note }
        #expect(notes.allSatisfy { $0?.contains("bodies differ") == true })
        let same = try Self.added([exchanges[0], exchanges[0]])
        #expect(try same.outcomes.map { try $0.get().note } == [nil, nil])
    }

    @Test(
        "The first argument's responses to a request are kept, unless another argument's begin with them",
        arguments: [
            (["a", "a"], "a", []), (["a", "b"], "a", [1]), (["ab", "a"], "ab", []), (["a", "ab"], "ab", []),
            (["a", "ab", "ac"], "ab", [2]), (["aab", "ab"], "aab", [1]), (["abbb", "ab"], "abbb", []),
            (["b", "ab"], "b", [1]),
        ]
    )
    func arguments(_ responses: [String], _ kept: String, _ others: [Int]) throws {
        let arguments = try responses.map {
            try $0.map { try Self.exchange("POST", body: String($0), request: #"{"u": 1, "pin": 2}"#) }
        }
        let folder = try TemporaryFolder()
        let file = folder.file("test.json")
        var map = try RecordedMap(file, bodies: folder.file("test"), keepsEntries: true)
        let (outcomes, conflicts) = map.add(arguments)
        try map.save()
        let alone = try kept.map { try Self.exchange("POST", body: String($0), request: #"{"u": 1, "pin": 2}"#) }
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.added(alone).text)
        #expect(conflicts.count == (others.isEmpty ? 0 : 1))
        // The first one listed is the one whose responses are kept.
        #expect(conflicts.first?.arguments.dropFirst().map(\.place) ?? [] == others)
        #expect(conflicts.first.map { responses[$0.arguments[0].place] == kept } ?? true)
        for (place, outcomes) in outcomes.enumerated() {
            #expect(outcomes.allSatisfy { (try? $0.get()) == nil } == others.contains(place))
        }
    }

    @Test("How many requests a client may still make doesn't tell two arguments' responses apart")
    func rates() throws {
        let exchanges = try ["9", "8"].map { try Self.exchange(headers: ["X-RateLimit-Remaining": $0]) }
        let folder = try TemporaryFolder()
        var map = try RecordedMap(folder.file("test.json"), bodies: folder.file("test"), keepsEntries: true)
        #expect(map.add(exchanges.map { [$0] }).conflicts.isEmpty)
        #expect(try Self.added(exchanges).text.contains("times"), "with one argument, they're a sequence")
    }

    @Test(
        "The headers that clients read are recorded",
        arguments: [
            ("X-Total-Count", true), ("retry-after", true), ("X-RateLimit-Remaining", true), ("RateLimit-Policy", true),
            ("RateLimit", true), ("Content-Language", true), ("Content-Location", true),
            ("Access-Control-Max-Age", true), ("Link", true), ("Location", true),
            ("Deprecation", true), ("Sunset", true), ("X-Robots-Tag", true), ("Content-Length", false),
            ("Content-Encoding", false), ("content-range", false), ("Date", false), ("ETag", false),
            ("Set-Cookie", false),
            ("X-Session", false),
        ]
    )
    func headers(_ name: String, _ isRecorded: Bool) {
        let (recorded, leftOut) = RecordingRules.Headers.sorted([name: "v", "Content-Type": "v"])
        #expect(recorded.keys.map { $0.lowercased() } == (isRecorded ? [name.lowercased()] : []))
        #expect(leftOut == (isRecorded ? [] : [name]))
        guard isRecorded else { return }
        let secret = RecordingRules.Headers.sorted([name: "https://h/?access_token=t"])
        #expect(secret.recorded.isEmpty)
        #expect(secret.leftOut.first?.hasSuffix("(its value may be a credential)") == true)
    }

    @Test("A parameter of the type that may be a credential is listed as left out")
    func secretParameter() {
        let type = "text/plain; charset=utf-8; token=s3cr3t"
        let (recorded, leftOut) = RecordingRules.Headers.sorted(["Content-Type": type])
        #expect(recorded.isEmpty)
        #expect(leftOut == ["a parameter of Content-Type (its value may be a credential)"])
    }

    @Test("Only the exchange that can't be an entry is left out", arguments: ["http://h/a", "http://h/b"])
    func alone(_ url: String) throws {
        let (text, outcomes) = try Self.added([
            Self.exchange("POST", status: 999), Self.exchange("GET", url),
        ])
        #expect(outcomes.map { (try? $0.get()) != nil } == [false, true])
        #expect(throws: Complaint.self) { try outcomes[0].get() }
        #expect(text.contains(url))
        #expect(!text.contains("999"))
    }

    @Test(
        "The map's defaults apply beside alternatives, which list their methods",
        arguments: [
            (#""use": "untilUpdated""#, ""), (#""ignoreQuery": true"#, #""ignoreQuery": false, "#),
            (#""enabled": false"#, #""enabled": true, "#), (#""methods": ["PUT"]"#, ""),
        ]
    )
    func alternativesUnderDefaults(_ defaults: String, _ beside: String) throws {
        let (text, outcomes) = try Self.added(
            to: "{ \"$defaults\": { \(defaults) } }",
            [Self.exchange(), Self.exchange("DELETE", body: "", status: 204), Self.exchange("POST", "http://h/e")]
        )
        #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
        #expect(
            text.contains("\"http://h/a\": " + (beside.isEmpty ? "[" : "{ \(beside)\"alternatives\": [")),
            "\(text)"
        )
        #expect(text.contains(#"{ "methods": ["DELETE"], "status": 204 }"#), "\(text)")
        #expect(text.contains(#"{ "methods": ["GET"], "file": "h/a.txt" }"#), "\(text)")
    }

    @Test("An alternative with an empty body lists its method")
    func emptyAlternative() throws {
        let (text, _) = try Self.added(
            to: #"{ "http://h/a": { "methods": ["PUT"], "alternatives": [{ "status": 201 }] } }"#,
            [Self.exchange(body: "", status: 204)]
        )
        #expect(text.contains(#"{ "methods": ["GET"], "status": 204 }"#), "\(text)")
    }

    @Test(
        "An exchange that can't be recorded says why",
        arguments: [
            ("{}", "http://h/a?api_key=1", "api_key"), ("{}", "ftp://h/a", "The URL "),
            (
                #"{ "http://h/a": { "status": 204, "methods": ["PUT"], "use": "always" } }"#, "http://h/a",
                "Remove that field"
            ),
        ]
    )
    func refused(_ json: String, _ url: String, _ reason: String) throws {
        let (text, outcomes) = try Self.added(to: json, [try Self.exchange("GET", url)])
        guard case .failure(let error)? = outcomes.first else {
            Issue.record("it was added")
            return
        }
        #expect(error.description.contains(reason), "\(error)")
        #expect(json == "{}" ? text.isEmpty : text.contains("204") && !text.contains("200"), "\(text)")
    }
}

extension RecordedCondition {
    /// The value of `when.json`; `nil` if the condition isn't JSON, or if there is none.
    fileprivate var json: String? { when?.hasPrefix(#"{ "json": "#) == true ? example : nil }
    /// The value of `when.text`; `nil` if the condition isn't text, or if there is none.
    fileprivate var text: String? { when?.hasPrefix(#"{ "text": "#) == true ? example : nil }
}
