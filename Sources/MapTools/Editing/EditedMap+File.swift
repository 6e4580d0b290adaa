package import Foundation
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension EditedMap {
    /// Adds an entry for a file. A file in the resources folder is used in place; any other is copied there under its own name.
    ///
    /// - Parameters:
    ///   - key: A URL, or a match pattern, all of whose URLs the file answers.
    ///   - replacing: Whether to replace an entry for the same URLs, and a file with the same name.
    package mutating func add(_ key: String, file: URL, replacing: Bool = false) throws(MapToolError) -> KeptFile {
        let url = try Self.exactURL(key)
        let oldKey = url.map { entries.key(of: $0) } ?? entries.pattern(equalTo: key)
        let body: Data
        let inside: String?
        do throws(FileProblem) {
            let opened = try OpenedFile(path: file.path)
            body = try opened.contents()
            inside = (try? ResourcesFolder(resources).opened())?.name(of: opened)
        } catch {
            throw MapToolError("The file “\(file.path)” \(error.message)")
        }
        let name = inside ?? file.lastPathComponent
        if let problem = FileName(text: name).problem { throw MapToolError("The file's name “\(name)” \(problem)") }
        guard FileName(text: name).wildcards == 0 else {
            throw MapToolError(
                "The file's name “\(name)” has a *, which stands for a part of the URL. Rename the file."
            )
        }
        let value = JSONText.string(name)
        let isThere = hasFile(name, body)
        if let oldKey {
            let isSame = entries.document.values[oldKey] == value && isThere
            guard isSame || replacing else { throw Self.occupied(oldKey) }
            if isSame { return added(.unchanged, name, body, key, url) }
        }
        if inside == nil, !isThere {
            try checkIsFree(name, for: oldKey, replacing)
            try write(body, to: name)
        }
        set(oldKey ?? key, to: value)
        return added(oldKey == nil ? .new : .replaced, name, body, key, url)
    }

    /// Adds an entry for a URL's response. Its file gets a readable name and the extension of its type.
    ///
    /// - Parameter redirects: The requests for the targets of the redirects that led to it. None may have a credential.
    package mutating func add(
        _ key: String,
        _ response: HTTPURLResponse,
        body: Data,
        redirects: [URLRequest],
        replacing: Bool = false
    ) throws(MapToolError) -> KeptFile {
        guard let url = try Self.exactURL(key) else {
            throw MapToolError("“\(key)” is a pattern, which can't be loaded. Name a file for it.")
        }
        if let reason = RecordingRules.refusal(ofRedirects: redirects) {
            throw MapToolError(
                "\(key): Nothing was added, because \(reason). To add the URL anyway, name a file for it."
            )
        }
        let response = KeepableResponse(
            headers: RecordedHeaders.kept { response.value(forHTTPHeaderField: $0) },
            type: response.value(forHTTPHeaderField: "Content-Type").flatMap { ContentType($0) },
            body: body
        )
        switch try keep([response], for: url, as: key, replacing: replacing).first {
        case .success(let kept): return kept
        case .failure(let occupied): throw Self.occupied(occupied.key)
        case nil: throw MapToolError("\(key): Nothing was added.")
        }
    }

    /// Checks what can be checked before anything is loaded.
    ///
    /// - Returns: A warning if the key contains something that may be a credential; otherwise `nil`.
    package func check(_ key: String, isLoaded: Bool, replacing: Bool) throws(MapToolError) -> String? {
        guard let url = try Self.exactURL(key) else {
            guard !isLoaded else {
                throw MapToolError("“\(key)” is a pattern, which can't be loaded. Name a file for it.")
            }
            return nil
        }
        if isLoaded, !replacing, case .some(let refusal) = entries.refusal(of: url), let key = refusal.key {
            throw Self.occupied(key)
        }
        return SecretName.first(in: url).map {
            "\($0.sentence) It's now in the map."
        }
    }

    /// Returns the URL that a key names; `nil` for a pattern.
    private static func exactURL(_ key: String) throws(MapToolError) -> NormalizedURL? {
        do throws(URLSyntaxError) {
            return if case .url(let url) = try MapKey(key) { url } else { nil }
        } catch {
            throw MapToolError("The URL “\(key)” \(error.message)")
        }
    }

    private func checkIsFree(_ name: String, for key: String?, _ replacing: Bool) throws(MapToolError) {
        guard writtenResources.contains(name) else { return }
        guard replacing else {
            throw MapToolError(
                "The resources folder has another file “\(name)”. Rename yours, or replace the other with --force."
            )
        }
        let isOwn = key.map { entries.document.files(of: $0).contains(name) } ?? false
        guard isOwn ? isOnlyUse(name) : !entries.names(name) else {
            throw MapToolError("The file “\(name)” in the resources folder belongs to another entry. Rename yours.")
        }
    }

    private static func occupied(_ key: String) -> MapToolError {
        MapToolError("The map already has the entry “\(key)” for this URL. Replace it with --force.")
    }

    private func added(_ change: KeptFile.Change, _ name: String, _ body: Data, _ key: String, _ url: NormalizedURL?)
        -> KeptFile
    {
        KeptFile(change, name, body, entries.substitution(ofFile: name, key: key, url: url))
    }
}
