import LocalSubstitution

/// The references in a document: a page, a style sheet or a module script.
package struct References: Sendable {
    /// How a document is written.
    package enum Syntax: Sendable {
        case html
        /// HTML in the syntax of XML.
        case xhtml
        case css
        case module
    }

    /// A URL in a document.
    package struct Reference: Sendable {
        package enum Kind: Sendable {
            case styleSheet
            case script
            /// A script whose own imports are loaded too.
            case module
            /// The content of a frame or an object, such as a page with its own parts.
            case frame
            /// A picture, a font, or anything else that is loaded with the document.
            case other
            /// A link that is only loaded when a reader follows it, or a URL that is never loaded.
            case link
        }

        /// The URL, with character references and escapes decoded.
        package let url: SourceText
        package let kind: Kind
        /// The ranges of the element's attributes that make browsers reject a changed style sheet.
        var integrity: [Range<Int>] = []
    }

    package private(set) var all: [Reference] = []
    /// The URL of the first `<base>`.
    package private(set) var base: SourceText?
    /// The ranges of the attributes that make a `<meta>` a policy, which restricts what may be loaded.
    private(set) var policies: [Range<Int>] = []
    /// The URLs that the document's module scripts import.
    package private(set) var imports: [SourceText] = []
    /// The number of the document's scripts. Of their references, only ``imports`` are known.
    package private(set) var scripts = 0

    /// Finds the references of a document. In a page, they include those in its styles and in the pages in its `srcdoc` attributes.
    package init(_ document: SourceText, as syntax: Syntax) {
        switch syntax {
        case .html, .xhtml: addPage(document, isXML: syntax == .xhtml, depth: 0)
        case .css: addStyle(CSSScanner(document))
        case .module: addImports(ModuleImports(document))
        }
    }

    // MARK: HTML

    /// The limit of nested pages in `srcdoc` attributes. Each level reads the text of the inner pages again.
    private static let deepest = 4

    /// The kinds of `<link>` that browsers load.
    private static let loadedLinks: Set<String> = [
        "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "preload",
        "modulepreload", "prefetch",
    ]

    /// The types of scripts that run (WHATWG MIME Sniffing §4.6, and modules).
    private static let scriptTypes: Set<String> = [
        "", "module", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
        "application/ecmascript",
    ]

    private static let policyNames = ["content-security-policy", "content-security-policy-report-only"]

    private mutating func addPage(_ page: SourceText, isXML: Bool, depth: Int) {
        var type = ""
        if isXML {
            var scanner = XMLScanner(page, attributes: URLAttributes.all)
            while let token = scanner.next() { add(token, of: page, type: &type, depth: depth) }
        } else {
            var scanner = HTMLScanner(page, attributes: URLAttributes.all)
            while let token = scanner.next() { add(token, of: page, type: &type, depth: depth) }
        }
    }

    /// - Parameter type: The `type` of the last tag, which is that of the text after it.
    private mutating func add(_ token: HTMLScanner.Token, of page: SourceText, type: inout String, depth: Int) {
        switch token {
        case .tag(let tag):
            let tag = SourceTag(tag, of: page)
            type = tag.word("type")
            add(tag, depth: depth)
        case .text(of: "style", let text) where type.isEmpty || type == "text/css":
            addStyle(CSSScanner(text))
        case .text(of: "script", let text) where type == "module":
            addImports(ModuleImports(text))
        case .text:
            break
        }
    }

    private mutating func add(_ tag: SourceTag, depth: Int) {
        switch tag.root {
        case nil: addHTML(tag, depth: depth)
        case "svg": addSVG(tag)
        case "math": break
        default: return
        }
        if let style = tag.value("style") { addStyle(CSSScanner(style)) }
    }

    private mutating func addHTML(_ tag: SourceTag, depth: Int) {
        switch tag.name {
        case "meta":
            let directive = tag.word("http-equiv")
            if Self.policyNames.contains(directive) { policies += tag.places(of: "http-equiv") }
            if directive == "refresh", let content = tag.value("content"), let url = MetaRefresh.url(in: content.bytes)
            {
                add(content.slice(url), .link)
            }
        case "base":
            if base == nil { base = tag.value("href") }
        case "link":
            addLink(tag)
        case "script":
            let type = tag.word("type")
            let isScript = Self.scriptTypes.contains(type)
            if isScript { scripts += 1 }
            add(tag.value("src"), !isScript ? .link : type == "module" ? .module : .script)
        case "iframe":
            let page = tag.value("srcdoc")
            // This page is shown instead of the one at the URL.
            add(tag.value("src"), page == nil ? .frame : .link)
            if let page, depth < Self.deepest { add(inner: page, depth: depth + 1) }
        case "?xml-stylesheet":
            add(tag.value("href"), .styleSheet)
        case "a", "area":
            if let list = tag.value("ping") { for range in list.words { add(list.slice(range), .link) } }
        default:
            break
        }
        for attribute in URLAttributes.single[tag.name] ?? [] { add(tag.value(attribute.name), attribute.kind) }
        if let set = URLAttributes.sourceSets[tag.name].flatMap({ tag.value($0) }) {
            for range in SourceSet.urls(in: set.bytes) { add(set.slice(range), .other) }
        }
    }

    private mutating func addSVG(_ tag: SourceTag) {
        if let kind = URLAttributes.svg[tag.name] {
            for name in ["href", "xlink:href"] { add(tag.value(name), kind) }
        }
        for name in URLAttributes.presentation {
            if let style = tag.value(name) { addStyle(CSSScanner(style)) }
        }
    }

    private mutating func addLink(_ tag: SourceTag) {
        guard let url = tag.value("href") else { return }
        let relations = tag.words("rel")
        let purpose = tag.word("as")
        let isStyle = relations.contains("stylesheet") || (relations.contains("preload") && purpose == "style")
        let kind: Reference.Kind =
            if Self.loadedLinks.isDisjoint(with: relations) {
                .link
            } else if isStyle {
                .styleSheet
            } else if relations.contains("modulepreload") {
                .module
            } else {
                purpose == "script" ? .script : .other
            }
        all.append(Reference(url: url, kind: kind, integrity: isStyle ? tag.places(of: "integrity") : []))
    }

    private mutating func add(_ url: SourceText?, _ kind: Reference.Kind) {
        if let url { all.append(Reference(url: url, kind: kind)) }
    }

    /// Adds the references of a page in a `srcdoc` attribute, which is HTML even in XHTML. Its base is its own.
    private mutating func add(inner page: SourceText, depth: Int) {
        let outerBase = base
        addPage(page, isXML: false, depth: depth)
        base = outerBase
    }

    // MARK: CSS

    private mutating func addStyle(_ scanner: CSSScanner) {
        var scanner = scanner
        while let found = scanner.next() {
            all.append(Reference(url: found.url, kind: found.isImport ? .styleSheet : .other))
        }
    }

    // MARK: Scripts

    private mutating func addImports(_ scanner: ModuleImports) {
        var scanner = scanner
        while let url = scanner.next() { imports.append(url) }
    }
}
