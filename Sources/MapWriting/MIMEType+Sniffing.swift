import HTTPSyntax
package import LocalSubstitution

/// Finding the type of a file from its first bytes (after WHATWG MIME Sniffing §6 and §7.1).
extension MIMEType {
    /// How many bytes at the beginning of a file are looked at. This is the length of a “resource header” in WHATWG
    /// MIME Sniffing §5.2.
    package static let sniffedLength = 1445

    /// Returns the type that a file's first bytes have, such as `text/html`; `nil` if it isn't known.
    package static func sniffed(_ firstBytes: some Collection<UInt8>) -> String? {
        format(of: Array(firstBytes.prefix(sniffedLength)))?.types.first
    }

    /// Returns what a file's first bytes look like, if they contradict the file's type.
    ///
    /// Bytes that may have the type don't contradict it. For example, an empty file fits any type, and a ZIP archive
    /// may be a `.docx`.
    ///
    /// - Parameters:
    ///   - firstBytes: The file's first bytes. At most ``sniffedLength`` of them are looked at.
    ///   - type: The file's MIME type, in uppercase or lowercase, with or without parameters.
    /// - Returns: A few words for a warning, such as `text/html`, `no PNG signature` or `markup`; `nil`
    ///   if there's no contradiction.
    package static func contradicts(_ firstBytes: some Collection<UInt8>, type: String) -> String? {
        let bytes = Array(firstBytes.prefix(sniffedLength))
        let type = essence(of: type)
        if bytes.isEmpty || type == "application/octet-stream" { return nil }
        let own = formats.first { $0.types.contains(type) }

        guard let sniffed = format(of: bytes) else {
            if let signature = own?.required { return "no \(signature) signature" }
            return isJSON(type) && withoutLeadingSpace(bytes).first == UInt8(ascii: "<") ? "markup" : nil
        }
        // A type that isn't in the table may be built on the found format, unless the type is JSON or a script.
        let isOpaque = own == nil && !(type.hasPrefix("application/") && isText(type))
        let accepted = sniffed.types + sniffed.alsoIn + (isOpaque ? sniffed.inside : [])
        return accepted.contains { fits(type, $0) } ? nil : sniffed.types.first
    }

    /// Returns whether bytes begin as only files of a type begin.
    ///
    /// - Parameter type: A MIME type in lowercase, without parameters.
    package static func hasSignature(_ bytes: some Collection<UInt8>, of type: String) -> Bool {
        format(of: Array(bytes))?.types.contains { fits(type, $0) } ?? false
    }
}

// MARK: - The formats

extension MIMEType {
    private struct Format {
        /// The MIME types with which such files may be sent. The first is the format's name.
        let types: [String]
        /// The texts with which such a file may begin: one scalar for each byte, and `*` for any byte.
        let signatures: [String]
        /// The texts with which such a file may begin after white space, in lowercase. In the file, letter case doesn't
        /// matter.
        let markup: [String]
        /// The name of the signature if all files of these types have it; otherwise, `nil`.
        let required: String?
        /// Types of other formats in this table whose files may also begin like files of this format.
        let alsoIn: [String]
        /// Types that are often built on this format, and that have no format in this table.
        let inside: [String]

        init(
            _ types: String,
            _ signatures: [String] = [],
            markup: [String] = [],
            required: String? = nil,
            alsoIn: String = "",
            inside: String = ""
        ) {
            self.types = types.split(separator: " ").map(String.init)
            self.signatures = signatures
            self.markup = markup
            self.required = required
            self.alsoIn = alsoIn.split(separator: " ").map(String.init)
            self.inside = inside.split(separator: " ").map(String.init)
        }
    }

    private static let anyFile = "application/* model/*"
    private static let anyMedia = "audio/* video/*"
    // Templates and scripts, which often begin with the markup that they produce.
    private static let anySource = "text/plain text/markdown text/x-* text/vnd.*"
    private static let sfnt = "font/ttf font/otf font/collection font/sfnt application/x-font-* application/font-sfnt"
    private static let heif = "image/heic image/heif image/heic-sequence image/heif-sequence"
    private static let matroska = "video/matroska video/x-matroska video/matroska-3d audio/matroska audio/x-matroska"

