import Foundation
import LocalSubstitution
import Workloads

/// Measures how much memory a map of 100,000 entries takes in a fresh process, per byte of its JSON.
///
/// The figure is how much resident memory grows when the map is loaded, with nothing trimmed. This process made the map's text, so
/// it would reuse memory left from that.
@main
enum Resident {
    static let rounds = 7
    static let target = 3.0

    static func main() throws {
        if let path = CommandLine.arguments.dropFirst().first {
            let before = Memory.resident
            let map = try SubstitutionMap(contentsOf: URL(fileURLWithPath: path))
            return withExtendedLifetime(map) { print(Memory.resident - before) }
        }
        let fixture = try Fixture(json: Fixture.json(entries: 100_000))
        let size = try Data(contentsOf: fixture.map).count
        let bytes = try (0..<rounds).map { _ in try measure(fixture.map.path) }.sorted()
        let ratio = Double(bytes[rounds / 2]) / Double(size)
        print(String(format: "%d bytes of JSON, %d resident: %.2f, at most %g", size, bytes[rounds / 2], ratio, target))
        if ratio > target { exit(1) }
    }

    private static func measure(_ path: String) throws -> Int {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = [path]
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard let bytes = Int(String(decoding: output, as: UTF8.self).dropLast()) else {
            throw CocoaError(.executableLoad)
        }
        return bytes
    }
}
