/// The attributes of HTML and SVG that contain URLs (WHATWG HTML, “Attributes” in its index; SVG 2 §16.1.6).
///
/// Attributes that browsers neither load nor navigate to, such as `cite`, `longdesc` and `itemid`, aren't included.
enum URLAttributes {
    /// Attributes with one URL, by element. Those of `link`, `script` and `iframe` depend on other attributes too.
    static let single: [String: [(name: String, kind: References.Reference.Kind)]] = [
        "a": [("href", .link)], "area": [("href", .link)], "audio": [("src", .other)], "base": [("href", .link)],
        "body": [("background", .other)], "button": [("formaction", .link)], "embed": [("src", .frame)],
        "form": [("action", .link)], "frame": [("src", .frame)], "html": [("manifest", .link)],
        "image": [("src", .other)], "img": [("src", .other)], "input": [("src", .other), ("formaction", .link)],
        "object": [("data", .frame)], "source": [("src", .other)], "table": [("background", .other)],
        "tbody": [("background", .other)], "td": [("background", .other)], "tfoot": [("background", .other)],
        "th": [("background", .other)], "thead": [("background", .other)], "tr": [("background", .other)],
        "track": [("src", .other)], "video": [("src", .other), ("poster", .other)],
    ]

    /// SVG elements with `href` and `xlink:href`.
    static let svg: [String: References.Reference.Kind] = [
        "a": .link, "animate": .link, "animatemotion": .link, "animatetransform": .link, "feimage": .other,
        "filter": .link, "image": .other, "lineargradient": .link, "mpath": .link, "pattern": .link,
        "radialgradient": .link, "script": .script, "set": .link, "textpath": .link, "use": .other,
    ]

    /// Attributes with candidate images, by element. `image` is HTML's old name for `img`.
    static let sourceSets = ["image": "srcset", "img": "srcset", "link": "imagesrcset", "source": "srcset"]

    /// SVG attributes whose CSS value can contain a URL (SVG 2 §6.6, presentation attributes).
    static let presentation = [
        "clip-path", "cursor", "fill", "filter", "marker-end", "marker-mid", "marker-start", "mask", "stroke",
    ]

    /// All of these attributes, and those that tell what the URLs are for.
    static let all: Set<String> = Set(
        single.values.joined().map(\.name) + sourceSets.values + presentation + [
            "as", "content", "href", "http-equiv", "integrity", "ping", "rel", "src", "srcdoc", "style", "type",
            "xlink:href",
        ]
    )
}
