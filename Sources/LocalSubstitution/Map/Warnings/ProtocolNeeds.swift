/// What an entry says that a cache alone can't do.
struct ProtocolNeeds {
    private let entry: Entry

    init(_ entry: Entry) { self.entry = entry }

    static let otherwise = "unless the cache is attached to the session, the default cache and the network answer"

    var warning: SubstitutionMap.Warning? {
        if entry.options.use == .whenOffline {
            return .init(.needsProtocol, entry, "it waits for the network to fail: \(Self.otherwise)")
        }
        let fields = EntryOptions.protocolFieldNames.filter { name in
            entry.answering.contains { $0.options.protocolFields.contains(name) }
        }
        .map { "“\($0)”" }
        guard let last = fields.last else { return nil }
        let names = fields.count == 1 ? last : fields.dropLast().joined(separator: ", ") + " and " + last
        return .init(
            .needsProtocol,
            entry,
            "\(names) \(fields.count == 1 ? "needs" : "need") an attached session: in others, the default cache and the network answer"
        )
    }
}
