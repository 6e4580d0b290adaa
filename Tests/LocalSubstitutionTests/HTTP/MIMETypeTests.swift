import MapWriting
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("MIME types", .values)
struct MIMETypeTests {
    @Test(
        "Types that browsers agree on come first",
        arguments: [
            "js": "text/javascript", "mjs": "text/javascript", "xml": "application/xml", "mp4": "video/mp4",
            "mp3": "audio/mpeg", "wav": "audio/wav", "rtf": "application/rtf", "sse": "text/event-stream",
        ]
    )
    func byHand(ext: String, type: String) {
        #expect(MIMEType.guess(forExtension: ext) == type)
    }

    @Test(
        "IANA's types come before Apache's, and both before the rest",
        arguments: [
            "aac": "audio/aac", "bmp": "image/bmp", "deb": "application/octet-stream", "emf": "image/emf",
            "exe": "application/octet-stream", "ico": "image/vnd.microsoft.icon", "jpm": "image/jpm",
            "key": "application/vnd.apple.keynote", "m4a": "audio/mp4", "mkv": "video/matroska", "obj": "model/obj",
            "org": "application/vnd.lotus-organizer", "pdb": "application/vnd.palm", "prc": "model/prc",
            "ra": "audio/x-pn-realaudio", "rar": "application/vnd.rar", "sql": "application/sql", "stl": "model/stl",
            "x3db": "model/x3d+fastinfoset", "xfdf": "application/xfdf", "zip": "application/zip",
        ]
    )
    func source(ext: String, type: String) {
        #expect(MIMEType.guess(forExtension: ext) == type)
    }

    @Test("Among types with equal standing, one without x- comes first")
    func unprefixed() {
        #expect(MIMEType.guess(forExtension: "bdoc") == "application/bdoc")
    }

    @Test(
        "Then the shorter type comes first, then the last in alphabetical order",
        arguments: [
            "ac": "application/pkix-attr-cert", "asc": "application/pgp-keys", "mpg4": "video/mp4",
            "mts": "video/mp2t", "php": "text/x-php", "sub": "text/vnd.dvb.subtitle", "wmz": "application/x-ms-wmz",
            "xsl": "application/xml", "3gpp": "video/3gpp", "mpp": "application/vnd.ms-project",
        ]
    )
    func tie(ext: String, type: String) {
        #expect(MIMEType.guess(forExtension: ext) == type)
    }

    @Test(
        "A web page's files have the types that browsers expect",
        arguments: [
            "html": "text/html", "htm": "text/html", "css": "text/css", "json": "application/json",
            "map": "application/json", "webmanifest": "application/manifest+json", "wasm": "application/wasm",
            "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
            "webp": "image/webp", "avif": "image/avif", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf",
            "otf": "font/otf", "webm": "video/webm", "ogg": "audio/ogg", "mov": "video/quicktime", "ts": "video/mp2t",
            "m3u8": "application/vnd.apple.mpegurl", "vtt": "text/vtt", "txt": "text/plain", "csv": "text/csv",
            "pdf": "application/pdf", "gz": "application/gzip", "rss": "application/rss+xml",
            "xhtml": "application/xhtml+xml", "bin": "application/octet-stream",
        ]
    )
    func common(ext: String, type: String) {
        #expect(MIMEType.guess(forExtension: ext) == type)
    }

    @Test("Letter case doesn't matter", arguments: ["PNG", "Png", "pNG"])
    func ignoresCase(ext: String) {
        #expect(MIMEType.guess(forExtension: ext) == "image/png")
    }

    @Test("One leading dot is dropped")
    func leadingDot() {
        #expect(MIMEType.guess(forExtension: ".png") == "image/png")
        #expect(MIMEType.guess(forExtension: "..png") == nil)
    }

    // The lowercase forms of the Kelvin sign and the dotted I are, or begin with, an ASCII letter.
    @Test(
        "An unknown extension has no type",
        arguments: ["", ".", "unknown", "png ", " png", "tar.gz", "text/html", "m\u{212A}v", "g\u{130}f", "html\n"]
    )
    func unknown(ext: String) {
        #expect(MIMEType.guess(forExtension: ext) == nil)
    }

    @Test(
        "The extension follows the last dot of the last component",
        arguments: [
            "a.png": "png", "a/b.tar.gz": "gz", "/a.b/c.JS": "JS", ".env.local": "local", "a b.c d": "c d",
            "./a.css": "css",
        ]
    )
    func fileExtension(path: String, ext: String) {
        #expect(MIMEType.fileExtension(of: path) == ext)
    }

    @Test(
        "A name without a dot, or with one only at its start or end, has no extension",
        arguments: ["", "a", "a.b/c", "a.b/", ".env", "a/.env", "x.", "/", ".", "..", "a/.."]
    )
    func noFileExtension(path: String) {
        #expect(MIMEType.fileExtension(of: path) == nil)
    }

    @Test(
        "Text, scripts, JSON and XML are text",
        arguments: [
            "text/html", "text/css", "text/plain", "text/javascript", "application/javascript",
            "application/ecmascript", "application/x-javascript", "application/json", "application/ld+json",
            "application/manifest+json", "application/xml", "text/xml", "image/svg+xml", "application/xhtml+xml",
            "Text/HTML", "application/json; charset=utf-8", "application/json ;charset=utf-8",
        ]
    )
    func text(type: String) {
        #expect(MIMEType.isText(type))
    }

    @Test(
        "Everything else isn't text",
        arguments: [
            "", "text", "image/png", "application/octet-stream", "application/wasm", "application/pdf", "font/woff2",
            "application/xml-dtd", "application/jsonml", "video/mp4", "application/zip; name=a+json",
        ]
    )
    func notText(type: String) {
        #expect(!MIMEType.isText(type))
    }

    @Test("The table has over 1,000 extensions with valid types, and each is found")
    func table() {
        #expect(MIMEType.types.count > 1000)
        for (ext, type) in MIMEType.types {
            #expect(ext.wholeMatch(of: /[a-z0-9_-]+/) != nil)
            // RFC 9110 §5.6.2 and §8.3.1, in lowercase.
            let token = /([a-z0-9!#$%&'*+.^_`|~-]+)\/([a-z0-9!#$%&'*+.^_`|~-]+)/
            #expect(type.wholeMatch(of: token) != nil)
            #expect(MIMEType.guess(forExtension: ext) == type)
        }
    }

    @Test("An extension is listed once")
    func once() {
        let words = MIMEType.table.description.split { $0.isWhitespace }
        let listed = words.flatMap { $0.split(separator: ":").dropFirst() }.flatMap { $0.split(separator: ",") }
        #expect(listed.count == MIMEType.types.count)
    }
}
