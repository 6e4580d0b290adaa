import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a request has", .sessions, .substituting([:], unmatched: .fail))
struct RequestContentsTests {
    private static let url = "https://shop.example.com/orders"

    /// Makes a request and returns it as it was listed.
    private static func made(
        _ url: String = url,
        method: String = "POST",
        headers: [String: String] = [:],
        body: Data? = nil
    ) async throws -> TestSubstitutions.Request {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        _ = try? await URLSession.substituted.data(for: request)
        return try #require(TestSubstitutions.current.requests.last)
    }

    @Test("A body is decoded as JSON, and read as text")
    func body() async throws {
        struct Order: Decodable, Equatable { let id: Int }
        let order = try await Self.made(body: Data(#"{ "id": 7 }"#.utf8))
        #expect(try order.json(Order.self) == Order(id: 7))
        let inferred: Order = try order.json()
        #expect(inferred.id == 7)
        #expect(order.text == #"{ "id": 7 }"#)
        #expect(throws: DecodingError.self) { try order.json([Int].self) }
        let picture = try await Self.made(body: Data([0x89, 0xFF]))
        #expect(picture.text == nil)
        let empty = try await Self.made(method: "GET")
        #expect(empty.text == nil)
        let error = try #require(throws: DecodingError.self) { try empty.json(Order.self) }
        #expect("\(error)".contains("Set the request's httpBody, and use a data task."))
    }

    static let commands: [(method: String, url: String, headers: [String: String], body: String?, words: [String])] = [
        ("GET", url, [:], nil, [url]),
        ("HEAD", url, [:], nil, [url, "--head"]),
        ("DELETE", url, [:], nil, [url, "--request", "DELETE"]),
        (
            "POST", url, ["B-Two": "2", "Accept": "a/b", "C-Three": ""], "{}",
            [url, "--request", "POST", "--header", "Accept: a/b", "--header", "B-Two: 2", "--header", "C-Three;"]
                + ["--data-raw", "{}"]
        ),
        (
            "PUT", "http://[::1]:1/a", ["X-Note": "it's $HOME `ls` \"\\"], "@don't\n",
            ["http://[::1]:1/a", "--globoff", "--request", "PUT", "--header", "X-Note: it's $HOME `ls` \"\\"]
                + ["--data-raw", "@don't\n"]
        ),
    ]

    #if os(Linux) || os(macOS)
    @Test("A shell reads the command as the request's parts", arguments: commands.indices)
    func command(_ index: Int) async throws {
        let sample = Self.commands[index]
        let body = sample.body.map { Data($0.utf8) }
        let request = try await Self.made(sample.url, method: sample.method, headers: sample.headers, body: body)
        let words = try await Self.words(request.curl)
        #expect(words == sample.words)
    }

    /// Returns the arguments that a shell would pass to `curl`.
    private static func words(_ command: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let output = folder.file("words").path
        process.arguments = ["-c", #"curl() { printf '%s\0' "$@" > "$OUTPUT"; }"# + "\n" + command]
        process.environment = ["OUTPUT": output]
        try await process.runToEnd()
        return String(decoding: try Data(contentsOf: folder.file("words")), as: UTF8.self)
            .split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
    #endif

    @Test("A command has one line for each header, for snapshots")
    func lines() async throws {
        let request = try await Self.made(headers: ["Accept": "a/b"], body: Data(#"{"id":7}"#.utf8))
        #expect(
            request.curl == #"""
                curl 'https://shop.example.com/orders' \
                  --request POST \
                  --header 'Accept: a/b' \
                  --data-raw '{"id":7}'
                """#
        )
    }

    @Test("A body that isn't text is left to a file", arguments: [Data([0x89, 0xFF]), Data([0x61, 0])])
    func binary(_ body: Data) async throws {
        #expect(try await Self.made(body: body).curl.hasSuffix("--data-binary @body"))
    }

    @Test(
        "Credentials are replaced in a body, and nothing else is",
        arguments: [
            (#"{"card":{"number":{"token":"x"},"n":4}}"#, #"{"card":{"number":"redacted","n":4}}"#),
            (#"{"card":{"number":"Bearer abcdefghijklmnop"}}"#, #"{"card":{"number":"redacted"}}"#),
            (#"{"card":{"pan":{"cvc":1,"number":"4"}}}"#, #"{"card":{"pan":"redacted"}}"#),
            (#"{"number":{"token":"x"}}"#, #"{"number":{"token":"redacted"}}"#),
            (#"{"user":"ada", "password" : "s3cr3t" }"#, #"{"user":"ada", "password" : "redacted" }"#),
            (#"{"tokens":{"access_token":["s3cr3t"]},"n":1.50}"#, #"{"tokens":"redacted","n":1.50}"#),
            (
                #"[{"id":"password","value":{"a":"s3cr3t"}},{"id":"x"}]"#,
                #"[{"id":"password","value":"redacted"},{"id":"x"}]"#
            ),
            (#"{"note":"Bearer s3cr3t","é":"\u00e9"}"#, #"{"note":"redacted","é":"\u00e9"}"#),
            (#"{"query":"{ login(password: \"s3cr3t\") }"}"#, #"{"query":"redacted"}"#),
            (#""Bearer s3cr3t""#, #""redacted""#),
            ("user=ada&access_token=s3cr3t&a=Bearer+s3cr3t", "user=ada&access_token=redacted&a=redacted"),
            ("<password>s3cr3t</password>", "redacted"),
            ("Content-Disposition: form-data; name=\"pin\"\n\n1", "redacted"),
            ("hello, you", "hello, you"),
        ]
    )
    func secretsInBody(_ body: String, _ shown: String) async throws {
        let curl = try await Self.made(body: Data(body.utf8)).curl
        let argument = shown == "redacted" ? shown : "'\(shown)'"
        #expect(curl.hasSuffix("--data-raw \(argument)"), "\(curl)")
    }

    @Test("Credentials are replaced in the URL and in headers")
    func secrets() async throws {
        let request = try await Self.made(
            "https://ada:s3cr3t@shop.example.com/a?page=2&access_token=s3cr3t",
            headers: [
                "Authorization": "Basic s3cr3t", "Cookie": "a=s3cr3t", "X-Api-Key": "s3cr3t",
                "X-Forward": "Bearer s3cr3t",
                "Referer": "https://shop.example.com/?token=s3cr3t", "Accept": "a/b",
            ]
        )
        #expect(!request.curl.contains("s3cr3t"), "\(request.curl)")
        for part in ["page=2&access_token=redacted", "Accept: a/b", "Authorization: redacted", "X-Api-Key: redacted"] {
            #expect(request.curl.contains(part), "\(request.curl)")
        }
    }
}
