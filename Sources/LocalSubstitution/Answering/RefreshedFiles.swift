import Dispatch
import Foundation
import Guarded
import HTTPSyntax

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The refreshed files of entries with `"use": "untilUpdated"`: newer files from the network, which are returned
/// instead of the entries' files.
///
/// An entry's file, or its refreshed file, is returned at once. In the background, the package asks the network for a
/// newer file, at most once an hour for each URL. The time of the last question isn't stored on disk, so a new process
/// may ask sooner. Refreshed files are stored in the default cache, and read from there for each request.
final class RefreshedFiles: Sendable {
    /// A question to the network: whether there's a newer file for a URL.
    final class Question: Sendable {
        /// The URL in canonical form.
        let url: String
        /// The URL as the client requested it.
        let requested: URL
        let key: String
        let fileName: String
        let folder: ResourcesFolder

        init(url: String, requested: URL, key: String, fileName: String, folder: ResourcesFolder) {
            (self.url, self.requested, self.key) = (url, requested, key)
            (self.fileName, self.folder) = (fileName, folder)
        }

        /// A plain `GET`, without the fragment, which is never sent.
        fileprivate var request: URLRequest? {
            let text = requested.absoluteString.prefix { $0 != "#" }
            return URL(string: String(text)).map { URLRequest(url: $0, cachePolicy: .reloadIgnoringLocalCacheData) }
        }

        /// Checks that a response can replace the entry's file for later requests. Throws an error if its status,
        /// `Cache-Control`, `Vary` or type shows that it can't.
        fileprivate func check(_ response: HTTPURLResponse) throws(Complaint) {
            guard response.statusCode == 200 else {
                throw Complaint("the server responded with status \(response.statusCode)")
            }
            if let value = response.value(forHTTPHeaderField: "Cache-Control"),
                HTTPSyntax.directives(of: value)["no-store"] != nil
            {
                throw Complaint("the server's Cache-Control says “no-store”")
            }
            if response.value(forHTTPHeaderField: "Vary")?.contains("*") == true {
                throw Complaint("the server's Vary says “*”")
            }
            // Captive portals respond to every request with a login page.
            let expected = MIMEType.fileExtension(of: fileName).flatMap { MIMEType.guess(forExtension: $0) }
            if let expected, !expected.contains("html"), response.mimeType?.lowercased() == "text/html" {
                throw Complaint("the server sent text/html, but the file's type is \(expected)")
            }
        }
    }

    let schedule = RefreshSchedule()
    let loader: UncachedLoader
    private let defaultCache: DefaultCache
    private let files: ResponsesInMemory
    private let observers: Observers

    init(in defaultCache: DefaultCache, files: ResponsesInMemory, observers: Observers, _ traits: LoaderTraits) {
        loader = UncachedLoader(traits)
        self.defaultCache = defaultCache
        self.files = files
        self.observers = observers
    }

    deinit {
        loader.end()
    }

    // MARK: Responding

    /// Returns what responds: the given file, or the refreshed file that replaces it. Searches the default cache, which
    /// may read from disk, and removes a refreshed file that was made for another version of the entry's file.
    ///
    /// Also asks the network in the background, unless it was already asked about the URL within the
    /// ``RefreshSchedule/interval``.
    ///
    /// - Parameter file: The bytes of the entry's file, just read or just checked.
    /// - Returns: The refreshed file, or `nil` for the entry's file; and when the network may be asked again, on the
    ///   clock of ``System/steadyNow``. Until then, the response from the entry's file stays current.
    func answer(_ question: Question, file: FileBytes) -> (refreshed: File?, dueAt: Int64) {
        let stored = storedFile(of: question.url)
        let refreshed = stored.flatMap { $0.standsFor(file) ? $0 : nil }
        // By now, a refreshed file for the new version may have been stored.
        if let stored, refreshed == nil, storedFile(of: question.url) == stored { removeFile(of: question.url) }
        let dueAt = schedule.ask(for: question.url) { [weak self] done in
            guard let self else { return done() }
            ask(question, done)
        }
        return (refreshed, dueAt)
    }

