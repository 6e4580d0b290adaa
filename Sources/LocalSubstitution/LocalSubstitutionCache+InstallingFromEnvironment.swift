import Foundation

extension LocalSubstitutionCache {
    /// Installs the cache that the process's environment names, for UI tests of an app: call it first thing in the process.
    ///
    /// The variable `LOCAL_SUBSTITUTION_MAP` is the path of a map file, with a slash or the extension `json`; or the name of a map
    /// in the main bundle; or, beginning with `{`, the map itself, since an app on a device can't read the test runner's files.
    /// Such a map's files are in the main bundle. A map file is reloaded when it changes.
    ///
    /// With `LOCAL_SUBSTITUTION_UNMATCHED=fail`, requests that no entry answers fail. For each unanswered request that reaches a
    /// cache or protocol, this prints a line to standard error. Code with its own sessions attaches ``installed``.
    ///
    /// - Parameter allowInRelease: Whether this also works in a build without `DEBUG`, such as the one that an app's users have.
    /// - Returns: The cache; `nil` without the variable, or in such a build. Then nothing was done.
    /// - Throws: A ``SubstitutionMapError`` that lists every problem with the map, or the errors of ``install(unmatched:recorder:)``.
    ///   Then nothing was installed.
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
                "LOCAL_SUBSTITUTION_UNMATCHED is “\(value)”: set it to fail or load"
            )
        }
    }
}
