import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Random maps and URLs", .values)
struct RandomisedMatchTests {
    typealias Address = ReferenceMatcher.Address
    typealias Parameter = ReferenceMatcher.Parameter

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(files: ["a", "b", "a.b", "d/a", "d/b/index.html", "index.html"])
    }

    @Test("Random maps match as the reference matcher says", arguments: [0xA11CE, 0xB0B] as [UInt64])
    func reference(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (matched, contested) = (0, 0)
        for round in 0..<170 {
            let entries = entries(&random)
            let json = json(entries.shuffled(using: &random))
            let map = try folder.map(json, invalidEntries: .skip)
            // Some patterns have too few wildcards in their path for their file.
            let wrong = Set(map.problems.compactMap(\.key))
            let used = entries.filter { !wrong.contains($0.key.text) }
            #expect(map.count == used.count, "seed \(seed), round \(round): \(map.problems)")
            for _ in 0..<60 {
                let url = url(&random)
                // An encoded apostrophe is the same as a plain one.
                let isEncoded = random.once(in: 2)
                let normal = try NormalizedURL(isEncoded ? url.text.replacing("'", with: "%27") : url.text)
                let expected = ReferenceMatcher.matches(url, used)
                let found = map.storage.index.candidates(for: normal).compactMap { candidate in
                    let entry = map.storage.index.entries[candidate.number]
                    let names = try? entry.fileNames(filledWith: candidate.captures)
                    return names.map { (key: entry.key, file: $0.first) }
                }
                let (keys, files) = (found.map(\.key), found.map(\.file))
                let winner = expected.first { $0.entry.isEnabled && ($0.file == nil || exists($0.file)) }
                let match = map.match(normal)
                guard keys == expected.map(\.entry.key.text), files == expected.map(\.file),
                    match.winner?.key == winner?.entry.key.text, match.substitution?.fileName == winner?.file
                else {
                    Issue.record(
                        """
                        seed \(seed), round \(round): \(url.text) with \(json)
                        expected \(expected.map { ($0.entry.key.text, $0.file) }), winner \(winner?.entry.key.text ?? "none")
                        found \(keys), \(files), winner \(match.winner?.key ?? "none")
                        """
                    )
                    return
                }
                matched += expected.isEmpty ? 0 : 1
                contested += expected.count > 1 ? 1 : 0
            }
        }
        #expect(matched > 3_000 && contested > 1_200, "seed \(seed): \(matched), \(contested)")
    }

    private func exists(_ file: String?) -> Bool {
        file.map { FileStatus(path: folder.file($0).path)?.kind == .regular } ?? false
    }

    // MARK: Random values over a tiny alphabet

    private func url(_ random: inout SeededGenerator) -> Address {
        Address(
            scheme: random.pick(["http", "https", "https"]),
            host: random.pick(["h", "a.h", "b.a.h"]),
            port: random.once(in: 4) ? random.pick(["80", "443"]) : nil,
            path: "/" + text(["a", "b", "/", "d/", "a.b", "'"], 2, &random),
            query: query(["1", "'"], &random)
        )
    }

    private func key(_ random: inout SeededGenerator) -> Address {
        var key = url(&random)
        guard random.below(4) > 0 else { return key }
        if random.once(in: 4) { key.scheme = "*" }
        if random.below(4) > 0 { key.host = random.pick(["*", "*.h", "*.a.h"]) }
        if random.once(in: 4) { key.port = "*" }
        key.path = "/" + text(["a", "b", "/", "*", "*", "d/", "'"], 4, &random)
        key.query = random.once(in: 2) ? nil : query(["1", "'", "*"], &random)
        return key
    }

    private func text(_ pieces: [String], _ most: Int, _ random: inout SeededGenerator) -> String {
        (0..<random.below(most + 1)).map { _ in random.pick(pieces) }.joined()
    }

    private func query(_ values: [String], _ random: inout SeededGenerator) -> [Parameter]? {
        guard random.once(in: 2) else { return nil }
        return (0...random.below(3)).map { _ in
            Parameter(name: random.pick(["x", "y", "z"]), value: random.once(in: 4) ? nil : random.pick(values))
        }
    }

    private func entries(_ random: inout SeededGenerator) -> [ReferenceMatcher.Entry] {
        var forms: Set<String> = []
        return (0..<24).compactMap { _ in
            let key = key(&random)
            let wildcards = "\(key.path)\(key.query.map { $0.map(\.text).joined() } ?? "")".count { $0 == "*" }
            let names = wildcards == 0 ? ["a", "b", "d/a"] : ["a", "*", "d/*", "*.b", wildcards > 1 ? "*/*" : "*/"]
            // Two entries for one URL are a problem, which another test covers.
            let form = key.isPattern ? try? MatchPattern(key.text).text : try? NormalizedURL(key.text).canonical
            guard let form, forms.insert(form).inserted else { return nil }
            if random.once(in: 8) { return ReferenceMatcher.Entry(key: key, file: nil, isEnabled: true, ignored: nil) }
            return ReferenceMatcher.Entry(
                key: key,
                file: random.pick(names),
                isEnabled: !random.once(in: 8),
                ignored: random.once(in: 3) ? Set(["x", "y"].prefix(1 + random.below(2))) : nil
            )
        }
    }

    private func json(_ entries: [ReferenceMatcher.Entry]) -> String {
        let members = entries.map { entry in
            guard let file = entry.file else { return "\"\(entry.key.text)\": null" }
            let rule =
                entry.ignored.map { ", \"ignoreQuery\": [\($0.map { "\"\($0)\"" }.joined(separator: ","))]" } ?? ""
            return "\"\(entry.key.text)\": {\"file\": \"\(file)\", \"enabled\": \(entry.isEnabled)\(rule)}"
        }
        return "{\(members.joined(separator: ",\n"))}"
    }
}
