import Foundation

/// What a recorder knows of its folder, and what it has yet to write there.
struct RecorderIndex: Sendable {
    /// What the folder doesn't have yet.
    struct Unsaved: Sendable {
        var isMap = false
        var isRecords = false
        /// Files that no entry names any more, to be removed once the map on disk doesn't name them.
        var removed: Set<String> = []

        var isEmpty: Bool { !isMap && !isRecords && removed.isEmpty }

        mutating func formUnion(_ other: Self) {
            isMap = isMap || other.isMap
            isRecords = isRecords || other.isRecords
            removed.formUnion(other.removed)
        }
    }

    /// By canonical URL.
    private(set) var responses: [String: RecordedResponse]
    private(set) var foreign: ForeignEntries
    /// The bytes of all recorded files.
    private(set) var bytes: Int
    var unsaved: Unsaved

    private var lastStamp: Int
    private var ages: NamesByAge

    /// - Parameter responses: Those that the folder has, with their stamps.
    init(_ responses: [String: RecordedResponse], _ foreign: ForeignEntries, unsaved: Unsaved) {
        self.responses = responses
        self.foreign = foreign
        self.unsaved = unsaved
        bytes = responses.values.reduce(0) { $0 + $1.bytes }
        let items = responses.map { (name: $0.key, stamp: $0.value.stamp) }
            .sorted { ($0.stamp, $0.name) < ($1.stamp, $1.name) }
        ages = NamesByAge(items)
        // From here on stamps increase.
        lastStamp = min(items.last?.stamp ?? 0, Self.now)
    }

    mutating func put(_ response: RecordedResponse, for url: String) {
        let old = responses[url]
        if let old, old.file != response.file { unsaved.removed.insert(old.file) }
        bytes += response.bytes - (old?.bytes ?? 0)
        responses[url] = response
        stamp(url)
        if old?.text != response.text { unsaved.isMap = true }
    }

    /// Notes that the server still has what is recorded.
    mutating func confirm(_ url: String) {
        if responses[url] != nil { stamp(url) }
    }

    mutating func drop(_ url: String) {
        guard let old = responses.removeValue(forKey: url) else { return }
        bytes -= old.bytes
        unsaved.formUnion(Unsaved(isMap: true, isRecords: true, removed: [old.file]))
    }

    /// Drops the oldest responses until the others fit.
    ///
    /// - Parameter sparesNewest: Whether one stays that doesn't fit by itself.
    mutating func trim(to limit: Int, sparesNewest: Bool) {
        while bytes > limit, responses.count > (sparesNewest ? 1 : 0),
            let oldest = ages.popFirst(where: { responses[$0]?.stamp == $1 })
        {
            drop(oldest)
        }
    }

    /// Takes over the entries of a map that was edited.
    ///
    /// - Parameter urls: Those whose responses aren't the recorder's any more. Their files go, unless an entry names them.
    mutating func adopt(_ foreign: ForeignEntries, dropping urls: some Sequence<String>) {
        self.foreign = foreign
        for url in urls { drop(url) }
        // The map is written, with what is new on both sides.
        unsaved.formUnion(Unsaved(isMap: true, isRecords: true))
    }

    /// A wrong clock, or one that stands still, must not mix up the order.
    private mutating func stamp(_ url: String) {
        lastStamp = max(lastStamp + 1, Self.now)
        responses[url]?.stamp = lastStamp
        ages.append(url, stamp: lastStamp, of: responses.count) { responses[$0]?.stamp == $1 }
        unsaved.isRecords = true
    }

    /// In milliseconds since 1970.
    static var now: Int { Int(FileStatus.now / 1_000_000) }
}
