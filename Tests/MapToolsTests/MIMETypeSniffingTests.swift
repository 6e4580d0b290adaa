import TestSupport
import Testing

@testable import LocalSubstitution
@testable import MapWriting

@Suite("MIME type sniffing", .values)
struct MIMETypeSniffingTests {
    /// The first bytes of files, one scalar per byte, and their sniffed type.
    static let samples: [(start: String, type: String)] = [
        ("\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR", "image/png"),
        ("GIF87a\u{1}\0", "image/gif"),
        ("GIF89a\u{1}\0", "image/gif"),
        ("\u{FF}\u{D8}\u{FF}\u{E0}\0\u{10}JFIF", "image/jpeg"),
        ("RIFF\u{24}\0\0\0WEBPVP8 ", "image/webp"),
        ("BM\u{36}\0\0\0\0\0\0\0\u{36}", "image/bmp"),
        ("\0\0\u{1}\0\u{1}\0\u{10}\u{10}", "image/vnd.microsoft.icon"),
        ("\0\0\0\u{20}ftypavif\0\0\0\0", "image/avif"),
        ("\0\0\0\u{20}ftypavis\0\0\0\0", "image/avif"),
        ("\0\0\0\u{18}ftypheic\0\0\0\0", "image/heic"),
        ("\0\0\0\u{18}ftypmif1\0\0\0\0", "image/heic"),
        ("\0\0\0\u{18}ftypisom\0\0\u{2}\0", "video/mp4"),
        ("\0\0\0\u{18}ftypM4A \0\0\0\0", "video/mp4"),
        ("\0\0\0\u{14}ftypqt  \0\0\0\0", "video/mp4"),
        ("\u{1A}\u{45}\u{DF}\u{A3}\u{9F}\u{42}\u{86}", "video/webm"),
        ("OggS\0\u{2}\0\0", "application/ogg"),
        ("RIFF\u{24}\0\0\0WAVEfmt ", "audio/wav"),
        ("RIFF\u{24}\0\0\0AVI LIST", "video/x-msvideo"),
        ("ID3\u{3}\0\0", "audio/mpeg"),
        ("\u{FF}\u{FB}\u{90}\u{64}", "audio/mpeg"),
        ("FORM\0\0\0\u{24}AIFFCOMM", "audio/x-aiff"),
        ("FORM\0\0\0\u{24}AIFCFVER", "audio/x-aiff"),
        ("MThd\0\0\0\u{6}\0\u{1}", "audio/midi"),
        ("wOFF\0\u{1}\0\0", "font/woff"),
        ("wOF2\0\u{1}\0\0", "font/woff2"),
        ("\0\u{1}\0\0\0\u{12}\u{1}\0", "font/ttf"),
        ("OTTO\0\u{9}\0\u{80}", "font/otf"),
        ("ttcf\0\u{1}\0\0", "font/collection"),
        ("%PDF-1.7\n", "application/pdf"),
        ("PK\u{3}\u{4}\u{14}\0", "application/zip"),
        ("PK\u{5}\u{6}\0\0", "application/zip"),
        ("\u{1F}\u{8B}\u{8}\0", "application/gzip"),
        ("Rar!\u{1A}\u{7}\0", "application/vnd.rar"),
        ("Rar!\u{1A}\u{7}\u{1}\0", "application/vnd.rar"),
        ("7z\u{BC}\u{AF}\u{27}\u{1C}\0\u{4}", "application/x-7z-compressed"),
        ("\0asm\u{1}\0\0\0", "application/wasm"),
        ("<!DOCTYPE html>", "text/html"),
        ("<!doctype HTML PUBLIC", "text/html"),
        ("\r\n\t <html lang=en>", "text/html"),
        ("\u{EF}\u{BB}\u{BF}\n<HTML>", "text/html"),
        ("<?xml version=\"1.0\"?>", "application/xml"),
        ("<svg xmlns=", "image/svg+xml"),
    ]

    @Test("A signature determines the type", arguments: samples)
    func signature(start: String, type: String) {
        #expect(MIMEType.sniff(bytes(start)) == type)
    }

