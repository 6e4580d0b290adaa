import HTTPSyntax

/// The maps in which a cache's requests are looked up. Most caches have only one. A test also has the entries that it
/// has added, which come first, and its recording, which comes last.
///
/// The first map with an entry that responds decides. The next map is asked if an entry is skipped, or if it only
/// changes the request's headers.
package struct MapLayers: Sendable {
    /// The entries that a test has added: a map for each call, the latest call's first.
    private(set) var added: [MapLayer] = []
    /// The cache's own map.
    package var map: MapLayer
    /// A test's recording; `nil` if there's none.
    package var recording: MapLayer?

    init(_ map: SubstitutionMap) { self.map = MapLayer(map) }

    /// Adds entries of a test, which are asked before all others.
    package mutating func add(_ map: SubstitutionMap) { added.insert(MapLayer(map), at: 0) }

    package var hasSeveral: Bool { !added.isEmpty || recording != nil }

    /// The layers in the order in which they're asked.
    var all: [MapLayer] { added + [map] + [recording].compactMap { $0 } }

    func contains(_ layer: MapLayer) -> Bool { layer === map || all.contains { $0 === layer } }

    /// Returns the layers after one: those that a handler of the layer asks before it asks the server.
    func below(_ layer: MapLayer) -> MapLayers {
        var below = MapLayers(.empty)
        if let place = added.firstIndex(where: { $0 === layer }) {
            below.added = Array(added[(place + 1)...])
            below.map = map
        }
        if recording !== layer { below.recording = recording }
        return below
    }

    /// Finds the entry that responds to a request. If none does, returns the match of an entry that only changes the
    /// request's headers, or else the last layer's match.
    func match(_ url: NormalizedURL, for facts: RequestFacts) -> MapMatch {
        guard hasSeveral else { return map.match(url, for: facts) }
        var facts = facts
        var (last, passing): (MapMatch?, MapMatch?)
        for layer in all {
            let match = layer.match(url, for: facts, after: last)
            last = match
            guard match.winner != nil else { continue }
            guard match.onlyChangesRequest, let substitution = match.substitution else { return match }
            passing = match
            facts = facts.changed(by: substitution)
        }
        return passing ?? last ?? map.match(url, for: facts)
    }

    // MARK: What explanations say

    /// Returns a reference to an entry, which names the map's file if there are several maps.
    func reference(to entry: Entry, in layer: MapLayer) -> SubstitutionMap.EntryReference {
        SubstitutionMap.EntryReference(entry, inFile: hasSeveral ? layer.name : nil)
    }

    /// Returns references to the entries of all maps that have responded, or to those that haven't. Each names its map's
    /// file, even if there's only one map.
    package func entries(used isUsed: Bool) -> [SubstitutionMap.EntryReference] {
        all.flatMap { layer in
            layer.entries(used: isUsed).map { SubstitutionMap.EntryReference($0, inFile: layer.name) }
        }
    }

    /// References to the entries of all maps that haven't responded.
    var unusedEntries: [SubstitutionMap.EntryReference] {
        let unused = entries(used: false)
        return hasSeveral ? unused : unused.map(\.withoutFile)
    }

    /// Returns references to the entries that also match a URL, but come after the winner.
    func shadowed(by match: MapMatch) -> [SubstitutionMap.EntryReference] {
        let own = match.shadowed.map { reference(to: $0, in: match.layer) }
        guard hasSeveral, match.winner != nil, !match.onlyChangesRequest else { return own }
        let later = all.drop { $0 !== match.layer }.dropFirst()
        return own
            + later.flatMap { layer in
                layer.map.entries(matching: match.url).map { reference(to: $0, in: layer) }
            }
    }

    /// Returns a near miss that names its map's file if there are several maps.
    func named(_ miss: SubstitutionMap.NearMiss, in layer: MapLayer) -> SubstitutionMap.NearMiss {
        hasSeveral ? SubstitutionMap.NearMiss(miss, inFile: layer.name) : miss
    }

    /// Returns the keys that almost match a URL. If there are several maps, each names its file.
    func nearMisses(of url: NormalizedURL) -> [SubstitutionMap.NearMiss] {
        guard hasSeveral else { return map.map.storage.nearMisses(of: url) }
        let found = all.flatMap { layer in
            layer.map.storage.nearMisses(of: url).map { named($0, in: layer) }
        }
        return Array(found.ordered { $0.differences.count < $1.differences.count }.prefix(NearMisses.most))
    }
}

extension RequestFacts {
    /// Returns the facts for the next map, with the request headers that an entry sets or removes.
    fileprivate func changed(by substitution: Substitution) -> RequestFacts {
        var headers = headers
        for (name, value) in substitution.options.fields.requestHeaders { headers[header: name] = value }
        return RequestFacts(method: method, headers: headers, body: body)
    }
}
