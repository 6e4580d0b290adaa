import Foundation
import Workloads

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Measures `substitute get --parts` on a site of 200 parts on loopback, beside six plain URLSession tasks at a time for the same
/// URLs.
///
/// Each load runs in a separate process, which warms up as the command's does, and times itself. The two sides are compared round
/// by round, since only figures of the same round are comparable.
@main
struct Page {
    static let parts = 200
    static let rounds = 11

    static func main() async throws {
        if CommandLine.arguments.count == 3, let page = URL(string: CommandLine.arguments[2]) {
            let urls = [page] + (0..<parts).map { page.appending(path: "part/\($0)") }
            return print(try await plain(urls))
        }
        guard CommandLine.arguments.count == 2 else {
            print("Usage: swift run -c release page PATH-OF-substitute")
            exit(64)
        }
        let html = (0..<parts).map { "<img src=\"/part/\($0)\" alt=\"one of them\">\n" }.joined()
        // The server sends the same response for every URL, so each part is as large as the page.
        let server = try TinyServer(body: Array(html.utf8))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("Resources"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let map = folder.appendingPathComponent("substitutions.json")
        try Data("{}".utf8).write(to: map)

        let page = "http://127.0.0.1:\(server.port)/"
        var (plain, command): ([Double], [Double]) = ([], [])
        for round in 0...rounds {
            let times = (try Self.plain(page), try Self.command(CommandLine.arguments[1], page, map))
            // The first round only warms up the machine.
            if round == 0 { continue }
            plain.append(times.0)
            command.append(times.1)
        }
        let ratio = zip(command, plain).map { $0 / $1 }.median
        print(
            """
            \(parts) parts and the page, \(html.utf8.count) bytes each, \(rounds) rounds, medians
            six plain URLSession tasks at a time  \(format(plain.median)) ms
            substitute get --parts                \(format(command.median)) ms
            ratio                                 \(format(ratio))  (limit 1.5)
            """
        )
    }

    /// Loads the URLs. Returns the time in milliseconds.
    private static func plain(_ urls: [URL]) async throws -> Double {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Int.self) { group in
            var rest = urls[...]
            for url in rest.prefix(6) { group.addTask { try await session.data(from: url).0.count } }
            rest = rest.dropFirst(6)
            while try await group.next() != nil {
                if let url = rest.popFirst() { group.addTask { try await session.data(from: url).0.count } }
            }
        }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    private static func command(_ path: String, _ page: String, _ map: URL) throws -> Double {
        struct Record: Decodable {
            struct Totals: Decodable {
                let fromNetwork: Int
                let milliseconds: Double
            }

            let totals: Totals
        }
        let output = try run(URL(fileURLWithPath: path), ["get", "--parts", page, "--json", "--map", map.path])
        let totals = try JSONDecoder().decode(Record.self, from: output).totals
        guard totals.fromNetwork == parts + 1 else { throw CocoaError(.executableLoad) }
        return totals.milliseconds
    }

    /// Loads the page's URLs in a separate process. Returns the time in milliseconds.
    private static func plain(_ page: String) throws -> Double {
        guard let program = Bundle.main.executableURL else { throw CocoaError(.executableLoad) }
        let output = try run(program, ["plain", page])
        let text = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let milliseconds = Double(text) else { throw CocoaError(.executableLoad) }
        return milliseconds
    }

    /// Runs a program and returns what it prints.
    private static func run(_ program: URL, _ words: [String]) throws -> Data {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = program
        process.arguments = words
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        return output
    }

    private static func format(_ number: Double) -> String { String(format: "%.2f", number) }
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}