    @Test(
        "A signature without its last byte determines nothing",
        arguments: ["\u{89}PNG\r\n\u{1A}", "<htm", "%PDF"]
    )
    func truncated(start: String) {
        #expect(MIMEType.sniff(bytes(start)) == nil)
    }

    @Test(
        "Other bytes determine nothing",
        arguments: [
            "", " ", "hello", "{\"a\": 1}", "body { }", "BMW is a maker of cars", "ID3 is a tag", "OTTO is a name",
            "\0\u{1}\0\0Standard Jet DB", "<!doctype", "<!-- -->", "x<html>", "RIFF\u{24}\0\0\0ACON",
            "\u{FF}\u{FE}h\0", " \u{89}PNG\r\n\u{1A}\n",
        ]
    )
    func noSignature(start: String) {
        #expect(MIMEType.sniff(bytes(start)) == nil)
    }

    @Test("White space is skipped up to the length of the resource header")
    func length() {
        let length = MIMEType.sniffedLength
        #expect(MIMEType.sniff(bytes(String(repeating: " ", count: length - 5) + "<html>")) == "text/html")
        #expect(MIMEType.sniff(bytes(String(repeating: " ", count: length) + "<html>")) == nil)
    }

    @Test("A file of its signature's type has no contradiction", arguments: samples)
    func agreement(start: String, type: String) {
        #expect(MIMEType.contradicts(bytes(start), type: type) == nil)
        #expect(MIMEType.contradicts(bytes(start), type: "application/octet-stream") == nil)
    }

    @Test("Every sniffed type is known for some extension", arguments: samples)
    func naming(start: String, type: String) {
        #expect(MIMEType.types.values.contains(type))
    }

    static let zip = "PK\u{3}\u{4}"
    static let gzip = "\u{1F}\u{8B}\u{8}"
    static let mp4 = "\0\0\0\u{18}ftypisom"
    static let html = "<!doctype html>"
    static let xml = "<?xml version=\"1.0\"?>"
    static let png = "\u{89}PNG\r\n\u{1A}\n"

    @Test(
        "A format that others are built on isn't a contradiction",
        arguments: [
            (zip, "docx"), (zip, "xlsx"), (zip, "jar"), (zip, "apk"), (zip, "epub"), (zip, "odt"), (zip, "kmz"),
            (zip, "usdz"), (zip, "cbz"), (gzip, "gz"), (gzip, "svgz"), (gzip, "bin"), ("Rar!\u{1A}\u{7}\0", "cbr"),
            (mp4, "m4a"), (mp4, "mov"), (mp4, "m4v"), (mp4, "3gp"), (mp4, "m4s"), ("\0\0\0\u{18}ftypmif1", "avif"),
            ("\0\0\0\u{18}ftypmif1", "heif"), ("\u{1A}\u{45}\u{DF}\u{A3}", "mkv"),
            ("\u{1A}\u{45}\u{DF}\u{A3}", "mka"), ("\u{1A}\u{45}\u{DF}\u{A3}", "weba"), ("OggS\0", "ogg"),
            ("OggS\0", "ogv"), ("OggS\0", "opus"), ("ID3\u{4}", "aac"), ("OTTO\0", "ttf"), ("ttcf\0", "ttf"),
            ("\0\u{1}\0\0\0", "otf"), ("\0\u{1}\0\0\0", "ttc"), ("%PDF-", "ai"), (png, "apng"), (xml, "svg"),
            (xml, "xhtml"), (xml, "rss"), (xml, "xsl"), (xml, "html"), (xml, "txt"), (xml, "jnlp"), (xml, "opml"),
            (xml, "dae"), ("<svg>", "xml"), ("<svg>", "html"), (html, "txt"), (html, "md"), (html, "php"),
            (html, "xhtml"), ("<html>", "hbs"),
        ]
    )
    func container(start: String, ext: String) throws {
        let type = try #require(MIMEType.guess(forExtension: ext))
        #expect(MIMEType.contradicts(bytes(start), type: type) == nil)
    }

