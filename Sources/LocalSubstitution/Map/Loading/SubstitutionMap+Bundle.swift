public import Foundation

extension SubstitutionMap {
    /// Loads a map from a bundle.
    ///
    /// Files of 64 KiB and more are mapped into memory, since nothing changes an installed bundle.
    ///
    /// - Parameters:
    ///   - bundle: The bundle. The entries' files are in the folder `Resources` beside the map or, if it doesn't exist, beside the
    ///     map.
    ///   - name: The name of the map's file, without its extension `json`.
    ///   - invalidEntries: What happens to entries with mistakes. By default, any problem is an error.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public init(
        bundle: Bundle,
        named name: String = "substitutions",
        invalidEntries: InvalidEntries = .reject
    ) throws(SubstitutionMapError) {
        guard let file = bundle.url(forResource: name, withExtension: "json") else {
            let file = name.hasSuffix(".json") ? name : "\(name).json"
            let advice = file == name ? "Name it without “.json”." : "Add it to the target's resources."
            let message = "There's no \(file) in the bundle “\(bundle.bundlePath)”. \(advice)"
            throw SubstitutionMapError(file: nil, problems: [Problem(.unreadableMap, message)])
        }
        try self.init(MapFile(file), resources: nil, isInBundle: true, invalidEntries: invalidEntries)
    }
}
