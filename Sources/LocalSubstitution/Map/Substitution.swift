import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An entry's answer to a request, with its wildcards filled.
package final class Substitution: Sendable {
    /// When an entry's file or body answers: the map's field `use`.
    package enum Use: String, Sendable, CaseIterable {
        /// Always. The default.
        case always
        /// Until the network has a newer copy.
        case untilUpdated
        /// When the network fails.
        case whenOffline
    }

    let entry: Entry
    let content: Content
    /// The URL of the local file; `nil` if the answer has none.
    let fileURL: URL?
    /// The MIME type. If the entry doesn't set one, the field with the body or the extension of the file or URL
    /// decides. The default is `application/octet-stream`.
    package let mimeType: String
    let mimeTypeSource: MIMETypeSource

    /// The entry's options, merged with `$defaults`.
    var options: Entry.Options { entry.options }
    /// The key of the entry, as written in the map.
    var key: String { entry.key }
    /// The HTTP status code.
    package var status: Int { entry.options.status }
    /// The headers that the entry and `$defaults` set. They override those that the cache sets.
    package var headers: [String: String] { entry.options.fields.headers }
    /// When the file or body answers.
    var use: Use { entry.options.use }
    /// The HTTP methods that the entry answers; `["*"]` for all.
    package var methods: [String] { entry.options.methods }
    /// The charset that the entry sets. The default is `utf-8` for text and streams; otherwise, `nil`. When a response
    /// is built, a byte order mark in the file overrides the default.
    var charset: String? {
        let isText = if case .stream = content { true } else { MIMEType.isText(mimeType) }
        return options.fields.charset ?? (isText ? Charset.standard : nil)
    }
    /// The file's name in the resources folder, with its wildcards filled; `nil` without a file.
    package var fileName: String? { content.fileName }

    /// The content of an answer: an ``Entry/Answer`` with its wildcards filled for one URL.
    enum Content: Sendable {
        /// A file, by its name in the resources folder.
        case file(String)
        case inline(Entry.Body)
        /// An empty body.
        case empty
        case stream([Entry.Piece])
        case error(URLError.Code)
        case handler(Entry.Handler, captures: [ArraySlice<UInt8>])
        /// A response from the network, from another URL if the entry has `forwardTo`.
        case network(ForwardTarget.Filled?)

        /// The file's name in the resources folder; `nil` without a file.
        var fileName: String? { if case .file(let name) = self { name } else { nil } }

        /// Fills the wildcards of an entry's answer. Throws an error if the file name or URL then isn't valid.
        ///
        /// - Parameter captures: The text that each wildcard of the key's path matched.
        init(
            _ entry: Entry,
            filledWith captures: [ArraySlice<UInt8>],
            for url: NormalizedURL
        ) throws(FileName.Obstacle) {
            switch entry.options.answer {
            case .file:
                // The entry always has a file here, since the loader refuses entries without an answer.
                self =
                    try entry.file.map { file throws(FileName.Obstacle) in
                        .file(file.wildcards > 0 ? try file.filled(with: captures) : file.text)
                    } ?? .empty
            case .inline(let body): self = .inline(body)
            case .empty, .never: self = .empty
            case .stream(let pieces):
                self = .stream(try pieces.map { piece throws(FileName.Obstacle) in try piece.filled(with: captures) })
            case .error(let code): self = .error(code)
            case .handler(let handler): self = .handler(handler, captures: captures)
            case .network(let target):
                self = .network(try target?.filled(with: captures, for: url))
            }
        }
    }

    /// Where a MIME type comes from.
    enum MIMETypeSource: Sendable, Equatable, CustomStringConvertible {
        case entry, header
        /// The field that has the body, such as `json`.
        case inline
        case fileExtension(String)
        case urlExtension(String)
        case none

        var description: String {
            switch self {
            case .entry: "set by the entry"
            case .header: "set by the entry's header Content-Type"
            case .fileExtension(let name): "from the file's extension “\(name)”"
            case .urlExtension(let name): "from the URL's extension “\(name)”"
            case .inline: "from the entry's field “json”, “text” or “stream”"
            case .none: "because neither the file nor the URL has a known extension"
            }
        }
    }

    init(_ entry: Entry, _ content: Content, folder: ResourcesFolder?, url: NormalizedURL?) {
        self.entry = entry
        self.content = content
        fileURL = content.fileName.flatMap { name in folder?.url(of: name) }
        (mimeType, mimeTypeSource) = Self.mimeType(entry.options, content, path: url?.path ?? "")
    }

    /// Creates the substitution of an entry that has a file, or only a status.
    package convenience init(_ entry: Entry, fileName: String?, folder: ResourcesFolder?, url: NormalizedURL?) {
        self.init(entry, fileName.map { .file($0) } ?? .empty, folder: folder, url: url)
    }

    /// Whether the body is a file, is written in the map, or is empty.
    var isLocal: Bool {
        switch content {
        case .file, .inline, .empty: true
        case .stream, .error, .handler, .network: false
        }
    }

    /// How fast the body is sent; `nil` if it's sent at once.
    package var pace: Pace? { isLocal ? entry.options.fields.pace : nil }

    /// Whether sending the body takes time.
    var takesTime: Bool { if case .stream = content { true } else { pace != nil } }

    /// The body that is written in the map; `nil` if there's none.
    var inlineBody: Entry.Body? { if case .inline(let body) = content { body } else { nil } }

    /// Whether the response is a redirect to another URL (RFC 9110 §15.4).
    var isRedirect: Bool { RedirectChain.statuses.contains(status) && headers[header: "Location"] != nil }

    private static func mimeType(
        _ options: Entry.Options,
        _ content: Content,
        path: String
    ) -> (String, MIMETypeSource) {
        if let header = options.fields.headers[header: "Content-Type"] {
            return (MIMEType.essence(of: header), .header)
        }
        if let type = options.fields.mimeType { return (type, .entry) }
        if case .stream = content { return (MIMEType.eventStream, .inline) }
        if case .inline(let body) = content, body.kind == .json { return ("application/json", .inline) }
        if case .file(let name) = content, let (type, own) = guess(name) { return (type, .fileExtension(own)) }
        if let (type, own) = guess(path) { return (type, .urlExtension(own)) }
        if case .inline(let body) = content, body.kind == .text { return ("text/plain", .inline) }
        return ("application/octet-stream", .none)
    }

    private static func guess(_ path: String) -> (type: String, fileExtension: String)? {
        guard let own = MIMEType.fileExtension(of: path) else { return nil }
        return MIMEType.guess(forExtension: own).map { ($0, own) }
    }
}