    /// As ``answer(_:file:)``, for explanations: it changes nothing.
    func explainedFile(_ question: Question) -> File? {
        let (name, folder) = (question.fileName, question.folder)
        guard let refreshed = storedFile(of: question.url),
            let file = files.currentFile(at: folder.path(of: name)) ?? (try? FileBytes(opening: name, in: folder))
        else { return nil }
        return refreshed.standsFor(file) ? refreshed : nil
    }

    // MARK: Refreshed files in the default cache

    private func storedFile(of url: String) -> File? {
        defaultCache.response(under: File.request(for: url)).flatMap { File($0) }
    }

    /// Returns whether the refreshed file can be found there afterward.
    private func store(_ refreshed: File, of url: String) -> Bool {
        if let request = File.request(for: url), let stored = refreshed.stored {
            defaultCache.store(stored, under: request)
        }
        return storedFile(of: url) == refreshed
    }

    func removeFile(of url: String) {
        if let request = File.request(for: url) { defaultCache.remove(under: request) }
    }
}

// MARK: - Asking the network

extension RefreshedFiles {
    private func ask(_ question: Question, _ done: @escaping @Sendable () -> Void) {
        // While no cache lends its storage, a refreshed file couldn't be stored.
        guard defaultCache.isLent, var request = question.request else { return done() }
        let validators = storedFile(of: question.url)?.validators
        validators?.makeConditional(&request)
        loader.load(request, limit: defaultCache.capacity) { [weak self] result in
            // Continues on another queue, so that the session's queue is free for other loads.
            DispatchQueue.global(qos: .utility).async { [weak self] in
                guard let self else { return done() }
                let (url, key) = (question.requested, question.key)
                do throws(Complaint) {
                    let bytes = try take(result, for: question, isConditional: validators != nil)
                    // Ends the question before the event is reported: a listener may cause the next question at once.
                    done()
                    observers.report(bytes == nil ? .upToDate : .refreshed, url, key: key, bytes: bytes)
                } catch {
                    done()
                    observers.report(.refreshFailed, url, key: key, reason: error.description)
                }
            }
        }
    }

    /// Stores the network's response if it's a newer file. Returns the file's size in bytes; `nil` if the file in use
    /// is up to date.
    ///
    /// - Parameter isConditional: Whether the request had validators, so that a 304 means that nothing is newer.
    private func take(
        _ result: Result<(HTTPURLResponse, Data), URLError>,
        for question: Question,
        isConditional: Bool
    ) throws(Complaint) -> Int? {
        switch result {
        case .failure(let error) where error.code == .dataLengthExceedsMaximum:
            throw Complaint(
                "the response has more than \(defaultCache.capacity.grouped) bytes, the default cache's capacity; raise "
                    + "the cache's diskCapacity"
            )
        case .failure(let error):
            throw Complaint(error.localizedDescription)
        case .success((let response, _)) where response.statusCode == 304 && isConditional:
            return nil
        case .success((let response, let data)):
            try question.check(response)
            return try use(data, response, for: question) ? data.count : nil
        }
    }

    /// Stores a response as a refreshed file, unless its body has the same bytes as the entry's file, or an equal
    /// refreshed file is already stored. Returns whether new bytes are in use from now on.
    private func use(_ data: Data, _ response: HTTPURLResponse, for question: Question) throws(Complaint) -> Bool {
        let file: FileBytes
        do throws(Complaint) {
            file = try files.file(question.fileName, in: question.folder)
        } catch {
            throw Complaint("the entry's file \(error.fragment)")
        }
        let url = question.url
        let known = storedFile(of: url)
        if data == file.data {
            if known != nil { removeFile(of: url) }
            return false
        }
        // Responses made from the entry's file while no refreshed file was stored must not be returned any more.
        defer { files.dropDueResponses(madeOf: question.folder.path(of: question.fileName)) }
        let refreshed = File(data, response, insteadOf: file)
        // Two refreshed files with equal bytes differ if their headers do. So a new validator is stored even if the
        // bytes are the same.
        if refreshed != known, !store(refreshed, of: url) {
            // If `URLCache` refuses the new file as too large, it has already removed the older one. So the older one
            // is stored again.
            if let known { _ = store(known, of: url) }
            throw Complaint(
                "the default cache didn't store the \(data.count.grouped) bytes; raise the cache's diskCapacity"
            )
        }
        return known.map { $0.digest != refreshed.digest || !$0.standsFor(file) } ?? true
    }
}

