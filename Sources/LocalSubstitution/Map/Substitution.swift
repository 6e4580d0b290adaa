import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an entry answers a request with.
package final class Substitution: Sendable {
    /// When an entry's file answers: the map's field `use`.
    package enum Use: String, Sendable, Hashable, CaseIterable {
        /// Always. The default.
        case always
        /// Until the network has a newer copy.
        case untilUpdated
        /// When the network fails.
        case whenOffline
    }

    /// The key of the entry, as written in the map.
    let key: String
    let content: Content
    /// The local file; `nil` for an entry without one.
    let fileURL: URL?
    /// The MIME type that the entry sets. Otherwise, it depends on the field that has the body, and on the extension of the file or
    /// of the URL's path. The default is `application/octet-stream`.
    package let mimeType: String
    /// The charset that the entry sets, or `utf-8` for text. A byte order mark in the file overrides this default when a response
    /// is built.
    let charset: String?
    /// The HTTP status code.
    package let status: Int
    /// The headers that the entry and `$defaults` set. They override those that the cache sets.
    package let headers: [String: String]
    /// When the file answers.
    let use: Use
    /// The HTTP methods that are answered; `["*"]` for all.
    package let methods: [String]

    /// The file's name in the resources folder, with its wildcards filled.
    package let fileName: String?
    let mimeTypeSource: MIMETypeSource
    let hasOwnCharset: Bool
    /// The timeout in seconds, if the entry sets one.
    let timeout: Double?
    /// The delay before the answer, in seconds.
    let delay: Double?
    /// Headers to set on a request that is sent on. A `nil` value removes the header.
    let requestHeaders: [String: String?]

    /// What answers: an entry's ``Entry/Answer``, with its wildcards filled for one URL.
    enum Content: Sendable {
        /// A file, by its name in the resources folder.
        case file(String)
        case inline(Entry.Body)
        /// An empty body.
        case empty
        case error(URLError.Code)
        /// The network, at another URL if the entry forwards requests.
        case network(ForwardTarget.Filled?)

        /// The file's name in the resources folder; `nil` without a file.
        var fileName: String? { if case .file(let name) = self { name } else { nil } }

        /// - Parameter captures: What the wildcards of the key's path matched.
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
            case .error(let code): self = .error(code)
            case .network(let target):
                self = .network(try target?.filled(with: captures, for: url))
            }
        }
    }

    /// Where a MIME type comes from.
    enum MIMETypeSource: Sendable, Hashable, CustomStringConvertible {
        case entry, header
        /// The field that has the body.
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
            case .inline: "from the field with the body"
            case .none: "because neither the file nor the URL has a known extension"
            }
        }
    }

    init(_ entry: Entry, _ content: Content, folder: ResourcesFolder?, url: NormalizedURL?) {
        let options = entry.options
        key = entry.key
        self.content = content
        fileName = content.fileName
        fileURL = fileName.flatMap { name in folder?.url(of: name) }
        status = options.status
        headers = options.headers
        use = options.use
        methods = options.methods
        timeout = options.timeout
        delay = options.delay
        requestHeaders = options.requestHeaders
        (mimeType, mimeTypeSource) = Self.mimeType(options, content, fileName: fileName, path: url?.path ?? "")
        charset = options.charset ?? (MIMEType.isText(mimeType) ? Charset.standard : nil)
        hasOwnCharset = options.charset != nil
    }

    /// Creates the substitution of an entry that has a file, or only a status.
    package convenience init(_ entry: Entry, fileName: String?, folder: ResourcesFolder?, url: NormalizedURL?) {
        self.init(entry, fileName.map { .file($0) } ?? .empty, folder: folder, url: url)
    }

    /// Whether the map has the response's body, which may be empty.
    var isLocal: Bool {
        switch content {
        case .file, .inline, .empty: true
        case .error, .network: false
        }
    }

    /// The body that is written in the map; `nil` if there's none.
    var inlineBody: Entry.Body? { if case .inline(let body) = content { body } else { nil } }

    /// Whether it's a redirect, which sends the client to another URL (RFC 9110 §15.4).
    var isRedirect: Bool { RedirectChain.statuses.contains(status) && headers[header: "Location"] != nil }

    private static func mimeType(
        _ options: Entry.Options,
        _ content: Content,
        fileName: String?,
        path: String
    ) -> (String, MIMETypeSource) {
        if let header = options.headers[header: "Content-Type"] {
            return (MIMEType.essence(of: header), .header)
        }
        if let type = options.mimeType { return (type, .entry) }
        if case .inline(let body) = content, body.kind == .json { return ("application/json", .inline) }
        if let fileExtension = fileName.flatMap({ MIMEType.fileExtension(of: $0) }),
            let type = MIMEType.guess(forExtension: String(fileExtension))
        {
            return (type, .fileExtension(String(fileExtension)))
        }
        if let urlExtension = MIMEType.fileExtension(of: path),
            let type = MIMEType.guess(forExtension: String(urlExtension))
        {
            return (type, .urlExtension(String(urlExtension)))
        }
        if case .inline(let body) = content, body.kind == .text { return ("text/plain", .inline) }
        return ("application/octet-stream", .none)
    }
}
