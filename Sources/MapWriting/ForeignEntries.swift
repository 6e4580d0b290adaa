package import Foundation
package import LocalSubstitution

/// The entries that a writer found in its map. The writer must take into account what they match, and which files they
/// use. For a recorder, these are the entries that it didn't write itself.
package struct ForeignEntries: Sendable {
    package let document: MapDocument
    package let defaults: EntryFields
    /// A map with only these entries; `nil` if the map can't be loaded.
    private let map: SubstitutionMap?
    /// The exact keys in the map's own spelling, by canonical URL. Keys of invalid entries are included.
    private var keys: [String: String] = [:]
    /// The files that these entries use.
    package let files: NamedFiles

    package init(_ document: MapDocument, resources: URL) {
        self.document = document
        defaults = document.defaults
        files = NamedFiles(document)
        map = try? SubstitutionMap(json: document.data, resources: resources, invalidEntries: .skip, handlers: .any)
        for key in document.values.keys where !key.hasPrefix("$") {
            if !MapKey.isPattern(key), let url = try? NormalizedURL(key) { keys[url.canonical] = key }
        }
    }

    /// Returns why these entries exclude a URL from recording: a `null` entry matches it, or an exact key does. Returns
    /// `nil` if the URL may be recorded.
    package func refusal(of url: NormalizedURL) -> Complaint? {
        let winner = map?.match(url).winner
        if let winner, winner.options.isNever { return .excluded(key: winner.key) }
        if let key = keys[url.canonical] { return .entry(key: key) }
        if let winner, !winner.isPattern { return .entry(key: winner.key) }
        return nil
    }

    /// Returns the exact key for a URL in the map's own spelling, even if the key's entry is invalid; `nil` if the map
    /// has no such key.
    package func key(of url: NormalizedURL) -> String? { keys[url.canonical] }

    /// Returns the map's key that means the same as a pattern, in the map's own spelling. Returns `nil` if the map has
    /// no such key, or if the pattern is invalid.
    package func pattern(equalTo pattern: String) -> String? {
        guard let form = try? MatchPattern(pattern).text else { return nil }
        return document.values.keys.first {
            MapKey.isPattern($0) && (try? MatchPattern($0).text) == form
        }
    }

    /// Returns the key of the `null` entry that excludes a URL; `nil` if no such entry does.
    package func exclusion(of url: NormalizedURL) -> String? {
        map?.match(url).winner.flatMap { $0.options.isNever ? $0.key : nil }
    }

    /// Returns the map's answer to a request if the answer's body is a file, is written in the map, or is empty.
    /// Returns `nil` if the body comes from elsewhere, such as another server, or if no entry matches.
    ///
    /// - Parameters:
    ///   - method: The request's method; `GET` by default.
    ///   - headers: The request's headers; none by default.
    ///   - body: The request's body; `nil`, the default, for none.
    ///   - count: How many earlier requests for the same URL, method and body count toward limits of `times`; 0 by
    ///     default.
    package func substitution(
        for url: NormalizedURL,
        method: String = "GET",
        headers: [String: String] = [:],
        body: Data? = nil,
        after count: Int = 0
    ) -> Substitution? {
        let facts = RequestFacts(method: method, headers: headers, body: body.map { .data($0) } ?? .none)
        var rest = count
        let match = map?.match(url, for: facts) { alternative in
            guard rest >= alternative.most else { return false }
            rest -= alternative.most
            return true
        }
        return match?.localSubstitution
    }

    /// Returns the answer of a new entry that consists only of a file's name. Fields of `$defaults` apply to it.
    ///
    /// - Parameter url: The URL of an exact key; `nil` if the key is a pattern.
    package func substitution(ofFile name: String, key: String, url: NormalizedURL?) -> Substitution {
        let entry = Entry(key, EntryFields(file: name), defaults: defaults)
        return Substitution(entry, fileName: name, folder: nil, url: url)
    }
}
