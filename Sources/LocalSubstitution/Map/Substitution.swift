package import Foundation
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An entry's answer to a request, with its wildcards filled.
package final class Substitution: Sendable {
    /// When an entry's file or body is used: the map's field `use`.
    package typealias Use = SubstitutionMap.Answer.Use

    let entry: Entry
    /// The entry's answer. In the names of a stream's files, the wildcards are filled.
    package let answer: Entry.Answer
    /// The name of the answer's one file, with its wildcards filled; `nil` without a file, and for a stream.
    package let fileName: String?
    package let fileURL: URL?
    let target: ForwardTarget.Filled?
    /// What the wildcards of the key's path and query matched, in order. A handler gets these texts.
    let captures: [ArraySlice<UInt8>]
    /// The response's MIME type, from the first of these that applies: the entry's header `Content-Type`, `mimeType`,
    /// `stream` or `json`, the file's known extension, the URL's known extension, `text`. The default is
    /// `application/octet-stream`.
    package let mimeType: String
    let mimeTypeSource: MIMETypeSource

    var options: Entry.Options { entry.options }
    /// As spelled in the map.
    var key: String { entry.key }
    package var status: Int { entry.options.status }
    /// The headers that the entry and `$defaults` set. They override headers that the cache sets.
    package var headers: [String: String] { entry.options.fields.headers }
    var use: Use { entry.options.use }
    /// `["*"]` for all.
    package var methods: [String] { entry.options.methods }

    /// - Parameters:
    ///   - fileNames: The names of the entry's files, with their wildcards filled.
    ///   - target: The URL of `forwardTo`, with its wildcards filled.
    ///   - captures: The text that each wildcard of the key's path and query matched.
    convenience init(
        _ entry: Entry,
        fileNames: [String],
        target: ForwardTarget.Filled?,
        captures: [ArraySlice<UInt8>],
        folder: ResourcesFolder?,
        url: NormalizedURL
    ) {
        if case .stream(let pieces) = entry.options.answer {
            let pieces = Entry.Piece.pieces(pieces, withFiles: fileNames)
            self.init(entry, .stream(pieces), folder: folder, url: url)
        } else {
            let answer = entry.options.answer
            let name = fileNames.first
            self.init(entry, answer, fileName: name, target: target, captures: captures, folder: folder, url: url)
        }
    }

    /// If `fileName` is `nil`, the answer has only a status.
    package convenience init(_ entry: Entry, fileName: String?, folder: ResourcesFolder?, url: NormalizedURL?) {
        self.init(entry, .file, fileName: fileName, folder: folder, url: url)
    }

    // Not inlined, since the compiler would copy it into the callers of each other initializer.
    @inline(never)
    private init(
        _ entry: Entry,
        _ answer: Entry.Answer,
        fileName: String? = nil,
        target: ForwardTarget.Filled? = nil,
        captures: [ArraySlice<UInt8>] = [],
        folder: ResourcesFolder?,
        url: NormalizedURL?
    ) {
        self.entry = entry
        self.answer = answer
        self.fileName = fileName
        self.target = target
        self.captures = captures
        fileURL = fileName.flatMap { name in folder?.url(of: name) }
        (mimeType, mimeTypeSource) = Self.mimeType(entry.options, answer, fileName, path: url?.path ?? "")
    }

    /// Whether the answer is a file, a body in the map or in code, or an empty body, but not a stream.
    var isLocal: Bool {
        switch answer {
        case .file, .inline: true
        case .never, .stream, .error, .handler, .network: false
        }
    }

    /// Whether the entry only changes the request's headers. Then the next map is searched, too. `false` if the entry
    /// also sets the response's headers, since these would be lost there. The headers of `$defaults` are for responses
    /// of this map only.
    var onlyChangesRequest: Bool { if case .network(nil) = answer { !options.fields.hasOwnHeaders } else { false } }

    /// `nil` if the body is sent at once, or if the answer isn't local.
    package var rate: Rate? { isLocal ? entry.options.fields.rate : nil }

    /// Whether the body is sent over time: always for a stream, and for a local body with a rate.
    var takesTime: Bool { if case .stream = answer { true } else { rate != nil } }

    /// `nil` if the answer has no body in the map or in code.
    var inlineBody: Entry.Body? { if case .inline(let body) = answer { body } else { nil } }

    /// Whether the response redirects (RFC 9110 §15.4), and a session follows it. Without a `Location`, it doesn't redirect.
    var isFollowed: Bool {
        Redirect.statuses.contains(status) && headers[header: "Location"] != nil && options.fields.follow != false
    }
}

