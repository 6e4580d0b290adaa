package import LocalSubstitution

/// What the URL of an exact entry serves now, compared with the entry's file.
package struct RemoteComparison: Sendable {
    package enum Result: Sendable, Hashable {
        case same
        /// The URL serves a body of `bytes` bytes, which differs from the file from `offset` on.
        case changed(bytes: Int, offset: Int)
        /// The server answers 404 or 410.
        case gone(status: Int)
        /// There's no response, or it doesn't tell what the URL serves, such as 401 or 503. The reason is readable.
        case unreachable(reason: String)
        /// The URL's body is longer than the limit.
        case tooLong
        /// The file itself can't be read. The reason is readable.
        case unreadable(reason: String)
    }

    package enum Update: Sendable, Hashable {
        /// The file now has the bytes that the URL serves.
        case replaced
        /// The file is unchanged. The reason is readable.
        case left(reason: String)
    }

    package let key: String
    /// The entry's line in the map.
    package let line: Int
    package let url: String
    /// The file's name, as the entry has it.
    package let fileName: String
    /// How many bytes the file had; `nil` if it couldn't be read.
    package internal(set) var fileBytes: Int?
    package internal(set) var result: Result
    /// What happened to a changed file; `nil` if files are only compared, or if this one hasn't changed.
    package internal(set) var update: Update?
}

extension SubstitutionMap {
    /// Compares the files of all exact entries with what their URLs serve now, six at a time, without cache or cookies.
    ///
    /// Leaves out entries that a `GET` of one URL can't check: patterns, and entries that are `null`, disabled, without a file, for
    /// other methods only, or with a condition. If an entry has alternatives, the first one for `GET` is compared. A response
    /// counts if its status is 200 or the entry's own. Redirects are followed.
    ///
    /// - Parameters:
    ///   - limit: The longest body to load from one URL, in bytes.
    ///   - updating: Whether to replace files that have changed, each whole or not at all. A file that several entries name is left
    ///     alone unless all of their URLs serve the same bytes.
    ///   - progress: Called with the number of entries compared so far and the total.
    /// - Returns: The comparisons, in the order of the map.
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
