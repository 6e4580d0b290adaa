import Foundation
import LocalSubstitution

/// Where `init` makes a map: in the folder of the target that uses it, or in the current folder.
struct MapPlace: Sendable {
    let map: MapChoice
    let package: DescribedPackage?
    /// The target whose folder has the map.
    let target: DescribedPackage.Target?

    init(_ arguments: Arguments) throws {
        let name = arguments.value("target")
        guard name == nil || !arguments.has("map") else {
            throw Failure(usage: "--target and --map both say where the map goes. Leave one out.")
        }
        let folder = CurrentFolder.current.url
        guard !arguments.has("map") else {
            map = MapChoice(arguments)
            // The package only makes the advice shorter, so it doesn't matter if it can't be read.
            package = try? DescribedPackage(in: folder)
            let place = map.file.deletingLastPathComponent().standardizedFileURL.path
            target = package?.targets.first {
                folder.appendingPathComponent($0.path, isDirectory: true).standardizedFileURL.path == place
            }
            return
        }
        package = try DescribedPackage(in: folder)
        guard let package else {
            guard name == nil else {
                let manifest = folder.appendingPathComponent("Package.swift", isDirectory: false)
                throw Failure(
                    usage:
                        "\(manifest.path) doesn't exist. Run init in the package's folder, or leave out --target."
                )
            }
            (map, target) = (MapChoice(arguments), nil)
            return
        }
        let found = try package.target(named: name, in: folder)
        (map, target) = (MapChoice(arguments, in: found.path), found)
    }

    /// The names of the map and the resources folder, unless the target's `resources` list them or a bundle can't have them.
    var missingResources: [String] {
        guard map.isInBundle else { return [] }
        // SwiftPM names the target's folder without symbolic links.
        func path(of file: URL) -> String {
            let folder = file.standardizedFileURL.deletingLastPathComponent().resolvingSymlinksInPath()
            return folder.appendingPathComponent(file.lastPathComponent, isDirectory: false).path
        }
        let listed = (target?.resources ?? []).map { path(of: URL(fileURLWithPath: $0.path)) }
        return [map.file, map.resources].filter { !listed.contains(path(of: $0)) }.map(\.lastPathComponent)
    }
}
