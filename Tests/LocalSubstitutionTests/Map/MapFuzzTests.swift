import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("Mutated maps", .values)
struct MapFuzzTests {
    /// Short maps, since a change in a short one changes more of it, and takes less time.
    static let valid = [
        #"""
        {
          "$schema": "./s.json", "$defaults": {"headers": {"X-A": "*"}, "timeout": 1.5e1},
          "http://h.com/g.png": "a.txt",
          "https://*.h.com:*/f/*.woff2": "f/*.woff2",
          "https://\u00e9.com/ü?v=2&w=1": {"file": "a.txt", "comment": "\ud83d\ude00\n"}
        }
        """#,
        #"""
        {
          "$defaults": {"headers": {"X-A": "*"}, "timeout": 1.5e1},
          "https://h.com/l": {"file": "a.txt", "ignoreQuery": ["utm_*", "fb"], "methods": ["GET"], "enabled": true},
          "https://h.com/g": {"text": "\t", "status": 404, "use": "whenOffline", "mimeType": "a/b", "charset": "utf-8"}
        }
        """#,
        #"""
        {
          "https://h.com/p": [{"json": [1e5, null], "times": 2, "delay": 0.5, "when": {"query": {"a": null}}},
            {"error": "timedOut", "when": {"headers": {"A": "*"}, "json": {"a": {}}, "text": "*"}}, "a.txt"],
          "https://h.com/n/*": {"forwardTo": "http://[::1]:80/*?q=1", "setRequestHeaders": {"A": null}},
          "*://h.com/l/*": null
        }
        """#,
        #"""
        {
          "$defaults": {"bytesPerSecond": 1e3},
          "https://h.com/s": {"stream": ["a", {"json": [1], "delay": 0.5}, {"file": "a.txt"}, {"base64": "AA=="}, {"error": "timedOut"}]},
          "https://h.com/e": [{"file": "a.txt", "secondsPerEvent": 0, "times": 1}, {"text": "a\n", "secondsPerLine": 1}]
        }
        """#,
    ].map { Array($0.utf8) }

    @Test("Mutated maps load or throw, and never crash", arguments: [0xF022 as UInt64])
    func loading(seed: UInt64) throws {
        let folder = try TemporaryFolder(files: ["a.txt", "f/b.woff2"])
        for map in Self.valid { _ = try folder.map(String(decoding: map, as: UTF8.self)) }
        let resources = ResourcesFolder(folder.url)
        let url = try NormalizedURL("https://a.h.com/f/b.woff2?utm_a=1")
        var random = SeededGenerator(seed: seed)
        var loaded = 0
        for round in 0..<20_000 {
            let loader = MapLoader.load(
                json: mutated(Self.valid[round % Self.valid.count], &random),
                folder: resources,
                looksAtFiles: true
            )
            _ = loader.index.candidates(for: url)
            if !loader.problems.contains(where: \.isFatal) { loaded += 1 }
        }
        #expect(
            (2_000..<18_000).contains(loaded),
            "seed \(seed): the mutations are all too harmless or all too harmful"
        )
    }

    @Test(
        "The scanner accepts the same JSON as JSONSerialization, except for trailing commas",
        arguments: [0x15 as UInt64]
    )
    func scanning(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (valid, different) = (0, 0)
        for round in 0..<40_000 {
            let bytes = mutated(Self.valid[round % Self.valid.count], &random)
            let error: Complaint?
            do throws(Complaint) {
                _ = try JSONScanner(bytes).members()
                error = nil
            } catch let failure {
                error = failure
            }
            let isObject = (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            valid += isObject ? 1 : 0
            guard isObject != (error == nil) else { continue }
            different += 1
            if !isTrailingComma(error, bytes) {
                Issue.record(
                    "seed \(seed), round \(round), \(error?.description ?? "valid"): \(String(decoding: bytes, as: UTF8.self))"
                )
                return
            }
        }
        #expect((4_000..<36_000).contains(valid), "seed \(seed)")
        #expect(different < 2_000, "seed \(seed)")
    }

    /// Returns whether this is a comma before a closing bracket, which RFC 8259 forbids and JSONSerialization accepts.
    private func isTrailingComma(_ error: Complaint?, _ bytes: [UInt8]) -> Bool {
        guard let error, error.offset < bytes.count, bytes[error.offset] == UInt8(ascii: ",") else { return false }
        let next = bytes[(error.offset + 1)...].first { !" \t\r\n".utf8.contains($0) }
        return next.map { "]}".utf8.contains($0) } == true
    }

    /// Returns a valid map with one to three bytes flipped, removed, inserted or cut off.
    private func mutated(_ valid: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = valid
        for _ in 0...random.below(3) where !bytes.isEmpty {
            let place = random.below(bytes.count)
            switch random.below(16) {
            case 0: bytes.removeSubrange(place...)
            case 1..<4: bytes[place] ^= UInt8(1 << random.below(8))
            case 4..<7: bytes.remove(at: place)
            case 7..<9: bytes.removeSubrange(place..<min(place + random.below(40), bytes.count))
            case 9..<11:
                bytes.insert(contentsOf: valid[random.below(valid.count)...].prefix(20), at: place)
            case 11..<14: bytes.insert(random.pick(Array(#"{}[]",:\u*0-.e/ "#.utf8) + [0, 10, 0xFF, 0xC3]), at: place)
            default: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            }
        }
        return bytes
    }
}
