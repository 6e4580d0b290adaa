import Foundation
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A report about the demo: an HTML file that shows both loads of the demo's site side by side. The file contains
/// everything that it shows.
struct DemoPage {
    /// A load of the demo's page and its parts with one of the two caches.
    struct Load {
        let fetches: [Fetch]
        /// How many requests the demo's server got during this load.
        let requests: Int

        var summary: String {
            let bytes = fetches.filter { $0.source == .network }.reduce(0) { $0 + $1.body.count }
            return "The origin got \(requests) \(requests == 1 ? "request" : "requests") and sent "
                + "\(Output.format(bytes: bytes)). \(fetches.count(where: \.source.isMatched)) of \(fetches.count) "
                + "responses came from local files."
        }
    }

    let origin: URL
    let first: Load
    let second: Load
    let mapFile: URL
    /// The cache that the second load used.
    let cache: LocalSubstitutionCache

    /// Returns the report: the template with its placeholders filled.
    ///
    /// - Throws: An error if the map's file can't be read.
    func html(template: String) throws -> String {
        let responding = second.fetches.reduce(into: [URL: Int]()) { responding, fetch in
            let explanation = cache.explain(URLRequest(url: fetch.url))
            if explanation.cacheOnly.outcome == .matched { responding[fetch.url] = explanation.winner?.line }
        }
        let filled = try [
            "{{origin}}": origin.absoluteString.escaped,
            "{{left.srcdoc}}": Self.inlined(first.fetches).escaped,
            "{{right.srcdoc}}": Self.inlined(second.fetches).escaped,
            "{{left.rows}}": rows(first.fetches), "{{right.rows}}": rows(second.fetches, lines: responding),
            "{{left.summary}}": first.summary.escaped, "{{right.summary}}": second.summary.escaped,
            "{{map.name}}": mapFile.lastPathComponent.escaped, "{{map.lines}}": mapLines(Set(responding.values)),
            "{{footer}}": "Written by <code>substitute demo</code>, version \(Subcommand.version)",
        ]
        return filled.reduce(template) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    }

    /// Writes the report to the user's cache folder, and returns the URL of the file. Each run replaces the same file.
    ///
    /// If the file can't be written there, or if other users can write there, writes it to a new folder in the
    /// temporary folder. Throws a failure if that isn't possible either.
    static func write(_ html: String) throws(Complaint) -> URL {
        if let folder = cacheFolder(), let file = try? write(html, in: folder) { return file }
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("substitute-demo-XXXXXX")
        var path = temporary.path.utf8CString.map { $0 }
        guard mkdtemp(&path) != nil else {
            throw Complaint(
                "A folder for the page can't be created in “\(FileManager.default.temporaryDirectory.path)”: "
                    + "\(String(cString: strerror(errno))). Name a file with --output."
            )
        }
        let folder = path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return try write(html, in: folder)
    }

    private static func write(_ html: String, in folder: String) throws(Complaint) -> URL {
        // If a symbolic link has this name, the new file replaces the link, not the file that it leads to.
        try WrittenFolder(path: folder).write(Data(html.utf8), to: "demo.html")
        return URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent("demo.html")
    }

    /// Returns the command's folder in the user's cache folder, and creates it if it doesn't exist. Returns `nil` if
    /// the user has no cache folder, if the folder can't be created, or if another user can write to it.
    private static func cacheFolder() -> String? {
        guard let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path,
            caches.hasPrefix("/")
        else { return nil }
        let folder = caches + "/substitute"
        // These calls fail if a folder already exists. The checks below decide whether the folders can be used.
        mkdir(caches, 0o700)
        mkdir(folder, 0o700)
        var (outer, inner) = (stat(), stat())
        guard stat(caches, &outer) == 0, outer.st_mode & S_IWOTH == 0, lstat(folder, &inner) == 0,
            inner.st_mode & S_IFMT == S_IFDIR, inner.st_uid == geteuid(), inner.st_mode & (S_IWGRP | S_IWOTH) == 0
        else { return nil }
        return folder
    }

    /// Returns the demo's page as HTML, with `data:` URLs in place of the parts' URLs (RFC 2397). So the page needs no
    /// server. Returns an empty text if the first response isn't HTML.
    private static func inlined(_ fetches: [Fetch]) -> String {
        guard let page = fetches.first, page.type.hasPrefix("text/html") else { return "" }
        var urls: [(name: String, url: String)] = []
        // The style sheet needs the `data:` URL of its picture. The picture comes after the style sheet, so begin with
        // the last part.
        for part in fetches.dropFirst().reversed() where part.hasSucceeded {
            let body = part.type.hasPrefix("text/css") ? Data(filled(part.body, urls).utf8) : part.body
            let type = part.type.filter { $0.isLetter || $0.isNumber || "/;=+-.".contains($0) }
            urls.append((part.url.lastPathComponent, "data:\(type);base64,\(body.base64EncodedString())"))
        }
        return filled(page.body, urls)
    }

    /// Replaces the names of the demo's files in a text with URLs. The demo's page contains these names only as
    /// references.
    private static func filled(_ text: Data, _ urls: [(name: String, url: String)]) -> String {
        urls.reduce(String(decoding: text, as: UTF8.self)) { $0.replacingOccurrences(of: $1.name, with: $1.url) }
    }

    /// - Parameter lines: The line of the map's entry that responded, by the URL of the request. By default, no rows
    ///   show lines.
    private func rows(_ fetches: [Fetch], lines: [URL: Int] = [:]) -> String {
        fetches.map { fetch in
            let rowClass = fetch.source.isMatched ? "local" : fetch.hasFailed ? "failed" : "network"
            let source =
                fetch.source.isMatched
                ? "<span class=\"file\">\((fetch.source.file ?? "no file").escaped)</span>"
                : "<span class=\"tag\">\(fetch.source.name)</span>"
            let line = lines[fetch.url].map { "<span class=\"tag\">line \($0)</span> " } ?? ""
            let status = fetch.response.map { String($0.statusCode) } ?? "—"
            let type = fetch.type.prefix { $0 != ";" }
            return """
                <tr class="\(rowClass)"><td>\(fetch.url.path.escaped)</td><td>\(line)\(source)</td>\
                <td class="n">\(status)</td><td>\(String(type).escaped)</td>\
                <td class="n">\(Output.format(bytes: fetch.body.count))</td></tr>
                """
        }.joined(separator: "\n")
    }

    /// Returns the lines of the map's file as HTML list items.
    ///
    /// - Parameter responding: The numbers of the lines to mark, from 1: the lines of the entries that responded.
    /// - Throws: An error if the file can't be read.
    private func mapLines(_ responding: Set<Int>) throws -> String {
        var lines = try String(contentsOf: mapFile, encoding: .utf8).components(separatedBy: "\n")
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines.enumerated().map { index, line in
            "<li\(responding.contains(index + 1) ? " class=\"local\"" : "")>\(line.escaped)</li>"
        }.joined(separator: "\n")
    }
}

extension String {
    /// The text escaped for HTML, for content and for attribute values in double quotes.
    fileprivate var escaped: String {
        replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "\"", with: "&quot;")
            .replacingOccurrences(of: "<", with: "&lt;")
    }
}
