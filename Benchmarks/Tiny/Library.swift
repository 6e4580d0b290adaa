import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads the map of a folder and answers one URL with its file.
@main
enum Library {
    static func main() async throws {
        let map = URL(fileURLWithPath: CommandLine.arguments[1]).appendingPathComponent("substitutions.json")
        guard let url = URL(string: "https://api.example.com/3") else { return }
        let cache = LocalSubstitutionCache(map: try SubstitutionMap(contentsOf: map))
        let (body, _) = try await cache.makeSession(.default).data(from: url)
        print(String(decoding: body, as: UTF8.self))
    }
}
