public import Foundation

extension SubstitutionMap {
    /// Loads the map in a bundle.
    ///
    /// Files of 64 KiB and more are mapped into memory, since nothing changes an installed bundle.
    ///
    /// - Parameters:
    ///   - bundle: The bundle. The entries' files are in the folder `Resources` beside the map, if it exists, or beside the map.
    ///   - name: The map's name, without its extension `json`.
    ///   - invalidEntries: Whether a problem with an entry is an error, which is the default.
    /// - Throws: An error that lists every problem with the map, each with its key and line.
    public init(
        bundle: Bundle,
        named name: String = "substitutions",
        invalidEntries: InvalidEntries = .reject
    ) throws(SubstitutionMapError) {
        guard let file = bundle.url(forResource: name, withExtension: "json") else {
            throw SubstitutionMapError(
                file: nil,
                problems: [
                    Problem(
                        .unreadableMap,
                        "there is no \(name).json in the bundle “\(bundle.bundlePath)”: add it to the target's resources"
                    )
                ]
            )
        }
        try self.init(MapFile(file), resources: nil, mapsLargeFiles: true, invalidEntries: invalidEntries)
    }
}
