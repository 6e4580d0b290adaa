import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapWriting

@Suite("Names of recorded files", .values)
struct RecordedFileNameTests {
    @Test(
        "Names are readable, and safe on every file system",
        arguments: [
            ("https://h.com/a/logo.png", "image/png", "h.com/a/logo.png"),
            ("https://h.com/", "text/html", "h.com/index.html"),
            ("https://h.com/a/", "application/json", "h.com/a/index.json"),
            ("https://h.com/api", "application/json", "h.com/api.json"), ("https://h.com/x", nil, "h.com/x.bin"),
            ("https://h.com/v1.2", "application/json", "h.com/v1.2.json"), ("https://h.com/x", "a/b", "h.com/x.bin"),
            ("https://h.com/p", "image/jpeg", "h.com/p.jpg"), ("https://h.com/s", "text/javascript", "h.com/s.js"),
            ("https://h.com/f", "font/woff2", "h.com/f.woff2"),
            ("https://h.com/v", "application/vnd.x+json", "h.com/v.json"),
            ("http://127.0.0.1:8080/a.css", "text/css", "127.0.0.1_8080/a.css"),
            ("http://[::1]:80/a.css", nil, "--1/a.css"),
            ("https://h.com/a%20b/%C3%A9.txt", nil, "h.com/a b/é.txt"),
            ("https://h.com/con.%CC%81x", nil, "h.com/_con.\u{301}x.bin"),
            ("https://h.com/e%CC%81.txt", nil, "h.com/é.txt"),
            // A character that joins the one after it.
            ("https://h.com/%E0%B5%8E.png", nil, "h.com/\u{D4E}.png"),
            ("https://h.com/a%2Fb%5Cc.txt", nil, "h.com/a_b_c.txt"),
            ("https://h.com/a:b%3C%3E%22%7C%3F*.txt", nil, "h.com/a_b______.txt"),
            ("https://h.com/a%00%0A%7F.txt", nil, "h.com/a___.txt"), ("https://h.com/%FF.txt", nil, "h.com/%FF.txt"),
            ("https://h.com/%E2%80%AEx.txt", nil, "h.com/_x.txt"),
            ("https://h.com/CON", "text/html", "h.com/_CON.html"),
            ("https://h.com/nul.txt/com1.png", nil, "h.com/_nul.txt/_com1.png"),
            ("https://con/a.txt", nil, "_con/a.txt"),
            ("https://h.com/.git/.env", nil, "h.com/_git/_env.bin"),
            ("https://h.com/a./b%20/c.txt", nil, "h.com/a_/b_/c.txt"),
            ("https://h.com/a//b.txt", nil, "h.com/a/_/b.txt"), ("https://h.com/...", nil, "h.com/_.bin"),
            ("https://h.com/%CC%81.txt", nil, "h.com/_\u{301}.txt"),
        ] as [(String, String?, String)]
    )
    func table(url: String, type: String?, name: String) throws {
        #expect(try Array(RecordedFileName(NormalizedURL(url), type: type).candidate(0).utf8) == Array(name.utf8))
    }

    @Test("A query becomes a short digest, the same for the same URL")
    func query() throws {
        func name(_ url: String) throws -> String {
            try RecordedFileName(NormalizedURL(url), type: "text/plain").candidate(0)
        }
        #expect(try name("https://h/a.txt?b=1&c=2").wholeMatch(of: /h\/a-[0-9a-f]{8}\.txt/) != nil)
        #expect(try name("https://h/a.txt?b=1&c=2") == name("https://h/a.txt?c=2&b=1"))
        #expect(try name("https://h/a.txt?b=1") != name("https://h/a.txt?b=2"))
    }

    @Test("Files and folders never collide if letter case and composed forms don't count")
    func collisions() throws {
        var names = RecordedFileName.InUse()
        var taken: [String] = []
        let urls = [
            "https://h/a", "http://h/a", "https://h/A", "https://h/a.txt", "https://h/a.txt/b", "https://h/A.TXT/c",
            "https://h/d.txt/e",
            "https://h/d.txt", "https://h/%C3%A9", "https://h/E%CC%81", "https://h/stra%C3%9Fe", "https://h/STRASSE",
            "https://h/x?q",
            "https://h/x?r", "https://h/Dir/x", "https://h/dir/y",
        ]
        for url in urls {
            let name = try RecordedFileName(NormalizedURL(url), type: "text/plain")
            var free: String?
            for number in 0..<5 where free == nil { free = names.take(name.candidate(number)) }
            taken.append(try #require(free))
        }
        #expect(Set(taken.map { $0.decomposedStringWithCanonicalMapping.uppercased() }).count == urls.count)
        #expect(taken.suffix(2) == ["h/Dir/x.txt", "h/Dir/y.txt"])
        let folders = Set(
            taken.flatMap { name in name.indices.filter { name[$0] == "/" }.map { name[..<$0].lowercased() } }
        )
        #expect(taken.allSatisfy { !folders.contains($0.lowercased()) })
    }

    @Test("Names follow the rules, whatever the URL")
    func random() throws {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "a", "é", "%C3%A9", "/", "//", ".", "..", "%2e", "%2F", "%5C", "\\", " ", "%20", "*", "?", ":", "|", "CON",
            "nul.", "%00",
            "%FF", "\u{301}", "%E2%80%AE", ".png", "~", "%", "&k=v", ";", String(repeating: "x", count: 190),
            String(repeating: "é/", count: 90),
            "👩‍👩‍👧", "COM¹", "com1.txt", "#", "$", "'", "LPT9", "-", "_",
        ]
        for _ in 0..<800 {
            let path = (0..<generator.below(12)).map { _ in generator.pick(pieces) }.joined()
            let url = try NormalizedURL("https://h.example/" + path)
            let type = generator.pick(["text/html", "image/png", nil, "x", "application/octet-stream"])
            let digest = generator.once(in: 3) ? "0123456789abcdef" : nil
            for number in [0, 1, 4] {
                let name = RecordedFileName(url, type: type, bodyDigest: digest).candidate(number)
                expectSafe(name)
            }
        }
    }

    private static let devices = Set(
        ["con", "prn", "aux", "nul"] + "0123456789¹²³".flatMap { ["com\($0)", "lpt\($0)"] }
    )

    private func expectSafe(_ name: String) {
        #expect(name.utf8.count <= RecordedFileName.longest && FileName(text: name).problem == nil)
        let segments = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        #expect(segments.count >= 2)
        for segment in segments {
            let bad = segment.unicodeScalars.contains {
                $0.value < 0x20 || $0.value == 0x7F || "<>:\"|?*\\".unicodeScalars.contains($0)
            }
            let isDevice = Self.devices.contains(String(Substring(segment.utf8.prefix { $0 != 46 })).lowercased())
            let ends = (segment.utf8.first ?? 46, segment.utf8.last ?? 46)
            let isRight =
                !bad && !isDevice && (1...200).contains(segment.utf8.count) && ends.0 != 46 && ends.1 != 46
                && ends.1 != 32
            #expect(isRight, "\(segment.debugDescription)")
        }
    }
}
