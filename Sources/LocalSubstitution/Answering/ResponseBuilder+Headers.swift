package import Foundation

/// The headers of a substitution. Headers that the entry sets override the others, except for `Content-Length`.
extension ResponseBuilder {
    /// The `Cache-Control` of a substitution whose entry sets none. It's fresh for a year, for loaders that check a response's age.
    package static let cacheControl = "max-age=\(365 * 24 * 60 * 60)"

    /// The beginning of a substitution's `Cache-Status`, unless its entry sets the header.
    package static let hitStatus = "LocalSubstitutionCache; hit"

    func headers(length: Int) -> [String: String] {
        var headers = [
            "Content-Type": Self.contentType(
                of: substitution,
                bodyBeginning: large?.beginning ?? data.prefix(Charset.longestByteOrderMark),
                copy: copy
            ),
            "Cache-Control": Self.cacheControl,
            "Cache-Status": cacheStatus,
        ]
        // Linux's loader never manages to read a date (`HTTPURLProtocol.swift`, `canCache`), and takes long to try.
        #if canImport(Darwin)
        headers["Date"] = HTTPDate.string(Date())
        #endif
        if hasBody { headers["Accept-Ranges"] = "bytes" }
        headers["ETag"] = entityTag
        for (name, value) in substitution.headers { headers[header: name] = value }
        headers["Content-Length"] = String(length)
        headers[VerificationProofs.header] = proof
        return headers
    }

    /// Returns the `Content-Type` of a substitution: the entry's header, or its MIME type, with a charset for text.
    ///
    /// - Parameters:
    ///   - bodyBeginning: The beginning of the body, at least as long as the longest byte order mark.
    ///   - copy: The newer copy that the body comes from; `nil` for the file. Its server knows the type better than a file
    ///     extension.
    static func contentType(
        of substitution: Substitution,
        bodyBeginning: Data,
        copy: NewerCopy.Facts? = nil
    ) -> String {
        if let own = substitution.headers[header: "Content-Type"] { return own }
        if let type = copy?.contentType, substitution.mimeTypeSource != .entry {
            guard substitution.hasOwnCharset, let charset = substitution.charset else { return type }
            return "\(MIMEType.essence(of: type)); charset=\(charset)"
        }
        var charset = substitution.charset
        if charset != nil, !substitution.hasOwnCharset {
            charset = Charset.byteOrderMark(of: bodyBeginning) ?? charset
        }
        return substitution.mimeType + (charset.map { "; charset=\($0)" } ?? "")
    }

    /// Tells a client that it received a substitute, which file that is, and whether it's a newer copy (RFC 9211).
    private var cacheStatus: String {
        let name = Self.hitStatus
        guard let file = substitution.fileName else { return name }
        let encoded = URLPercentEncoding.normalize(
            file.utf8.flatMap { $0 == UInt8(ascii: "%") ? Array("%25".utf8) : [$0] },
            allowed: URLPercentEncoding.path,
            keepsAsterisks: false
        )
        let detail = (copy == nil ? "" : "newer copy of ") + String(decoding: encoded, as: UTF8.self)
        return "\(name); detail=\"\(detail)\""
    }

    /// A strong validator (RFC 9110 §8.8.3); `nil` if there's no body.
    private var entityTag: String? {
        if let copy { return "\"\(copy.digest)\"" }
        return (file?.status ?? large?.status).map(Self.entityTag) ?? substitution.inlineBody.map { "\"\($0.digest)\"" }
    }

    /// Returns a tag of the size, modification time and inode.
    private static func entityTag(_ status: FileStatus) -> String {
        let parts = [Int64(status.size), status.modified, Int64(bitPattern: status.inode)]
        return "\"" + parts.map { String(UInt64(bitPattern: $0), radix: 16) }.joined(separator: "-") + "\""
    }
}

extension Substitution {
    /// Returns the `Content-Type` for a body.
    package func contentType(ofBody body: Data) -> String {
        ResponseBuilder.contentType(of: self, bodyBeginning: body.prefix(Charset.longestByteOrderMark))
    }
}
