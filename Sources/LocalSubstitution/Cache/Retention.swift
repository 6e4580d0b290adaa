/// Which responses are retained, in which order they were built, and which go when there are too many.
///
/// A plain value. Responses of patterns, of `ignoreQuery` entries and of other spellings of a URL are endless, so only the
/// newest of them stay; and the files read for all responses stay within a bound, where mapped files count nothing.
struct Retention: Sendable {
    struct Record: Sendable {
        let key: String
        let file: FileBytes?
        let path: String?
        fileprivate let ordinal: Int
        fileprivate let isEndless: Bool
    }

    private struct SharedFile {
        let bytes: FileBytes
        var uses = 0
    }

    let endlessLimit: Int
    let heapLimit: Int
    /// The bytes of the files in memory that retained responses share.
    private(set) var heapBytes = 0

    private var records: [String: Record] = [:]
    private var files: [String: SharedFile] = [:]
    private var ordinals = 0
    private var endlessCount = 0
    private var endlessOrder = BuildOrder()
    private var heapOrder = BuildOrder()

    init(endlessLimit: Int = 1_024, heapLimit: Int = 256 << 20) {
        self.endlessLimit = endlessLimit
        self.heapLimit = heapLimit
    }

    var count: Int { records.count }

    func record(for url: String) -> Record? { records[url] }

    /// The bytes that are held of a file.
    func file(at path: String) -> FileBytes? { files[path]?.bytes }

    /// Notes a response that was built; gives the URLs of those that go instead, its own perhaps among them.
    mutating func insert(
        _ url: String,
        key: String,
        file: FileBytes?,
        path: String?,
        isEndless: Bool
    ) -> [String] {
        remove(url)
        ordinals += 1
        let record = Record(key: key, file: file, path: path, ordinal: ordinals, isEndless: isEndless)
        records[url] = record
        if isEndless {
            endlessCount += 1
            endlessOrder.append(url, ordinal: ordinals)
        }
        if let file, let path { use(file, at: path, by: url) }

        var gone: [String] = []
        while endlessCount > endlessLimit, let oldest = oldest(in: \.endlessOrder) {
            remove(oldest)
            gone.append(oldest)
        }
        while heapBytes > heapLimit, let oldest = oldest(in: \.heapOrder) {
            remove(oldest)
            gone.append(oldest)
        }
        return gone
    }

    mutating func remove(_ url: String) {
        guard let record = records.removeValue(forKey: url) else { return }
        if record.isEndless { endlessCount -= 1 }
        guard let path = record.path, var shared = files[path], shared.bytes === record.file else { return }
        shared.uses -= 1
        files[path] = shared
        if shared.uses == 0 { drop(path) }
    }

    mutating func removeAll() {
        self = Retention(endlessLimit: endlessLimit, heapLimit: heapLimit)
    }

    private mutating func use(_ file: FileBytes, at path: String, by url: String) {
        if let old = files[path], old.bytes !== file {
            // A newer version of the file. What was built of the old one is not served any more.
            drop(path)
        }
        if files[path] == nil {
            files[path] = SharedFile(bytes: file)
            heapBytes += file.heapBytes
        }
        files[path]?.uses += 1
        if file.heapBytes > 0 { heapOrder.append(url, ordinal: ordinals) }
    }

    private mutating func drop(_ path: String) {
        guard let shared = files.removeValue(forKey: path) else { return }
        heapBytes -= shared.bytes.heapBytes
    }

    private mutating func oldest(in order: WritableKeyPath<Retention, BuildOrder>) -> String? {
        while let (url, ordinal) = self[keyPath: order].popFirst() {
            if records[url]?.ordinal == ordinal { return url }
        }
        return nil
    }
}

/// URLs in the order in which their responses were built. Those removed since are left in it, and told by their ordinals.
private struct BuildOrder: Sendable {
    private var items: [(url: String, ordinal: Int)] = []
    private var first = 0

    mutating func append(_ url: String, ordinal: Int) {
        items.append((url, ordinal))
    }

    mutating func popFirst() -> (url: String, ordinal: Int)? {
        guard first < items.count else { return nil }
        defer {
            first += 1
            if first > 64, first * 2 > items.count {
                items.removeFirst(first)
                first = 0
            }
        }
        return items[first]
    }
}
