import Foundation
import LocalSubstitution
import MapWriting

/// What a recorder knows about its folder, and what it has yet to write there.
struct RecorderIndex: Sendable {
    /// The changes that aren't in the folder yet.
    struct Unsaved: Sendable {
        var isMap = false
        var isRecords = false
        /// Files that no entry names any more. They're removed when the map on disk doesn't name them either.
        var removed: Set<String> = []

        var isEmpty: Bool { !isMap && !isRecords && removed.isEmpty }

        mutating func formUnion(_ other: Self) {
            isMap = isMap || other.isMap
            isRecords = isRecords || other.isRecords
            removed.formUnion(other.removed)
        }
    }

    /// The responses by canonical URL.
    private(set) var responses: [String: RecordedResponse]
    private(set) var foreign: ForeignEntries
    /// The total size of all recorded files, in bytes.
    private(set) var bytes: Int
    var unsaved: Unsaved

    private var lastStamp: Int
    private var ages: NamesByAge

    /// - Parameter responses: The responses in the folder, with their stamps.
    init(_ responses: [String: RecordedResponse], _ foreign: ForeignEntries, unsaved: Unsaved) {
        self.responses = responses
        self.foreign = foreign
        self.unsaved = unsaved
        bytes = responses.values.reduce(0) { $0 + $1.bytes }
        let items = responses.map { (name: $0.key, stamp: $0.value.stamp) }
            .sorted { ($0.stamp, $0.name) < ($1.stamp, $1.name) }
        ages = NamesByAge(items)
        // From here on, stamps increase.
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

    /// Notes that the server still has what is recorded for a URL.
    mutating func confirm(_ url: String) {
        if responses[url] != nil { stamp(url) }
    }

    mutating func drop(_ url: String) {
        guard let old = responses.removeValue(forKey: url) else { return }
        bytes -= old.bytes
        unsaved.formUnion(Unsaved(isMap: true, isRecords: true, removed: [old.file]))
    }

    /// Drops the oldest responses until the rest fit.
    ///
    /// - Parameter sparesNewest: Whether the newest response stays even if it doesn't fit by itself.
    mutating func trim(to limit: Int, sparesNewest: Bool) {
        while bytes > limit, responses.count > (sparesNewest ? 1 : 0),
            let oldest = ages.popFirst(where: { responses[$0]?.stamp == $1 })
        {
            drop(oldest)
        }
    }

    /// Adopts the entries of a map that was edited.
    ///
    /// - Parameter urls: The URLs whose responses aren't the recorder's any more. Their files are removed, unless an entry names
    ///   them.
    mutating func adopt(_ foreign: ForeignEntries, dropping urls: some Sequence<String>) {
        self.foreign = foreign
        for url in urls { drop(url) }
        // The map is written again, with the changes of both sides.
        unsaved.formUnion(Unsaved(isMap: true, isRecords: true))
    }

    /// Stamps a response with the current time. A clock that is wrong or stands still must not mix up the order.
    private mutating func stamp(_ url: String) {
        lastStamp = max(lastStamp + 1, Self.now)
        responses[url]?.stamp = lastStamp
        ages.append(url, stamp: lastStamp, of: responses.count) { responses[$0]?.stamp == $1 }
        unsaved.isRecords = true
    }

    /// The current time in milliseconds since 1970.
    static var now: Int { Int(FileStatus.now / 1_000_000) }
}
