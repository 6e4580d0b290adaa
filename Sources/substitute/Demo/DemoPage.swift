import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One HTML file that shows both loads of the demo's site side by side, with everything inside it.
struct DemoPage {
    /// Fills the page's template.
    static func html(origin: URL, first: [Fetch], second: [Fetch], summaries: (first: String, second: String)) throws
        -> String
    {
        let template = try DemoBundle.url("SideBySide.html")
        let filled = [
            "{{origin}}": escape(origin.absoluteString),
            "{{left.srcdoc}}": escape(inlined(first)), "{{right.srcdoc}}": escape(inlined(second)),
            "{{left.rows}}": rows(first), "{{right.rows}}": rows(second),
            "{{left.summary}}": escape(summaries.first), "{{right.summary}}": escape(summaries.second),
            "{{footer}}": "Written by <code>substitute demo</code>, version \(Main.version)",
        ]
        return try filled.reduce(String(contentsOf: template, encoding: .utf8)) { page, part in
            page.replacingOccurrences(of: part.key, with: part.value)
        }
    }

    /// The page with its parts as `data:` URLs, so that it needs no server.
    private static func inlined(_ fetches: [Fetch]) -> String {
        var bodies: [String: Fetch] = [:]
        for fetch in fetches { bodies[fetch.url.lastPathComponent] = fetch }
        func dataURL(_ name: String, _ body: Data) -> String {
            let type = (bodies[name]?.type ?? "").replacingOccurrences(of: " ", with: "")
            return "\"data:\(type);base64,\(body.base64EncodedString())\""
        }
        func text(_ name: String) -> String { bodies[name].map { String(decoding: $0.body, as: UTF8.self) } ?? "" }

        let bar = dataURL("nav-bg.png", bodies["nav-bg.png"]?.body ?? Data())
        let style = text("style.css").replacingOccurrences(of: "\"nav-bg.png\"", with: bar)
        var page = text("/").replacingOccurrences(of: "\"style.css\"", with: dataURL("style.css", Data(style.utf8)))
        for name in ["app.js", "status.json", "hero.png"] {
            page = page.replacingOccurrences(of: "\"\(name)\"", with: dataURL(name, bodies[name]?.body ?? Data()))
        }
        return page
    }

    private static func rows(_ fetches: [Fetch]) -> String {
        fetches.map { fetch in
            let (rowClass, source) =
                switch fetch.source {
                case .substituted(let file):
                    (
                        "local",
                        "<span class=\"tag\">substituted</span> "
                            + "<span class=\"file\">← \(escape(file ?? "no file"))</span>"
                    )
                case .defaultCache: ("network", "<span class=\"tag\">default cache</span>")
                case .network: ("network", "<span class=\"tag\">network</span>")
                case .failed: ("failed", "<span class=\"tag\">failed</span>")
                }
            let status = fetch.response.map { String($0.statusCode) } ?? "—"
            let type = fetch.type.prefix { $0 != ";" }
            return """
                <tr class="\(rowClass)"><td>\(escape(fetch.url.path))</td><td>\(source)</td><td class="n">\(status)</td>\
                <td>\(escape(String(type)))</td><td class="n">\(fetch.body.count) B</td>\
                <td class="n">\(Output.format(milliseconds: fetch.milliseconds))</td></tr>
                """
        }.joined(separator: "\n")
    }

    private static func escape(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
            .replacingOccurrences(of: "<", with: "&lt;")
    }
}
