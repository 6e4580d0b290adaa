import Foundation

/// What a recorder knows of the responses in its folder, and what it has yet to write there.
struct RecorderIndex: Sendable {
    /// By canonical URL.
    private(set) var kept: [String: KeptResponse] = [:]
    /// The bytes of all kept files.
    private(set) var bytes = 0
    /// Names that no new file may have. A name stays until nothing on disk says anything of its file.
    var names = NamesInUse()
    /// Bodies that are being written, by URL and digest.
    var inFlight: Set<String> = []
    /// Files that no entry names any more, to be removed once the map on disk names them no more.
    private(set) var removed: Set<String> = []
    /// Files that are whole, whose names the journal still has.
    private(set) var settled: Set<String> = []
    /// Counts changes of the map, and of anything.
    private(set) var changes = (map: 0, all: 0)

    private var lastStamp = 0
    /// Stamps and URLs, the oldest first; those that are no longer a response's stamp count for nothing.
    private var ages: [(stamp: Int, url: String)] = []
    private var firstAge = 0

    /// Adds a response that is in the folder already.
    mutating func load(_ response: KeptResponse, for url: String) {
        kept[url] = response
        bytes += response.bytes
    }

    /// Ends loading: from here on stamps increase.
    mutating func finishLoading(now: Int) {
        ages = kept.map { ($0.value.stamp, $0.key) }.sorted { ($0.stamp, $0.url) < ($1.stamp, $1.url) }
        lastStamp = min(ages.last?.stamp ?? 0, now)
    }

    mutating func put(_ response: KeptResponse, for url: String, now: Int) {
        let old = kept[url]
        if let old {
            bytes -= old.bytes
            if old.file != response.file { removed.insert(old.file) }
        }
        var response = response
        response.stamp = stamp(url, now)
        kept[url] = response
        bytes += response.bytes
        settled.insert(response.file)
        note(isInMap: old?.text != response.text)
    }

    mutating func confirm(_ url: String, now: Int) {
        guard kept[url] != nil else { return }
        let stamp = stamp(url, now)
        kept[url]?.stamp = stamp
        note(isInMap: false)
    }

    mutating func drop(_ url: String) {
        guard let old = kept.removeValue(forKey: url) else { return }
        bytes -= old.bytes
        removed.insert(old.file)
        note(isInMap: true)
    }

    /// Drops the oldest responses until the others fit, but never the one that was just kept.
    mutating func trim(to limit: Int, sparing url: String?) {
        while bytes > limit, firstAge < ages.count {
            let oldest = ages[firstAge]
            guard kept[oldest.url]?.stamp == oldest.stamp else {
                firstAge += 1
                continue
            }
            if oldest.url == url { return }
            firstAge += 1
            drop(oldest.url)
        }
    }

    /// Notes that something has to be written.
    mutating func note(isInMap: Bool) {
        changes.all += 1
        if isInMap { changes.map += 1 }
    }

    /// Notes that the folder is as it was when the files were listed.
    mutating func forget(removed gone: Set<String>, settled done: Set<String>) {
        removed.subtract(gone)
        settled.subtract(done)
        for name in gone { names.release(name) }
    }

    /// A wrong clock, and one that stands still, must not mix up the order.
    private mutating func stamp(_ url: String, _ now: Int) -> Int {
        lastStamp = max(lastStamp + 1, now)
        ages.append((lastStamp, url))
        if ages.count > 2 * kept.count + 64 {
            ages = ages[firstAge...].filter { kept[$0.url]?.stamp == $0.stamp || $0.stamp == lastStamp }
            firstAge = 0
        }
        return lastStamp
    }
}
