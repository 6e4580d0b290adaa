import Foundation

extension LocalSubstitutionCache {
    /// Installs the cache that the process's environment names, such as in UI tests. Call it before anything else in the process.
    ///
    /// The variable `LOCAL_SUBSTITUTION_MAP` is one of these:
    ///
    /// - The path of a map file. It contains a slash or ends in `.json`. The file is reloaded when it changes.
    /// - The name of a map in the main bundle.
    /// - The map itself, beginning with `{`, since an app on a device can't read the test runner's files. The entries' files are in
    ///   the main bundle.
    ///
    /// With `LOCAL_SUBSTITUTION_UNMATCHED=fail`, requests that no entry answers fail. This function also prints a line to standard
    /// error for each unanswered request that reaches a cache or protocol. If your code makes its own sessions, attach
    /// ``installed`` to them.
    ///
    /// - Parameter allowInRelease: Whether this also works in a build without `DEBUG`, such as the one your users have. By default,
    ///   it doesn't.
    /// - Returns: The cache. In a build without `DEBUG`, or if the variable isn't set, returns `nil` and does nothing.
    /// - Throws: A ``SubstitutionMapError`` that lists every problem with the map, or an ``AttachmentError`` if the variable
    ///   `LOCAL_SUBSTITUTION_UNMATCHED` is neither `fail` nor `load`, or if ``install(unmatched:)`` throws one. If it
    ///   throws, nothing is installed.
    @discardableResult
    public static func installFromEnvironment(allowInRelease: Bool = false) throws -> LocalSubstitutionCache? {
        #if DEBUG
        let isAllowed = true
        #else
        let isAllowed = allowInRelease
        #endif
        return try install(from: ProcessInfo.processInfo.environment, isAllowed: isAllowed)
    }

    static func install(from environment: [String: String], isAllowed: Bool) throws -> LocalSubstitutionCache? {
        let name = environment["LOCAL_SUBSTITUTION_MAP"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        guard isAllowed, !name.isEmpty else { return nil }
        let unmatched = try unmatched(environment["LOCAL_SUBSTITUTION_UNMATCHED"])
        let cache = try cache(named: name)
        try cache.install(unmatched: unmatched)
        cache.hear { event in
            guard [.missed, .bypassed].contains(event.kind) else { return }
            FileHandle.standardError.write(Data("LocalSubstitution: \(event)\n".utf8))
        }
        return cache
    }

    private static func cache(named name: String) throws(SubstitutionMapError) -> LocalSubstitutionCache {
        if name.hasPrefix("{") {
            return LocalSubstitutionCache(
                map: try SubstitutionMap(json: Data(name.utf8), resources: Bundle.main.resourceURL)
            )
        }
        guard name.contains("/") || name.hasSuffix(".json") else {
            return try LocalSubstitutionCache(bundle: .main, named: name)
        }
        return try LocalSubstitutionCache(contentsOf: URL(fileURLWithPath: name))
    }

    private static func unmatched(_ value: String?) throws(AttachmentError) -> Unmatched {
        switch value {
        case nil, "", "load": return .load
        case "fail": return .fail
        case .some(let value):
            throw AttachmentError(
                .invalidUnmatched,
                "LOCAL_SUBSTITUTION_UNMATCHED is “\(value)”. Set it to fail or load."
            )
        }
    }
}
