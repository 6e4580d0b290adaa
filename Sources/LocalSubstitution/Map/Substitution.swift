import Foundation

/// What an entry answers a request with: file, MIME type, charset, headers and status.
package final class Substitution: Sendable {
    /// When an entry's file answers: the map's field `use`.
    enum Use: String, Sendable, Hashable, CaseIterable {
        /// Always. The default.
        case always
        /// Until the network has a newer copy.
        case untilUpdated
        /// When the network fails.
        case whenOffline
    }

    /// The key of the entry, as the map has it.
    let key: String
    /// The local file; `nil` for an entry that has only a status, and so an empty body.
    let fileURL: URL?
    /// The entry's, or what the extension of the file or of the URL's path says, or `application/octet-stream`.
    package let mimeType: String
    /// The entry's; else `utf-8` for text. A byte order mark in the file overrides the latter when a response is built.
    let charset: String?
    /// The HTTP status code.
    package let status: Int
    /// The headers that the entry and `$defaults` set. They win over those that the cache sets by itself.
    package let headers: [String: String]
    /// When the file answers.
    let use: Use
    /// The HTTP methods that are answered. `GET` implies `HEAD`.
    let methods: [String]

    /// The file's name in the resources folder, wildcards filled.
    package let fileName: String?
    let mimeTypeSource: MIMETypeSource
    let hasOwnCharset: Bool
    /// In seconds, where the entry sets one.
    let timeout: Double?

    /// How a MIME type was found.
    enum MIMETypeSource: Sendable, Hashable, CustomStringConvertible {
        case entry, header
        case fileExtension(String)
        case urlExtension(String)
        case none

        var description: String {
            switch self {
            case .entry: "set by the entry"
            case .header: "set by the entry's header Content-Type"
            case .fileExtension(let name): "by the file's extension “\(name)”"
            case .urlExtension(let name): "by the URL's extension “\(name)”"
            case .none: "since neither file nor URL has a known extension"
            }
        }
    }

    package init(_ entry: Entry, fileName: String?, folder: ResourcesFolder?, url: NormalizedURL?) {
        let options = entry.options
        key = entry.key
        self.fileName = fileName
        fileURL = fileName.flatMap { name in folder?.url(of: name) }
        status = options.status
        headers = options.headers
        use = options.use
        methods = options.methods
        timeout = options.timeout
        (mimeType, mimeTypeSource) = Self.mimeType(options, fileName: fileName, path: url?.path ?? "")
        charset = options.charset ?? (MIMEType.isText(mimeType) ? Charset.standard : nil)
        hasOwnCharset = options.charset != nil
    }

    /// Whether a method is among those that are answered; GET implies HEAD.
    func lists(method: String) -> Bool {
        methods.contains(method) || (method == "HEAD" && methods.contains("GET"))
    }

    private static func mimeType(
        _ options: EntryOptions,
        fileName: String?,
        path: String
    ) -> (String, MIMETypeSource) {
        if let header = options.headers[header: "Content-Type"] {
            return (MIMEType.essence(of: header), .header)
        }
        if let type = options.mimeType { return (type, .entry) }
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
        return ("application/octet-stream", .none)
    }
}
