import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The network's newer copy of an entry's file, as it's stored in the default cache.
struct NewerCopy: Sendable {
    let facts: Facts
    let data: Data

    /// Everything about a copy except its bytes.
    final class Facts: Sendable, Equatable {
        /// The digest of the copy's own bytes.
        let digest: String
        /// The size of the file that the copy replaces. If the current file has another size or digest, the app has
        /// shipped another version of the file.
        let fileSize: Int
        let fileDigest: String
        /// The server's headers.
        let contentType: String?
        let entityTag: String?
        let lastModified: String?

        /// Returns whether a file is still the one that the copy replaces.
        func standsFor(_ file: FileBytes) -> Bool {
            fileSize == file.data.count && fileDigest == file.digest
        }

        var validators: Validators? { Validators(entityTag: entityTag, lastModified: lastModified) }

        static func == (one: Facts, other: Facts) -> Bool {
            one.digest == other.digest && one.standsForSameFile(as: other) && one.contentType == other.contentType
                && one.entityTag == other.entityTag && one.lastModified == other.lastModified
        }

        private func standsForSameFile(as other: Facts) -> Bool {
            fileSize == other.fileSize && fileDigest == other.fileDigest
        }

        /// - Parameter response: The server's response, or the one from the default cache.
        fileprivate init(_ response: HTTPURLResponse, digest: String, fileSize: Int, fileDigest: String) {
            self.digest = digest
            self.fileSize = fileSize
            self.fileDigest = fileDigest
            contentType = response.value(forHTTPHeaderField: "Content-Type")
            entityTag = response.value(forHTTPHeaderField: "ETag")
            lastModified = response.value(forHTTPHeaderField: "Last-Modified")
        }
    }

    /// Creates a copy, which replaces a file, from a server's response.
    init(_ data: Data, _ response: HTTPURLResponse, insteadOf file: FileBytes) {
        self.data = data
        facts = Facts(
            response,
            digest: Digest.base64(of: data),
            fileSize: file.data.count,
            fileDigest: file.digest
        )
    }

    // MARK: In the default cache

    // Headers hold the facts, since Apple doesn't document what else `URLCache` keeps on disk.
    private static let digestHeader = "LocalSubstitution-Digest"
    private static let fileSizeHeader = "LocalSubstitution-File-Size"
    private static let fileDigestHeader = "LocalSubstitution-File-Digest"

    /// Reads a stored copy; returns `nil` if the response isn't a copy or is damaged.
    init?(_ stored: CachedURLResponse) {
        guard let response = stored.response as? HTTPURLResponse,
            let digest = response.value(forHTTPHeaderField: Self.digestHeader),
            let fileSize = response.value(forHTTPHeaderField: Self.fileSizeHeader).flatMap(Int.init),
            let fileDigest = response.value(forHTTPHeaderField: Self.fileDigestHeader),
            digest == Digest.base64(of: stored.data)
        else { return nil }
        data = stored.data
        facts = Facts(response, digest: digest, fileSize: fileSize, fileDigest: fileDigest)
    }

    /// The response to store in the default cache. Clients don't get its headers, but those of a ``ResponseBuilder``.
    var stored: CachedURLResponse? {
        let headers: [String: String?] = [
            Self.digestHeader: facts.digest,
            Self.fileSizeHeader: String(facts.fileSize),
            Self.fileDigestHeader: facts.fileDigest,
            "Content-Type": facts.contentType,
            "ETag": facts.entityTag,
            "Last-Modified": facts.lastModified,
        ]
        guard let url = Self.place(digest: facts.digest),
            let response = HTTPURLResponse(
                url: url,
                statusCode: 200,
                httpVersion: "HTTP/1.1",
                headerFields: headers.compactMapValues { $0 }
            )
        else { return nil }
        return CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// Returns the request under which the default cache keeps the copy for a URL.
    ///
    /// No other response is stored under this request: no real host has a name in `invalid` (RFC 6761 §6.4). On Linux,
    /// the keys of other responses also have a different host: see ``DefaultCache/key(for:_:)``.
    static func request(for canonicalURL: String) -> URLRequest? {
        place(digest: Digest.base64(of: canonicalURL)).map { URLRequest(url: $0) }
    }

    private static func place(digest: String) -> URL? {
        URL(string: "http://newer-copy.invalid/" + digest)
    }
}