/// What decides an answer's MIME type and charset.
extension Substitution {
    /// Where a MIME type comes from.
    enum MIMETypeSource: Sendable, Equatable, CustomStringConvertible {
        case entry, header
        /// The server that sent the body.
        case server
        /// The field with the body: `json`, `text` or `stream`.
        case field(String)
        case fileExtension(String)
        case urlExtension(String)
        case none

        var description: String {
            switch self {
            case .entry: "set by the entry"
            case .header: "set by the entry's header Content-Type"
            case .server: "set by the server"
            case .fileExtension(let name): "from the file's extension “\(name)”"
            case .urlExtension(let name): "from the URL's extension “\(name)”"
            case .field(let name): "from the entry's field “\(name)”"
            case .none: "because neither the file nor the URL has a known extension"
            }
        }
    }

    /// - Parameter path: The path of the request's URL.
    static func mimeType(
        _ options: Entry.Options,
        _ answer: Entry.Answer,
        _ fileName: String?,
        path: String
    ) -> (String, MIMETypeSource) {
        if let header = options.fields.headers[header: "Content-Type"] {
            return (MIMEType.essence(of: header), .header)
        }
        if let type = options.fields.mimeType { return (type, .entry) }
        if case .stream = answer { return (MIMEType.eventStream, .field("stream")) }
        if case .inline(let body) = answer, body.kind == .json { return ("application/json", .field("json")) }
        if let fileName, let (type, own) = guess(fileName) { return (type, .fileExtension(own)) }
        if let (type, own) = guess(path) { return (type, .urlExtension(own)) }
        if case .inline(let body) = answer, body.kind == .text { return ("text/plain", .field("text")) }
        return ("application/octet-stream", .none)
    }

    private static func guess(_ path: String) -> (type: String, fileExtension: String)? {
        guard let own = MIMEType.fileExtension(of: path) else { return nil }
        return MIMEType.guess(forExtension: own).map { ($0, own) }
    }

    /// The header that the entry sets, or else its MIME type, with a charset for text; without that header, empty for a
    /// status that allows no body. Also returns where the type comes from.
    ///
    /// - Parameters:
    ///   - body: The body, or its first bytes, enough to detect a byte order mark.
    ///   - server: The type that a server sent with the body, which overrides a type guessed from a file extension;
    ///     `nil` if the body comes from elsewhere.
    func contentType(ofBody body: Data, from server: String?) -> (text: String, source: MIMETypeSource) {
        if let own = headers[header: "Content-Type"] { return (own, .header) }
        guard HTTPSyntax.hasBody(status: status) else { return ("", .none) }
        let own = options.fields.charset
        if let server, mimeTypeSource != .entry {
            return (own.map { Self.text(MIMEType.essence(of: server), charset: $0) } ?? server, .server)
        }
        let charset = own ?? self.charset.map { MIMEType.charset(ofMark: body) ?? $0 }
        return (Self.text(mimeType, charset: charset), mimeTypeSource)
    }

    private static func text(_ type: String, charset: String?) -> String {
        type + (charset.map { "; charset=\($0)" } ?? "")
    }

    package func contentType(ofBody body: Data) -> String { contentType(ofBody: body, from: nil).text }

    /// The charset that the entry sets, `nil` for none. By default, `utf-8` for text and streams, and `nil` for other
    /// types. When a response is built, a byte order mark in the file overrides the default.
    var charset: String? {
        let isText = if case .stream = answer { true } else { MIMEType.isText(mimeType) }
        return options.fields.charset ?? (isText ? MIMEType.standardCharset : nil)
    }
}

extension Substitution {
    /// Sets the URL of `forwardTo` and the headers of `setRequestHeaders`.
    func change(_ request: inout URLRequest) {
        if let target {
            request.url = target.url
            // The session sends the target's host instead.
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        for (name, value) in options.fields.requestHeaders { request.setValue(value, forHTTPHeaderField: name) }
    }
}
