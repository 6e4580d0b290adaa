import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The layers of a test's map", .values)
struct MapLayersTests {
    private static let url = "https://h/a"

    /// Returns layers in which each map has the given entry for the URL; `nil` for a layer that isn't there.
    private static func layers(_ added: String?, _ map: String?, _ recording: String?) throws -> MapLayers {
        func loaded(_ entry: String) throws -> SubstitutionMap {
            try SubstitutionMap(json: Data("{ \"\(url)\": \(entry) }".utf8), handlers: .any)
        }
        var layers = MapLayers(try map.map(loaded) ?? .empty)
        if let added { layers.add(try loaded(added)) }
        layers.recording = try recording.map { MapLayer(try loaded($0), name: "T/t.json") }
        return layers
    }

    private static func plan(
        _ url: String = url,
        in layers: MapLayers,
        isRecorded: Bool = false,
        unmatched: LocalSubstitutionCache.Unmatched = .fail
    ) throws -> Plan {
        let listener = SessionRules.Listener(start: { _ in { _ in } }, isRecorded: isRecorded)
        let rules = try SessionRules(unmatched, listener: listener)
        return Plan(try request(url), rules: rules, in: layers, traits: .current)
    }

    @Test("Only if no layer has an entry is the map said to have none")
    func noEntries() throws {
        let entry = #"{ "status": 201 }"#
        for (added, map, recording) in [(entry, nil, nil), (nil, entry, nil), (nil, nil, entry)]
            as [(String?, String?, String?)]
        {
            let plan = try Self.plan("https://other/a", in: Self.layers(added, map, recording))
            #expect(plan.reason == "no entry matches it")
        }
        #expect(try Self.plan(in: Self.layers(nil, nil, nil)).reason == "the map has no entries")
    }

