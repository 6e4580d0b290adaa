import Foundation
import TestSupport
import Testing

@Suite("The command line", .sessions)
struct UsageTests {
    private static let url = "https://h.example/a"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let map = #"{ "https://h.example/a": "a.txt" }"#
        try folder.writeMap(map, files: ["a.txt": "hello"])
        try folder.writeMap("\n" + map, as: "other.json")
    }

    /// The typed words, and what the message must say.
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
        "Mistakes are refused with advice, and nothing is done",
        arguments: [
            Mistake(["gett", url], "“gett” isn't a command. Did you mean “get”?"),
            Mistake(["exlpain", url], "Did you mean “explain”?"),
            Mistake(["frobnicate"], "“frobnicate” isn't a command. See substitute help."),
            Mistake(["help", "chekc"], "“chekc” isn't a command. Did you mean “check”?"),
            Mistake(["help", "get", "check"], "help takes at most one command. Leave out “check”."),
            Mistake(["--json", "get", url], "“--json” isn't a command. Put the command first"),
            Mistake(["-x"], "“-x” isn't a command"),

            Mistake(
                ["get", "--heder", "A: b", url],
                "“--heder” isn't an option of get. Did you mean “--header”?"
            ),
            Mistake(["schema", "--map", "m"], "“--map” isn't an option of schema. Use --help"),
            Mistake(["help", "--json"], "“--json” isn't an option of help."),
            Mistake(["completions", "--resources", "r", "zsh"], "“--resources” isn't an option of completions."),
            Mistake(["check", "--jsn"], "Did you mean “--json”?"),
            Mistake(["check", "--unheard-of"], "“--unheard-of” isn't an option of check. Use --help"),
            Mistake(["check", "--output", "f"], "“--output” isn't an option"),
            Mistake(["get", "-o", "f", url], "“-o” isn't an option"),
            Mistake(["get", "-reload", url], "“-reload” isn't an option of get. Did you mean “--reload”?"),
            Mistake(["get", url, "--output"], "--output needs a value. Use --output FILE."),
            Mistake(["get", "--map", "--json", url], "--map needs a value. Use --map FILE."),
            Mistake(
                ["get", "--record", "", url],
                "The value of --record is empty. Use --record DIR. If you used a variable, set it first.\n"
            ),
            Mistake(["serve", "--record=", "--origin", url], "The value of --record is empty. Use --record DIR."),
            Mistake(["get", "--output", "", url], "The value of --output is empty. Use --output FILE."),
            Mistake(["check", "--map", ""], "The value of --map is empty. Use --map FILE."),
            Mistake(["check", "--resources", ""], "The value of --resources is empty. Use --resources DIR."),
            Mistake(["import", "--into", "", "a.har"], "The value of --into is empty. Use --into DIR."),
            Mistake(["import", ""], "import: The path FILE.har is an empty text. Name a file."),
            Mistake(["import", "--", ""], "import: The path FILE.har is an empty text. Name a file."),
            Mistake(["add", url, ""], "add: The path FILE is an empty text. Name a file."),
            Mistake(["get", "--json=1", url], "--json doesn't take a value. Leave out “=1”."),
            Mistake(["get", "--reload=", url], "--reload doesn't take a value. Leave out “=”."),
            Mistake(["get", "--map", "other.json", "--map=other.json", url], "--map is given twice. Give it once."),
            Mistake(["get", "--method=GET", "--method", "HEAD", url], "--method is given twice. Give it once."),

            Mistake(["get"], "No URL is given."),
            Mistake(["explain", "--json"], "No URL is given."),
            Mistake(["get", "--"], "No URL is given."),
            Mistake(["get", "--", "--json"], "“--json” isn't an http or https URL"),
            Mistake(["get", ""], "“” isn't an http or https URL"),
            Mistake(["get", "logo.png"], "“logo.png” isn't an http or https URL. Use one such as “https://"),
            Mistake(["explain", "ftp://h.example/a"], "“ftp://h.example/a” isn't an http or https URL"),
            Mistake(["get", "https://"], "“https://” isn't an http or https URL"),
            Mistake(["get", "http:///a"], "isn't an http or https URL"),
            Mistake(["get", "http://[::1/"], "isn't an http or https URL"),
            Mistake(["get", url, "/a"], "“/a” isn't an http or https URL"),

            Mistake(["get", "--output", "f", url, url], "--output writes one body. Leave out the other URLs."),
            Mistake(
                ["get", "--output", "-", "--json", url],
                "--output - and --json both write to standard output. Leave one out."
            ),
            Mistake(["get", "--header", "value", url], "“value” isn't a header. Use --header 'Name: value'."),
            Mistake(["get", "--header", ": value", url], "isn't a header"),
            Mistake(["get", "--header", ";", url], "isn't a header"),
            Mistake(["get", "--header", " ;", url], "isn't a header"),
            Mistake(["get", "--header", "A;b", url], "isn't a header"),
            Mistake(
                ["get", "--header", "Accept:", url],
                "“Accept:” can't remove a header, since URLSession may add it itself. To send an empty value, use “Accept;”."
            ),
            Mistake(["explain", "--header", "Accept: ", url], "“Accept: ” can't remove a header"),
            Mistake(["get", "--method", "A B", url], "“A B” isn't an HTTP method"),
            Mistake(["get", "--range", "bytes=0-3", url], "“bytes=0-3” isn't a range of bytes. Use --range 0-99"),
            Mistake(["get", "--range", "-", url], "“-” isn't a range of bytes"),

            Mistake(["get", "--attach", url], "“--attach” isn't an option"),
            Mistake(
                ["get", "--cache-only", "--offline", url],
                "--offline needs an attached session. Leave out --cache-only."
            ),
            Mistake(["get", "--cache-only", "--record", "f", url], "--record needs an attached session"),
            Mistake(
                ["get", "--limit", "much", url],
                "“much” isn't a size. Use --limit with a size such as 500000, 64k or 256M."
            ),
            Mistake(["add", "--limit", "0", url], "“0” isn't a size"),
            Mistake(["check", "--remote", "--limit", "1T"], "“1T” isn't a size"),
            Mistake(["check", "--limit", "1M"], "--limit needs --remote. Use check --remote --limit 1M."),
            Mistake(["check", "substitutions.json"], "check takes only options. Name the map with --map FILE."),
            Mistake(
                ["get", "--parts", "--record", "f", url],
                "“--parts” isn't an option of get. To record a page, use serve --record with a browser, or get --record"
            ),
            Mistake(["get", "--parts=1", url], "“--parts” isn't an option of get. To record a page"),
            Mistake(["check", "--parts"], "“--parts” isn't an option of check. Use --help"),
            Mistake(["serve", "--origin", url], "isn't an origin. Use only scheme, host and port"),
            Mistake(
                ["serve", "--origin", "h.example"],
                "The origin “h.example” has no scheme. Write http://h.example"
            ),
            Mistake(["serve", "--origin", "ftp://h.example"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://u@h.example"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://h.example?q"], "isn't an origin"),
            Mistake(["serve", "--origin", "https://h.example", url], "serve takes only options"),
            Mistake(["serve", "--origin", "https://h.example", "--port", "65536"], "“65536” isn't a port"),
            Mistake(["demo", url], "demo takes only options"),
            Mistake(["completions"], "Name one shell: bash, zsh or fish.\n"),
            Mistake(["completions", "bash", "zsh"], "Name one shell: bash, zsh or fish.\n"),
            Mistake(["completions", "tcsh"], "There are no completions for “tcsh”. Name bash, zsh or fish.\n"),

            Mistake(["init", "x"], "init takes only options. Name the map with --map FILE."),
            Mistake(["add"], "No URL is given. Name one, such as “https://example.com/logo.png"),
            Mistake(["add", url, "a", "b"], "add takes one URL and at most one file. Leave out “b”."),
            Mistake(["add", url, "HTTPS://h/b"], "add takes one URL. Leave out “HTTPS://h/b”, or add it with another"),
            Mistake(["import"], "import takes one archive. Name one, such as recording.har."),
            Mistake(
                ["import", "--in-order", "a.har"],
                "“--in-order” isn't an option of import. Responses are always in order, so leave it out. "
                    + "For only the last ones, use --last."
            ),
            Mistake(["import", "a.har", "b.har"], "import takes one archive."),
            Mistake(
                ["import", "--into", "a", "--map", "b", "c.har"],
                "--into and --map both say where the map is. Leave one out."
            ),
            Mistake(
                ["import", "--status", "2xx", "a.har"],
                "“2xx” isn't an HTTP status. Use one such as --status 404."
            ),
            Mistake(["import", "--status", "999", "a.har"], "“999” isn't an HTTP status"),
            Mistake(
                ["import", "--type", "image", "a.har"],
                "“image” isn't a MIME type. Use type/subtype, such as --type image/png"
            ),
            Mistake(
                ["import", "--methods", "GET,", "a.har"],
                "“” isn't an HTTP method. Use --methods GET,POST, or '*' for all."
            ),
            Mistake(["import", "--methods", "P T", "a.har"], "“P T” isn't an HTTP method"),
            Mistake(
                ["import", "--max-size", "1k", "a.har"],
                "“1k” isn't a number of bytes. Use one such as --max-size"
            ),
            Mistake(["import", "--match", "h.com/*", "a.har"], "“h.com/*” isn't a match pattern. It has no scheme."),
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
        "Options are understood in every usual form",
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
        #expect(run.output.contains("  entry:        “\(Self.url)”, line 2\n"), "the other map's line")
        #expect(run.output.hasPrefix("GET \(Self.url)\n  attached:     matched: "))
    }

    @Test("A flag that's given twice counts once")
    func flagTwice() async throws {
        let run = try await folder.substitute("check", "--json", "--json")
        #expect(run.status == 0)
    }
}