extension RefreshedFiles {
    /// A refreshed file: its bytes and their digest, the size and digest of the entry's file that it replaces, and the
    /// server's headers.
    final class File: Sendable, Equatable {
        let data: Data
        let digest: String
        /// The size of the entry's file. If that file now has another size or digest, the app has shipped another
        /// version, and the refreshed file isn't used.
        let fileSize: Int
        let fileDigest: String
        let contentType: String?
        let entityTag: String?
        let lastModified: String?

        /// Returns whether a file is still the one that was refreshed.
        func standsFor(_ file: FileBytes) -> Bool {
            fileSize == file.data.count && fileDigest == file.digest
        }

        var validators: Validators? { Validators(entityTag: entityTag, lastModified: lastModified) }

        static func == (one: File, other: File) -> Bool {
            one.digest == other.digest && one.fileSize == other.fileSize && one.fileDigest == other.fileDigest
                && one.contentType == other.contentType && one.entityTag == other.entityTag
                && one.lastModified == other.lastModified
        }

        /// - Parameter response: The server's response, or the one stored in the default cache.
        private init(
            _ data: Data,
            _ response: HTTPURLResponse,
            digest: String,
            fileSize: Int,
            fileDigest: String
        ) {
            self.data = data
            self.digest = digest
            self.fileSize = fileSize
            self.fileDigest = fileDigest
            contentType = response.value(forHTTPHeaderField: "Content-Type")
            entityTag = response.value(forHTTPHeaderField: "ETag")
            lastModified = response.value(forHTTPHeaderField: "Last-Modified")
        }

        fileprivate convenience init(_ data: Data, _ response: HTTPURLResponse, insteadOf file: FileBytes) {
            let digest = Digest.base64(of: data)
            self.init(data, response, digest: digest, fileSize: file.data.count, fileDigest: file.digest)
        }

        // MARK: In the default cache

        // The digests and the size are stored as headers: Apple doesn't document what else of a response `URLCache`
        // keeps on disk.
        private static let digestHeader = "LocalSubstitution-Digest"
        private static let fileSizeHeader = "LocalSubstitution-File-Size"
        private static let fileDigestHeader = "LocalSubstitution-File-Digest"

        /// Returns `nil` if the response in the default cache lacks the headers that mark a refreshed file, or is
        /// damaged.
        fileprivate convenience init?(_ stored: CachedURLResponse) {
            guard let response = stored.response as? HTTPURLResponse,
                let digest = response.value(forHTTPHeaderField: Self.digestHeader),
                let fileSize = response.value(forHTTPHeaderField: Self.fileSizeHeader).flatMap(Int.init),
                let fileDigest = response.value(forHTTPHeaderField: Self.fileDigestHeader),
                digest == Digest.base64(of: stored.data)
            else { return nil }
            self.init(stored.data, response, digest: digest, fileSize: fileSize, fileDigest: fileDigest)
        }

        /// The response to store in the default cache. It's never sent to a client: a ``ResponseBuilder`` makes the
        /// client's response from its bytes.
        fileprivate var stored: CachedURLResponse? {
            var headers = [
                Self.digestHeader: digest,
                Self.fileSizeHeader: String(fileSize),
                Self.fileDigestHeader: fileDigest,
            ]
            headers["Content-Type"] = contentType
            headers["ETag"] = entityTag
            headers["Last-Modified"] = lastModified
            guard let url = Self.place(digest: digest),
                let response = HTTPURLResponse(
                    url: url,
                    statusCode: 200,
                    httpVersion: "HTTP/1.1",
                    headerFields: headers
                )
            else { return nil }
            return CachedURLResponse(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
        }

        /// Returns the request under which the default cache stores the refreshed file of a URL.
        ///
        /// No other response is stored under this request: no real host has a name in `invalid` (RFC 6761 §6.4). On
        /// Linux, the keys of other responses also have a different host: see ``DefaultCache/key(for:_:)``.
        static func request(for canonicalURL: String) -> URLRequest? {
            place(digest: Digest.base64(of: canonicalURL)).map { URLRequest(url: $0) }
        }

        private static func place(digest: String) -> URL? {
            URL(string: "http://refreshed-file.invalid/" + digest)
        }
    }
}