    @Test(
        "The first layer with an entry that responds wins, and a skipped entry leaves the request to the next",
        arguments: [
            (#"{ "status": 201 }"#, #"{ "status": 202 }"#, #"{ "status": 203 }"#, 201),
            (nil, #"{ "status": 202 }"#, #"{ "status": 203 }"#, 202), (nil, nil, #"{ "status": 203 }"#, 203),
            (#"{ "status": 201 }"#, nil, #"{ "status": 203 }"#, 201),
            (nil, #"{ "status": 202, "enabled": false }"#, #"{ "status": 203 }"#, 203),
            (nil, #"{ "status": 202, "methods": ["POST"] }"#, #"{ "status": 203 }"#, 203),
            (nil, #"[{ "status": 202, "when": { "headers": { "X": "1" } } }]"#, #"{ "status": 203 }"#, 203),
            (#"{ "setRequestHeaders": { "X": "1" } }"#, #"{ "status": 202 }"#, #"{ "status": 203 }"#, 202),
            (
                #"{ "setRequestHeaders": { "X": "1" } }"#,
                #"[{ "status": 202, "when": { "headers": { "X": "1" } } }]"#, nil, 202
            ),
            (nil, #"{ "status": 202, "use": "whenOffline" }"#, #"{ "status": 203 }"#, 202),
            (nil, "null", #"{ "status": 203 }"#, nil), ("null", #"{ "status": 202 }"#, nil, nil),
        ] as [(String?, String?, String?, Int?)]
    )
    func order(_ added: String?, _ map: String?, _ recording: String?, _ status: Int?) throws {
        let plan = try Self.plan(in: Self.layers(added, map, recording))
        #expect(plan.match?.substitution?.status == status)
        switch plan.action {
        case .answer(let substitution): #expect(substitution.status == status)
        case .refuse: #expect(status == nil)
        default: Issue.record("\(plan.action)")
        }
    }

    @Test(
        "An entry that fails, forwards or calls code responds",
        arguments: [
            #"{ "error": "timedOut" }"#, #"{ "forwardTo": "https://k/" }"#, #"{ "handler": "h" }"#,
            #"{ "setRequestHeaders": { "X": "1" }, "headers": { "Y": "1" } }"#,
        ]
    )
    func responds(_ entry: String) throws {
        let layers = try Self.layers(nil, entry, #"{ "status": 203 }"#)
        let plan = try Self.plan(in: layers, isRecorded: true, unmatched: .load)
        switch plan.action {
        case .fail, .forward, .call: break
        default: Issue.record("\(plan.action)")
        }
        #expect(!plan.isRecorded)
        #expect(plan.substitution?.status != 203)
    }

    @Test(
        "Headers of $defaults don't keep an entry that only changes the request from leaving it to the next layer",
        arguments: [
            (#"{ "setRequestHeaders": { "X": "1" } }"#, true), (#"[{ "setRequestHeaders": { "X": "1" } }]"#, true),
            (#"{ "setRequestHeaders": { "X": "1" }, "headers": { "Z": "1" } }"#, false),
            (
                #"{ "headers": { "Z": "1" }, "alternatives": [{ "setRequestHeaders": { "X": "1" } }] }"#, false
            ),
        ]
    )
    func defaults(_ entry: String, onlyChangesRequest: Bool) throws {
        let json = "{ \"$defaults\": { \"headers\": { \"Y\": \"1\" } }, \"\(Self.url)\": \(entry) }"
        var layers = try Self.layers(nil, nil, #"{ "status": 203 }"#)
        layers.map = MapLayer(try SubstitutionMap(json: Data(json.utf8)))
        #expect((try Self.plan(in: layers).substitution?.status == 203) == onlyChangesRequest)
        layers.recording = nil
        #expect(try Self.plan(in: layers, isRecorded: true).isRecorded == onlyChangesRequest)
    }

    @Test(
        "A recording gets what nothing responds to, but neither allowed URLs nor null entries' requests",
        arguments: [
            (nil, .fail, true), (#"{ "setRequestHeaders": { "X": "1" } }"#, .fail, true),
            (#"{ "status": 202, "methods": ["POST"] }"#, .fail, true), ("null", .fail, false),
            (#"{ "setRequestHeaders": { "X": "1" }, "headers": { "Y": "1" } }"#, .fail, false),
            (nil, .load, true), ("null", .load, false), (nil, .fail(allowing: ["https://h/*"]), false),
        ] as [(String?, LocalSubstitutionCache.Unmatched, Bool)]
    )
    func recorded(_ map: String?, _ unmatched: LocalSubstitutionCache.Unmatched, _ isRecorded: Bool) throws {
        let layers = try Self.layers(nil, map, nil)
        let plan = try Self.plan(in: layers, isRecorded: true, unmatched: unmatched)
        #expect(plan.isRecorded == isRecorded)
        if case .refuse = plan.action {
            #expect(!isRecorded && unmatched == .fail)
        } else {
            #expect(isRecorded || unmatched != .fail)
        }
        // Without a recording, a strict session loads none of them but the allowed URLs.
        let usual = try Self.plan(in: layers, unmatched: unmatched)
        #expect(!usual.isRecorded)
        if case .refuse = usual.action { #expect(unmatched == .fail) } else { #expect(unmatched != .fail) }
    }

    @Test("An entry that only changes headers changes the request, and counts for its times")
    func headers() throws {
        let layers = try Self.layers(
            nil,
            #"[{ "setRequestHeaders": { "X": "1" }, "times": 1 }]"#,
            #"[{ "status": 201, "when": { "headers": { "X": "1" } } }, { "status": 202 }]"#
        )
        for (status, value) in [(201, "1"), (202, nil)] as [(Int, String?)] {
            let plan = try Self.plan(in: layers)
            #expect(plan.count())
            plan.use()
            #expect(plan.substitution?.status == status)
            #expect(plan.request.value(forHTTPHeaderField: "X") == value)
        }
        #expect(layers.entries(used: false).isEmpty)
    }

    @Test("What was counted in several layers can be taken back")
    func counts() throws {
        let layers = try Self.layers(
            nil,
            #"[{ "setRequestHeaders": { "X": "1" }, "times": 1 }]"#,
            #"[{ "status": 201, "times": 1 }, { "status": 202 }]"#
        )
        let first = try Self.plan(in: layers)
        let second = try Self.plan(in: layers)
        #expect(first.count())
        #expect(!second.count())
        first.uncount()
        #expect(second.count())
    }

    @Test("Two caches that share a recording go on with its sequence")
    func shared() throws {
        let recording = try Self.layers(nil, nil, #"[{ "status": 201, "times": 1 }, { "status": 202 }]"#).recording
        let statuses = try (0..<3).map { _ in
            var layers = MapLayers(.empty)
            layers.recording = recording
            let plan = try Self.plan(in: layers)
            #expect(plan.count())
            return plan.substitution?.status
        }
        #expect(statuses == [201, 202, 202])
    }

    @Test("Responses of several layers under one URL aren't taken for each other")
    func inMemory() throws {
        let layers = try Self.layers(
            nil,
            #"[{ "text": "map", "times": 1 }]"#,
            #"[{ "text": "recording", "times": 1 }, { "text": "last" }]"#
        )
        let cache = LocalSubstitutionCache(map: layers.map.map, memoryCapacity: 0, diskCapacity: 0)
        cache.change { $0.recording = layers.recording }
        let responder = cache.responder
        let bodies = try (0..<3).map { _ in
            let plan = responder.lookUp(try request(Self.url))
            #expect(plan.count())
            return try responder.response(to: plan, by: try #require(plan.substitution))
                .map { String(decoding: $0.data, as: UTF8.self) }
        }
        #expect(bodies == ["map", "recording", "last"])
    }

    @Test("Explanations and near misses name each layer's file, and unused entries are of all layers")
    func explained() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "shop.json",
            #"{ "https://h/a": { "status": 201, "methods": ["PUT"] }, "https://h/bb/long": { "status": 202 } }"#
        )
        let recorded = #"{ "https://h/a": { "status": 203 }, "https://h/bb/lonh": { "status": 204 } }"#
        let cache = LocalSubstitutionCache(
            map: try SubstitutionMap(contentsOf: file),
            memoryCapacity: 0,
            diskCapacity: 0
        )
        #expect(cache.unusedEntries.map(\.description) == ["“https://h/a”, line 1", "“https://h/bb/long”, line 1"])
        let recording = MapLayer(try SubstitutionMap(json: Data(recorded.utf8)), name: "T/t.json")
        cache.change { $0.recording = recording }
        let explanation = cache.explain(try request("https://h/a"))
        #expect(explanation.winner?.description == "“https://h/a”, line 1 of “T/t.json”")
        #expect(explanation.skipped.map(\.entry.description) == ["“https://h/a”, line 1 of “shop.json”"])
        let misses = cache.explain(try request("https://h/bb/lonx")).nearMisses.map(\.description)
        #expect(misses.contains { $0.hasPrefix("In “shop.json”, “https://h/bb/long”") }, "\(misses)")
        #expect(misses.contains { $0.hasPrefix("In “T/t.json”, “https://h/bb/lonh”") }, "\(misses)")
        #expect(cache.unusedEntries.count == 4)
        #expect(cache.unusedEntries.last?.description == "“https://h/bb/lonh”, line 1 of “T/t.json”")
    }

    @Test("Setting the map replaces only the middle layer")
    func set() throws {
        let layers = try Self.layers(nil, nil, #"{ "status": 203 }"#)
        let cache = LocalSubstitutionCache(map: .empty, memoryCapacity: 0, diskCapacity: 0)
        cache.change { $0.recording = layers.recording }
        #expect(cache.explain(try request(Self.url)).status == 203)
        cache.map = try Self.layers(nil, #"{ "status": 202 }"#, nil).map.map
        #expect(cache.explain(try request(Self.url)).status == 202)
        #expect(
            cache.explain(try request(Self.url)).shadowed.map(\.description) == ["“https://h/a”, line 1 of “T/t.json”"]
        )
        cache.map = .empty
        #expect(cache.explain(try request(Self.url)).status == 203)
    }
}
