import LocalSubstitution

/// What a document refers to: a page, or a style sheet.
struct References {
    /// A URL in a document.
    struct Reference {
        enum Kind: Sendable {
            case styleSheet
            case script
            case other
        }

        /// As it is meant: character references and escapes decoded.
        let url: [UInt8]
        /// Where it stands, as it is written.
        let range: Range<Int>
        let kind: Kind
        /// The attribute that would make a changed part invalid.
        var integrity: Range<Int>?
    }

    private(set) var all: [Reference] = []
    /// What the first `<base>` says.
    private(set) var base: [UInt8]?
    /// What would not be right any more in a copy of the page that stands alone: the base, and a policy for what may be loaded.
    private(set) var unfit: [Range<Int>] = []
    /// Where a `<meta charset>` can be put, so that it counts.
    private(set) var placeOfCharset = 0

    /// Those of a style sheet.
    init(styleSheet bytes: [UInt8]) {
        addStyle(bytes, 0..<bytes.count)
    }

    /// Those of a page. Links that a reader may follow, frames, and what scripts load are none.
    init(page bytes: [UInt8]) {
        var scanner = HTMLScanner(bytes)
        while let token = scanner.next() {
            switch token {
            case .text(of: "style", let range): addStyle(bytes, range)
            case .text: break
            case .doctype(let range): placeOfCharset = max(placeOfCharset, range.upperBound)
            case .tag(let tag): add(tag, bytes)
            }
        }
    }

    // MARK: HTML

    private static let attributes: [String: [String]] = [
        "script": ["src"], "img": ["src"], "source": ["src"], "video": ["src", "poster"], "audio": ["src"],
        "track": ["src"], "input": ["src"], "body": ["background"], "table": ["background"], "td": ["background"],
        "th": ["background"], "image": ["href", "xlink:href"],
    ]

    private static let sourceSets = ["img": "srcset", "source": "srcset", "link": "imagesrcset"]

    /// The kinds of `<link>` that browsers load.
    private static let loadedLinks: Set<String> = [
        "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "preload",
        "modulepreload", "prefetch",
    ]

    private mutating func add(_ tag: HTMLScanner.Tag, _ bytes: [UInt8]) {
        func text(_ attribute: HTMLScanner.Attribute) -> SourceText {
            SourceText(attributeValue: attribute.value, of: bytes)
        }
        func words(_ name: String) -> [String] {
            tag.attribute(name).map { String(decoding: text($0).bytes, as: UTF8.self).asciiLowercased }?
                .split { $0.isWhitespace }.map(String.init) ?? []
        }
        let integrity = tag.attribute("integrity")?.range
        switch tag.name {
        case "head":
            placeOfCharset = max(placeOfCharset, tag.range.upperBound)
        case "base":
            guard let href = tag.attribute("href") else { break }
            if base == nil { base = text(href).bytes }
            unfit.append(href.range)
        case "meta":
            if words("http-equiv") == ["content-security-policy"], let content = tag.attribute("content") {
                unfit.append(content.range)
            }
        case "link":
            let relations = words("rel")
            guard !Self.loadedLinks.isDisjoint(with: relations), let href = tag.attribute("href") else { break }
            let isStyle = relations.contains("stylesheet") || words("as") == ["style"]
            let isScript = relations.contains("modulepreload") || words("as") == ["script"]
            add(href, isStyle ? .styleSheet : isScript ? .script : .other, integrity, bytes)
        default:
            for name in Self.attributes[tag.name] ?? [] {
                guard let attribute = tag.attribute(name) else { continue }
                add(attribute, tag.name == "script" ? .script : .other, integrity, bytes)
            }
        }
        if let name = Self.sourceSets[tag.name], let attribute = tag.attribute(name) {
            let value = text(attribute)
            for range in SourceSet.urls(in: value.bytes) {
                all.append(Reference(url: Array(value.bytes[range]), range: value.place(of: range), kind: .other))
            }
        }
        if let style = tag.attribute("style") {
            let value = text(style)
            var scanner = CSSScanner(value.bytes)
            while let found = scanner.next() {
                all.append(Reference(url: found.url, range: value.place(of: found.range), kind: .other))
            }
        }
    }

    private mutating func add(
        _ attribute: HTMLScanner.Attribute,
        _ kind: Reference.Kind,
        _ integrity: Range<Int>?,
        _ bytes: [UInt8]
    ) {
        let url = SourceText(attributeValue: attribute.value, of: bytes).bytes
        all.append(Reference(url: url, range: attribute.value, kind: kind, integrity: integrity))
    }

    // MARK: CSS

    private mutating func addStyle(_ bytes: [UInt8], _ range: Range<Int>) {
        var scanner = CSSScanner(bytes, in: range)
        while let found = scanner.next() {
            all.append(Reference(url: found.url, range: found.range, kind: found.isImport ? .styleSheet : .other))
        }
    }
}
