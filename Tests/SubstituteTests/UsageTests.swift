import Foundation
import Testing

@Suite("What was typed", .serialized)
struct UsageTests {
    private static let url = "https://h.example/a"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let map = #"{ "https://h.example/a": "a.txt" }"#
        try folder.writeMap(map, files: ["a.txt": "hello"])
        try folder.writeMap(map, as: "other.json")
    }

    /// The words, and what the message must say.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let words: [String]
        let message: String

        init(_ words: [String], _ message: String) {
            self.words = words
            self.message = message
        }

        var testDescription: String { "substitute " + words.joined(separator: " ") }
    }

    @Test(
        "is refused with advice, and nothing is done",
        arguments: [
            Mistake(["gett", url], "unknown command gett: did you mean get?"),
            Mistake(["exlpain", url], "did you mean explain?"),
            Mistake(["frobnicate"], "unknown command frobnicate: try substitute help"),
            Mistake(["help", "chekc"], "unknown command chekc: did you mean check?"),
            Mistake(["help", "get", "check"], "help takes one command"),
            Mistake(["--json", "get", url], "--json is no command: the command comes first"),
            Mistake(["-x"], "-x is no command"),

            Mistake(["get", "--heder", "A: b", url], "unknown option --heder: did you mean --header?"),
            Mistake(["check", "--jsn"], "did you mean --json?"),
            Mistake(["check", "--unheard-of"], "unknown option --unheard-of: --help lists"),
            Mistake(["check", "--output", "f"], "unknown option --output"),
            Mistake(["get", "-o", "f", url], "unknown option -o"),
            Mistake(["get", "-reload", url], "unknown option -reload: did you mean --reload?"),
            Mistake(["get", url, "--output"], "--output needs a value: --output FILE"),
            Mistake(["get", "--map", "--json", url], "--map needs a value: --map FILE"),
            Mistake(["get", "--json=1", url], "--json takes no value"),
            Mistake(["get", "--reload=", url], "--reload takes no value"),
            Mistake(["get", "--map", "other.json", "--map=other.json", url], "--map is given twice"),
            Mistake(["get", "--method=GET", "--method", "HEAD", url], "--method is given twice"),

            Mistake(["get"], "which URL?"),
            Mistake(["explain", "--json"], "which URL?"),
            Mistake(["get", "--"], "which URL?"),
            Mistake(["get", "--", "--json"], "“--json” is no http or https URL"),
            Mistake(["get", ""], "“” is no http or https URL"),
            Mistake(["get", "logo.png"], "“logo.png” is no http or https URL: write it whole, as https://"),
            Mistake(["explain", "ftp://h.example/a"], "“ftp://h.example/a” is no http or https URL"),
            Mistake(["get", "https://"], "“https://” is no http or https URL"),
            Mistake(["get", "http:///a"], "is no http or https URL"),
            Mistake(["get", "http://[::1/"], "is no http or https URL"),
            Mistake(["get", url, "/a"], "“/a” is no http or https URL"),

            Mistake(["get", "--output", "f", url, url], "--output takes one URL"),
            Mistake(["get", "--output", "-", "--json", url], "--output - and --json both need standard output"),
            Mistake(["get", "--header", "value", url], "“value” is no header: write --header 'Name: value'"),
            Mistake(["get", "--header", ": value", url], "is no header"),
            Mistake(["get", "--method", "A B", url], "“A B” isn't an HTTP method"),
            Mistake(["get", "--range", "bytes=0-3", url], "“bytes=0-3” is no range of bytes: write --range 0-99"),
            Mistake(["get", "--range", "-", url], "“-” is no range of bytes"),

            Mistake(["get", "--attach", url], "unknown option --attach"),
            Mistake(
                ["get", "--cache-only", "--offline", url],
                "--offline needs an attached session: leave out --cache-only"
            ),
            Mistake(["get", "--cache-only", "--record", "f", url], "--record needs an attached session"),
            Mistake(["get", "--limit", "much", url], "“much” isn't a size: write --limit 500000, 64k or 256M"),
            Mistake(["add", "--limit", "0", url], "“0” isn't a size"),
            Mistake(["check", "--remote", "--limit", "1T"], "“1T” isn't a size"),
            Mistake(["check", "--limit", "1M"], "--limit goes with --remote: check --remote --limit 1M"),
            Mistake(["check", "substitutions.json"], "check takes no operands: name the map with --map FILE"),
            Mistake(["get", "--parts"], "which URL?"),
            Mistake(["get", "--parts", url, url], "--parts takes one URL"),
            Mistake(["get", "--parts", url, "--output", "f"], "--parts and --output don't go together"),
            Mistake(["page", url], "unknown command page: did you mean get --parts?"),
            Mistake(["serve", "--origin", url], "isn't an origin: use only scheme, host and port"),
            Mistake(["serve", "--origin", "h.example"], "“h.example” isn't an origin"),
            Mistake(["serve", "--origin", "ftp://h.example"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://u@h.example"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://h.example?q"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://h.example", url], "serve takes no operands"),
            Mistake(["serve", "--origin", "https://h.example", "--port", "65536"], "“65536” isn't a port"),
            Mistake(["demo", url], "demo takes no operands"),

            Mistake(["init", "x"], "init takes no operands: name the map with --map FILE"),
            Mistake(["add"], "which URL? Name it, as https://example.com/logo.png"),
            Mistake(["add", url, "a", "b"], "add takes one URL and one file"),
            Mistake(["import"], "which archive? Name one, as recording.har"),
            Mistake(["import", "a.har", "b.har"], "which archive?"),
            Mistake(["import", "--into", "a", "--map", "b", "c.har"], "--into and --map both name the map"),
            Mistake(["import", "--status", "2xx", "a.har"], "“2xx” is no HTTP status: write --status 404"),
            Mistake(["import", "--status", "999", "a.har"], "“999” is no HTTP status"),
            Mistake(["import", "--type", "image", "a.har"], "“image” isn't a MIME type: write --type image/png"),
            Mistake(
                ["import", "--methods", "GET,", "a.har"],
                "“” isn't an HTTP method: write --methods GET,POST or '*'"
            ),
            Mistake(["import", "--methods", "P T", "a.har"], "“P T” isn't an HTTP method"),
            Mistake(["import", "--max-size", "1k", "a.har"], "“1k” is no number of bytes"),
            Mistake(["import", "--match", "h.com/*", "a.har"], "“h.com/*” isn't a match pattern: it has no scheme"),
        ]
    )
    func mistake(_ mistake: Mistake) async throws {
        let run = try await folder.substitute(mistake.words)
        #expect(run.status == 64)
        #expect(run.hasExited)
        #expect(run.bytes.isEmpty)
        #expect(run.messages.hasPrefix("substitute: "))
        #expect(run.messages.contains(mistake.message))
        #expect(!folder.exists("f"))
    }

    @Test(
        "is understood in every usual form",
        arguments: [
            ["--map", "other.json", url], ["--map=other.json", url], [url, "--map", "other.json"],
            ["--map=other.json", "--", url], ["--map", "other.json", "--method=GET", url],
            ["--map=other.json", "--range", "-1", url], ["--map=other.json", "--range=-1", url],
            ["--map=other.json", "--header=A: b=c", "--header", "A: -d", url],
            ["--map=other.json", "--method", "get", url],
        ]
    )
    func form(words: [String]) async throws {
        let run = try await folder.substitute(["explain"] + words)
        #expect(run.status == 0)
        #expect(run.messages.contains("/other.json\n"))
        #expect(run.output.hasPrefix("GET \(Self.url)\n  verdict:      substituted\n"))
    }

    @Test("counts once, if it is a flag that is given twice")
    func flagTwice() async throws {
        let run = try await folder.substitute("check", "--json", "--json")
        #expect(run.status == 0)
    }
}