    private static let formats = [
        Format("image/png image/apng image/x-png", ["\u{89}PNG\r\n\u{1A}\n"], required: "PNG"),
        Format("image/jpeg image/jpg image/pjpeg", ["\u{FF}\u{D8}\u{FF}"], required: "JPEG"),
        Format("image/gif", ["GIF87a", "GIF89a"], required: "GIF"),
        Format("image/webp", ["RIFF****WEBP"], required: "WebP"),
        // A text may begin with `BM`, too. In a BMP file, four zeros come after the file's size.
        Format("image/bmp image/x-ms-bmp image/x-bmp", ["BM****\0\0\0\0"]),
        Format("image/vnd.microsoft.icon image/x-icon", ["\0\0\u{1}\0"]),
        // Any file with `ftyp` may be video. So the formats with the brands of images come first
        // (ISO/IEC 14496-12 §4.3).
        Format("image/avif image/avif-sequence", ["****ftypavif", "****ftypavis"], alsoIn: heif),
        Format(heif, ["****ftyphe**", "****ftypmif1", "****ftypmsf1"], alsoIn: "image/avif image/avif-sequence"),
        Format("video/mp4 audio/mp4 application/mp4", ["****ftyp"], inside: anyMedia),
        Format("video/webm audio/webm \(matroska)", ["\u{1A}E\u{DF}\u{A3}"]),
        Format("application/ogg audio/ogg video/ogg", ["OggS\0"], inside: anyMedia),
        Format("audio/wav audio/wave audio/x-wav audio/vnd.wave", ["RIFF****WAVE"]),
        Format("video/x-msvideo video/avi", ["RIFF****AVI "]),
        // AAC and other formats may begin with an ID3 tag, too.
        Format("audio/mpeg audio/mp3 audio/x-mpeg", ["ID3\u{2}", "ID3\u{3}", "ID3\u{4}"], inside: "audio/*"),
        Format("audio/mpeg audio/mp3 audio/x-mpeg", ["\u{FF}\u{FB}", "\u{FF}\u{FA}", "\u{FF}\u{F3}", "\u{FF}\u{F2}"]),
        Format("audio/x-aiff audio/aiff", ["FORM****AIFF", "FORM****AIFC"]),
        Format("audio/midi audio/mid audio/x-midi", ["MThd\0\0\0\u{6}"]),

        Format("font/woff application/font-woff", ["wOFF"], required: "WOFF"),
        Format("font/woff2 application/font-woff2", ["wOF2"], required: "WOFF2"),
        // The last zero is the upper half of the number of tables. Without it, databases and texts would match too.
        Format(sfnt, ["\0\u{1}\0\0\0"]),
        Format("font/otf \(sfnt)", ["OTTO\0"]),
        Format("font/collection \(sfnt)", ["ttcf\0"]),

        // `.ai` files are PDFs, but have the type of PostScript.
        Format("application/pdf application/x-pdf", ["%PDF-"], required: "PDF", inside: "application/postscript"),
        Format("application/wasm", ["\0asm"], required: "WebAssembly"),
        Format(
            "application/zip application/x-zip-compressed",
            ["PK\u{3}\u{4}", "PK\u{5}\u{6}", "PK\u{7}\u{8}"],
            required: "ZIP",
            inside: anyFile
        ),
        Format(
            "application/gzip application/x-gzip",
            ["\u{1F}\u{8B}\u{8}"],
            required: "gzip",
            alsoIn: "image/svg+xml",
            inside: anyFile
        ),
        Format("application/vnd.rar application/x-rar-compressed", ["Rar!\u{1A}\u{7}"], inside: anyFile),
        Format("application/x-7z-compressed", ["7z\u{BC}\u{AF}'\u{1C}"], inside: anyFile),

        Format(
            "text/html application/xhtml+xml application/vnd.wap.xhtml+xml",
            markup: ["<!doctype html", "<html"],
            inside: "\(anySource) application/x-httpd-php"
        ),
        Format("image/svg+xml", markup: ["<svg"], alsoIn: "application/xml text/xml text/html", inside: anySource),
        Format(
            "application/xml text/xml",
            markup: ["<?xml"],
            alsoIn: "*+xml text/html text/sgml",
            inside: "\(anySource) \(anyFile)"
        ),
    ]

    /// Returns the first format with a signature or markup that the bytes begin with; `nil` if there's none.
    private static func format(of bytes: [UInt8]) -> Format? {
        let text = String(decoding: withoutLeadingSpace(bytes).prefix(16), as: UTF8.self).asciiLowercased
        return formats.first { format in
            format.signatures.contains { starts(bytes, with: $0) } || format.markup.contains { text.hasPrefix($0) }
        }
    }

    private static func starts(_ bytes: [UInt8], with signature: String) -> Bool {
        let scalars = signature.unicodeScalars
        return bytes.count >= scalars.count && zip(bytes, scalars).allSatisfy { $1 == "*" || UInt32($0) == $1.value }
    }

    /// Returns the bytes without a UTF-8 byte order mark and white space at the beginning (WHATWG MIME Sniffing §3).
    private static func withoutLeadingSpace(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return bytes[start...].drop { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }
    }

    /// Returns whether a type matches a pattern, which may have a `*` at either end.
    private static func fits(_ type: String, _ pattern: String) -> Bool {
        if pattern.hasPrefix("*") { return type.hasSuffix(pattern.dropFirst()) }
        if pattern.hasSuffix("*") { return type.hasPrefix(pattern.dropLast()) }
        return type == pattern
    }
}
