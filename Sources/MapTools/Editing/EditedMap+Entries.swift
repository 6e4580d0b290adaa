package import Foundation
import HTTPSyntax
package import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension EditedMap {
    /// Adds an entry for a file. A file in the resources folder stays where it is. Any other file is copied to the
    /// resources folder under its own name.
    ///
    /// - Parameters:
    ///   - key: The entry's key: a URL, or a match pattern for several URLs.
    ///   - replacing: Whether to replace a different entry for the same URLs, and a different file with the same name.
    ///     If `false`, the default, either is an error. A file that another entry uses is never replaced.
    package mutating func add(_ key: String, file: URL, replacing: Bool = false) throws(Complaint) -> ResponseFile {
        let url = try Self.exactURL(key)
        let oldKey = url.map { entries.key(of: $0) } ?? entries.pattern(equalTo: key)
        let body: Data
        let inside: String?
        do throws(Complaint) {
            let opened = try OpenedFile(path: file.path)
            body = try opened.contents()
            inside = (try? ResourcesFolder(folder.resources).opened())?.name(of: opened)
        } catch {
            throw Complaint(printable: "The file “\(file.path)” \(error)")
        }
        let name = inside ?? file.lastPathComponent
        if let problem = FileName(text: name).problem {
            throw Complaint(printable: "The file's name “\(name)” \(problem)")
        }
        guard !FileName(text: name).hasWildcards else {
            throw Complaint(
                printable: "The file's name “\(name)” has a *, which is a wildcard in a map. Rename the file."
            )
        }
        let value = JSONText.string(name)
        let served = entries.substitution(ofFile: name, key: key, url: url)
        let isThere = hasFile(name, body)
        if let oldKey {
            let isSame = entries.document.values[oldKey] == value && isThere
            guard isSame || replacing else { throw occupied(oldKey) }
            if isSame { return ResponseFile(.unchanged, name, of: body, servedAs: served) }
        }
        if inside == nil, !isThere {
            try checkIsFree(name, for: oldKey, replacing)
            try write(body, to: name)
        }
        set(oldKey ?? key, to: value)
        return ResponseFile(oldKey == nil ? .new : .replaced, name, of: body, servedAs: served)
    }

    /// Adds an entry that returns a response for a URL. The body's file gets a readable name and a fitting extension.
    ///
    /// - Parameters:
    ///   - loaded: The response. If a redirected request that led to it has a credential or an invalid URL, an error is
    ///     thrown.
    ///   - replacing: Whether to replace an entry for the URL; `false` by default.
    package mutating func add(
        _ key: String,
        _ loaded: Exchange,
        replacing: Bool = false
    ) throws(Complaint) -> ResponseFile {
        let url = try Self.loadedURL(key)
        if let reason = RecordingRules.refusal(ofRedirects: loaded.redirects) {
            throw Complaint(
                printable:
                    "\(key): Nothing was added, because \(reason). To add the URL anyway, name the file to return."
            )
        }
        let headers = RecordingRules.Headers.recorded(of: loaded.response)
        let exchanges = RecordedResponse(loaded, headers: headers).map { [RecordedExchange($0)] } ?? []
        guard let added = try add(exchanges, for: url, as: key, replacing: replacing).first else {
            throw Complaint(printable: "\(key): Nothing was added.")
        }
        return try added.get()
    }

    /// Checks a key before an entry for it is added. Throws an error if the entry can't be added.
    ///
    /// - Parameters:
    ///   - isLoaded: Whether the response will be loaded from the URL. If `true`, an error is thrown for a pattern.
    ///   - replacing: Whether the map may already have an entry for the URL. It has no effect if `isLoaded` is `false`.
    /// - Returns: A warning if the URL may contain a credential; otherwise, `nil`. For a pattern, always `nil`.
    package func check(_ key: String, isLoaded: Bool, replacing: Bool) throws(Complaint) -> String? {
        guard let url = isLoaded ? try Self.loadedURL(key) : try Self.exactURL(key) else { return nil }
        if isLoaded, !replacing, let key = entries.refusal(of: url)?.key { throw occupied(key) }
        return SecretName.first(in: url)
            .map { "\($0.sentence) The URL is now in the map. If the credential is real, remove the entry." }
    }

    /// Returns the URL of an exact key; `nil` for a pattern. Throws an error if the key is invalid.
    private static func exactURL(_ key: String) throws(Complaint) -> NormalizedURL? {
        do throws(Complaint) {
            return if case .url(let url) = try MapKey(key) { url } else { nil }
        } catch {
            throw Complaint(printable: "The URL “\(key)” \(error)")
        }
    }

    /// Returns the URL of an exact key. Throws an error for a pattern, which can't be loaded, and for an invalid key.
    private static func loadedURL(_ key: String) throws(Complaint) -> NormalizedURL {
        if let url = try exactURL(key) { return url }
        throw Complaint(printable: "“\(key)” is a pattern, which can't be loaded. Name the file to return.")
    }

    /// Throws an error if the name belongs to a file that can't be replaced. A file can be replaced only if `replacing`
    /// is `true`, and if no entry but the one with the given key uses the file, not even in another map of the folder.
    ///
    /// - Parameter key: The key of the entry that is replaced; `nil` if the entry is new.
    private mutating func checkIsFree(_ name: String, for key: String?, _ replacing: Bool) throws(Complaint) {
        guard written.contains(name) else { return }
        guard replacing else {
            throw Complaint(
                printable:
                    "The resources folder already has a different file “\(name)”. Rename yours, or replace that file with --force."
            )
        }
        let isOwn = key.map { entries.document.files(of: $0).contains(name) } ?? false
        guard isOwn ? isOnlyUse(name) : !entries.files.contains(name) && !isNamedElsewhere(name) else {
            throw Complaint(
                printable: "The file “\(name)” in the resources folder belongs to another entry. Rename your file."
            )
        }
    }

    private func occupied(_ key: String) -> Complaint {
        let isNull = entries.document.values[key] == "null"
        let text =
            isNull
            ? "The entry “\(key)” is null, so it excludes this URL. Remove that entry, or add the URL with --force."
            : "The map already has the entry “\(key)” for this URL. Replace it with --force."
        return Complaint(key: key, text.printable)
    }
}

