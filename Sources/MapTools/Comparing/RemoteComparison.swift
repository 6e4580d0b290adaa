package import LocalSubstitution

/// What the URL of an exact entry serves now, compared with the entry's file.
package struct RemoteComparison: Sendable {
    package enum Result: Sendable, Hashable {
        case same
        /// The URL serves a body of `bytes` bytes, which differs from the file from `offset` on.
        case changed(bytes: Int, offset: Int)
        /// The server says that there is nothing: 404 or 410.
        case gone(status: Int)
        /// There's no response, or one that doesn't tell what the URL serves, such as 401 or 503. The reason is readable.
        case unreachable(reason: String)
        /// The URL's body is longer than the limit.
        case tooLong
        /// The file itself can't be read any more. The reason is readable.
        case unreadable(reason: String)
    }

    package enum Update: Sendable, Hashable {
        /// The file now has the bytes that the URL serves.
        case replaced
        /// The file is as it was. The reason is readable.
        case left(reason: String)
    }

    package let key: String
    /// The entry's line in the map.
    package let line: Int
    package let url: String
    /// The file's name, as the entry has it.
    package let fileName: String
    /// How many bytes the file had; `nil` if it could not be read.
    package internal(set) var fileBytes: Int?
    package internal(set) var result: Result
    /// What became of a changed file; `nil` where files are only compared, and where nothing has changed.
    package internal(set) var update: Update?
}

extension SubstitutionMap {
    /// Compares the files of all exact entries with what their URLs serve now, six at a time, without cache and cookies.
    ///
    /// Leaves out what a `GET` of one URL can't tell: patterns, entries that are `null`, disabled, without a file, for other
    /// methods only, or with a condition. Of alternatives, the first for `GET` counts. An answer is one with the status 200, or with the entry's own. Redirects are followed.
    ///
    /// - Parameters:
    ///   - limit: The longest body to load from one URL, in bytes.
    ///   - updating: Whether files that have changed are replaced, whole or not at all. A file of several entries is left alone
    ///     unless all of their URLs serve the same.
    ///   - progress: Called with the number of entries compared so far, and of all.
    /// - Returns: All that were compared, in the order of the map.
    package func comparedWithRemote(
        limit: Int,
        updating: Bool,
        progress: (_ count: Int, _ total: Int) -> Void
    ) async -> [RemoteComparison] {
        guard let resources else { return [] }
        let comparer = RemoteComparer(entries, in: resources, limit: limit, updating: updating)
        return await comparer.run(progress)
    }
}
