/// The fields of an entry that a cache alone can't follow.
struct ProtocolNeeds {
    private let entry: Entry

    init(_ entry: Entry) { self.entry = entry }

    static let advice = "Attach the cache to the session. Otherwise, the default cache or the network answers."

    var warning: SubstitutionMap.Warning? {
        if entry.options.use == .whenOffline {
            return .init(.needsProtocol, entry, "The entry waits for the network to fail. \(Self.advice)")
        }
        let fields = EntryOptions.protocolFieldNames.filter { name in
            entry.answering.contains { $0.options.protocolFields.contains(name) }
        }
        .map { "“\($0)”" }
        guard !fields.isEmpty else { return nil }
        return .init(
            .needsProtocol,
            entry,
            "\(fields.listed()) \(fields.count == 1 ? "needs" : "need") an attached session. "
                + "In other sessions, the default cache or the network answers."
        )
    }
}