/// The responses of `add` and of imported archives.
extension EditedMap {
    /// Adds the exchanges of one URL: writes their bodies, and creates the entry that returns them. Several exchanges
    /// become the entry's alternatives.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges, with narrower conditions first. Several exchanges for one request are returned in
    ///     their order.
    ///   - key: The key of the new entry. An existing entry keeps its key.
    ///   - replacing: Whether to replace an existing entry for the URL.
    /// - Returns: For each exchange, its file, or a complaint about the existing entry that wasn't replaced.
    mutating func add(
        _ exchanges: [RecordedExchange],
        for url: NormalizedURL,
        as key: String,
        replacing: Bool
    ) throws(Complaint) -> [Result<ResponseFile, Complaint>] {
        let oldKey = entries.key(of: url)
        let same = exchanges.map { exchange in oldKey.flatMap { unchanged(exchange, for: url, in: $0) } }
        let occupied = entries.refusal(of: url)?.key
        if let occupied, !replacing || same.allSatisfy({ $0 != nil }) {
            return same.map { $0.map { .success($0) } ?? .failure(self.occupied(occupied)) }
        }
        // A piece of a stream isn't a body, so its file is never overwritten.
        let own = oldKey.map { entries.document.files(of: $0, withPieces: false) } ?? []
        var added: [Result<ResponseFile, Complaint>] = []
        var answers: [EntryText.Members] = []
        var bodies: WrittenBodies = [:]
        for (exchange, same) in zip(exchanges, same) {
            // The first response's file gets the URL's plain name.
            let name = exchange.fileName(for: url, distinguishing: answers.isEmpty ? nil : exchange.request)
            let isEmpty = exchange.response.body.isEmpty
            let file = isEmpty ? nil : try write(exchange, as: name, over: own, unlessIn: &bodies)
            let entry = exchange.entry(for: url, file: file, defaults: entries.defaults)
            answers.append(entry.members + exchange.conditions)
            let change: ResponseFile.Change = same != nil ? .unchanged : occupied == nil ? .new : .replaced
            let served = entry.substitution(for: url)
            added.append(.success(ResponseFile(change, file, of: exchange.response.body, servedAs: served)))
        }
        if !answers.isEmpty { set(oldKey ?? key, to: EntryText.value(of: answers)) }
        return added
    }

    /// Returns the response's file if the entry with the given key already returns this response; otherwise, `nil`.
    private func unchanged(_ exchange: RecordedExchange, for url: NormalizedURL, in key: String) -> ResponseFile? {
        let (request, body) = (exchange.request, exchange.response.body)
        guard
            let served = entries.substitution(
                for: url,
                method: request.method,
                body: request.condition.example.map { Data($0.utf8) },
                after: exchange.after
            )
        else { return nil }
        let file = served.fileName
        if let file {
            guard !body.isEmpty, entries.document.files(of: key).contains(file), hasFile(file, body) else { return nil }
        } else {
            guard body.isEmpty, case .file = served.answer else { return nil }
        }
        let new = exchange.entry(for: url, file: file, defaults: entries.defaults).substitution(for: url)
        return isSame(served, new, body) ? ResponseFile(.unchanged, file, of: body, servedAs: served) : nil
    }

    /// Returns whether two entries return a body with the same type, status and headers. The first entry must also
    /// match all methods of the second. The entries' conditions and spelling in the map don't matter.
    private func isSame(_ one: Substitution, _ other: Substitution, _ body: Data) -> Bool {
        // `Content-Type` is compared below, as it's sent.
        var headers = (one.headers, other.headers)
        headers.0[header: "Content-Type"] = nil
        headers.1[header: "Content-Type"] = nil
        return one.status == other.status && other.methods.allSatisfy(one.methods.contains)
            && headers.0.count == headers.1.count
            && headers.0.allSatisfy { headers.1[header: $0.key] == $0.value }
            && one.contentType(ofBody: body) == other.contentType(ofBody: body)
    }
}

extension EditedMap {
    /// The file of a response in a map.
    package struct ResponseFile: Sendable, Hashable {
        package enum Change: String, Sendable, Hashable {
            case new, replaced, unchanged
        }

        package let change: Change
        /// In the resources folder; `nil` if the response has no body.
        package let name: String?
        package let bytes: Int
        /// The `Content-Type` that the file is sent with; empty for none.
        package let contentType: String

        init(_ change: Change, _ name: String?, of body: Data, servedAs substitution: Substitution) {
            (self.change, self.name, bytes) = (change, name, body.count)
            contentType = substitution.contentType(ofBody: body)
        }
    }
}