    @Test(
        "A type's other names aren't contradictions",
        arguments: [
            ("\0\0\u{1}\0", "image/x-icon"), ("RIFF\0\0\0\0WAVE", "audio/x-wav"), ("RIFF\0\0\0\0WAVE", "audio/wave"),
            (xml, "text/xml"), (zip, "application/x-zip-compressed"), ("\0\u{1}\0\0\0", "application/x-font-ttf"),
            (html, "Text/HTML; charset=utf-8"), (png, "IMAGE/PNG"), ("\u{FF}\u{FB}\u{90}", "audio/mp3"),
        ]
    )
    func alias(start: String, type: String) {
        #expect(MIMEType.contradicts(bytes(start), type: type) == nil)
    }

    @Test(
        "Another type's signature is a contradiction",
        arguments: [
            (html, "image/png", "text/html"), (html, "image/svg+xml", "text/html"), (html, "text/css", "text/html"),
            (html, "text/javascript", "text/html"), (html, "application/json", "text/html"),
            (html, "font/woff2", "text/html"), (html, "video/mp4", "text/html"),
            (html, "application/wasm", "text/html"),
            (html, "application/rss+xml", "text/html"), (html, "application/java-archive", "text/html"),
            (xml, "text/javascript", "application/xml"), (xml, "application/json", "application/xml"),
            (xml, "image/png", "application/xml"), ("<svg>", "image/png", "image/svg+xml"),
            (png, "image/jpeg", "image/png"), (png, "image/vnd.microsoft.icon", "image/png"),
            (png, "text/html", "image/png"), (png, "application/json", "image/png"), (png, "text/plain", "image/png"),
            ("GIF89a", "image/webp", "image/gif"), ("wOFF", "font/woff2", "font/woff"),
            ("wOF2", "font/ttf", "font/woff2"), (zip, "text/plain", "application/zip"),
            (zip, "application/json", "application/zip"), (zip, "application/ld+json", "application/zip"),
            (zip, "application/gzip", "application/zip"), (zip, "application/pdf", "application/zip"),
            (zip, "image/jp2", "application/zip"), (gzip, "text/css", "application/gzip"),
            (gzip, "application/wasm", "application/gzip"), (gzip, "application/json", "application/gzip"),
            (mp4, "audio/mpeg", "video/mp4"), (mp4, "video/webm", "video/mp4"), (mp4, "image/avif", "video/mp4"),
            ("OggS\0", "audio/wav", "application/ogg"), ("ID3\u{3}", "audio/mp4", "audio/mpeg"),
        ]
    )
    func contradiction(start: String, type: String, found: String) {
        #expect(MIMEType.contradicts(bytes(start), type: type) == found)
    }

    @Test(
        "A type that always has a signature is contradicted by bytes without one",
        arguments: [
            "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "font/woff": "WOFF",
            "font/woff2": "WOFF2", "application/pdf": "PDF", "application/wasm": "WebAssembly",
            "application/zip": "ZIP", "application/gzip": "gzip",
        ]
    )
    func missingSignature(type: String, name: String) {
        #expect(MIMEType.contradicts(bytes("Not Found"), type: type) == "no \(name) signature")
        #expect(MIMEType.contradicts(bytes(""), type: type) == nil)
    }

    @Test(
        "A type whose files may begin with anything isn't contradicted by bytes without a signature",
        arguments: ["text/html", "text/css", "image/svg+xml", "audio/mpeg", "video/mp4", "image/tiff", "unknown", ""]
    )
    func noSignatureNeeded(type: String) {
        #expect(MIMEType.contradicts(bytes("Not Found"), type: type) == nil)
        #expect(MIMEType.contradicts(bytes("<p>Not Found</p>"), type: type) == nil)
    }

    @Test("JSON that begins with < is a contradiction", arguments: ["application/json", "application/ld+json"])
    func markupAsJSON(type: String) {
        #expect(MIMEType.contradicts(bytes("\n <h1>Not Found</h1>"), type: type) == "markup")
        #expect(MIMEType.contradicts(bytes("\n {\"a\": \"<\"}"), type: type) == nil)
        #expect(MIMEType.contradicts(bytes("\n "), type: type) == nil)
    }

    /// Returns the bytes that a text stands for, one per scalar.
    private func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
}

extension MIMEType {
    /// Returns the type whose signature a file begins with, such as `image/png`. It contradicts an unknown type.
    fileprivate static func sniff(_ firstBytes: some Collection<UInt8>) -> String? {
        contradicts(firstBytes, type: "x/unknown")
    }
}
