import Foundation

extension SubstitutionMap {
    /// Loads a map from a bundle. Its files are mapped into memory where that pays, since nothing changes an installed bundle.
    init(bundle: Bundle, map name: String, strict: Bool) throws(SubstitutionMapError) {
        guard let file = bundle.url(forResource: name, withExtension: "json") else {
            throw SubstitutionMapError(
                file: nil,
                problems: [
                    .init(
                        .unreadableMap,
                        "there is no \(name).json in the bundle “\(bundle.bundlePath)”: add it to the target's resources"
                    )
                ]
            )
        }
        let folder =
            Self.folder(beside: file, or: nil, mapsLargeFiles: true)
            ?? bundle.resourceURL.map { ResourcesFolder($0, mapsLargeFiles: true) }
        try self.init(MapFile(file), resources: nil, folder: folder, strict: strict)
    }
}
