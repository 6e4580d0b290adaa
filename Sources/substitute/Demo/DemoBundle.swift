import Foundation

/// The demo's files, which the build puts next to the command.
///
/// `Bundle.module` traps if they're missing, such as next to a copy of the executable.
enum DemoBundle {
    static func bundle() throws(Failure) -> Bundle {
        let places = names.map { Bundle.main.bundleURL.appendingPathComponent($0, isDirectory: true) }
        for place in places {
            if let bundle = Bundle(url: place) { return bundle }
        }
        throw Failure(
            "The demo's files aren't at \(places[0].path). Copy that folder along with the command, or run "
                + "“swift run substitute demo” in the package's folder."
        )
    }

    static func url(_ name: String) throws(Failure) -> URL {
        let bundle = try bundle()
        guard let url = bundle.url(forResource: name, withExtension: nil) else {
            throw Failure("“\(name)” isn't in \(bundle.bundlePath). Build the command again.")
        }
        return url
    }

    /// SwiftPM names a bundle after package and target, and adds “-tool” to the target when it builds for a plugin.
    private static let names = ["substitute", "substitute-tool"].map { target in
        #if canImport(Darwin)
        "LocalSubstitutionCache_\(target).bundle"
        #else
        "LocalSubstitutionCache_\(target).resources"
        #endif
    }
}
