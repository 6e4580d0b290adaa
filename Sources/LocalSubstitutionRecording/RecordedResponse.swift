import Foundation
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response in a recorder's folder.
struct RecordedResponse: Sendable {
    let entry: Entry
    /// The entry's value in the map.
    let text: String
    /// The file's name in the resources folder.
    let file: String
    let bytes: Int
    /// The body's digest; `nil` if the file may have changed since.
    let digest: String?
    let entityTag: String?
    let lastModified: String?
    let isRedirected: Bool
    /// When the response was recorded or confirmed, in milliseconds since 1970. No two responses have the same stamp.
    var stamp = 0
}

extension RecordedResponse {
    init(_ received: ReceivedResponse, url: NormalizedURL, file: String, digest: String, defaults: EntryFields) {
        let status = received.response.statusCode
        let location = (300..<400).contains(status) ? ["Location"] : []
        let recorded = RecordedEntry(
            status: status,
            headers: RecordedHeaders.kept(RecordedHeaders.names + location) {
                received.response.value(forHTTPHeaderField: $0)
            },
            type: received.contentType,
            body: received.body,
            url: url,
            file: file,
            defaults: defaults
        )
        let isRedirected = !received.redirects.isEmpty
        // A redirect target's validators can't tell whether the copy is still right. Nor can the server's, for a body that was
        // changed: after a 304, the client would get that body in place of the server's.
        func validator(_ name: String) -> String? {
            guard !isRedirected, received.isOriginal, let value = received.response.value(forHTTPHeaderField: name)
            else { return nil }
            return HTTPSyntax.problem(ofHeader: name, value: value) == nil ? value : nil
        }
        self.init(
            entry: recorded.entry,
            text: recorded.text,
            file: file,
            bytes: received.body.count,
            digest: digest,
            entityTag: validator("ETag"),
            lastModified: validator("Last-Modified"),
            isRedirected: isRedirected
        )
    }
}
