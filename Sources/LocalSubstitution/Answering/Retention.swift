/// Which responses and files are retained, and which go when there are too many.
///
/// A plain value. Responses of patterns, of `ignoreQuery` entries and of other spellings of a URL are endless, so only the
/// newest of them stay. All responses made of a file share its bytes, and the bytes of all files stay within a bound, where
/// mapped files count nothing; a file that goes takes its responses along.
struct Retention: Sendable {
    struct Record: Sendable {
        /// Where the file is held; `nil` for an entry without a file.
        let path: String?
        let file: FileBytes?
        fileprivate let ordinal: Int
        fileprivate let isEndless: Bool
    }

    private struct RetainedFile {
        let bytes: FileBytes
        let ordinal: Int
        /// The responses that are made of it.
        var urls: Set<String> = []
    }

    let endlessLimit: Int
    let heapLimit: Int
    /// What the files that are retained take of the process's own memory.
    private(set) var heapBytes = 0

    private var records: [String: Record] = [:]
    private var files: [String: RetainedFile] = [:]
    private var ordinals = 0
    private var endlessCount = 0
    private var endlessOrder = BuildOrder()
    private var fileOrder = BuildOrder()

    init(endlessLimit: Int = 1_024, heapLimit: Int = 256 << 20) {
        self.endlessLimit = endlessLimit
        self.heapLimit = heapLimit
    }

    var count: Int { records.count }
    /// How much is noted to know what was built first.
    var noted: Int { endlessOrder.count + fileOrder.count }

    func record(for url: String) -> Record? { records[url] }

    /// The bytes that are held of a file.
    func file(at path: String) -> FileBytes? { files[path]?.bytes }

    // MARK: Files

    /// Holds what was read of a file, in place of an older version; gives the URLs of the responses that go.
    mutating func hold(_ file: FileBytes, at path: String) -> [String] {
        guard files[path]?.bytes !== file else { return [] }
        var gone = drop(path)
        ordinals += 1
        files[path] = RetainedFile(bytes: file, ordinal: ordinals)
        heapBytes += file.heapBytes
        if file.heapBytes > 0 {
            fileOrder.append(path, ordinal: ordinals, of: files.count) { files[$0]?.ordinal == $1 }
        }
        while heapBytes > heapLimit, let oldest = fileOrder.popFirst(where: { files[$0]?.ordinal == $1 }) {
            gone += drop(oldest)
        }
        return gone
    }

    /// Lets go of a file and of the responses that are made of it; gives their URLs.
    mutating func drop(_ path: String) -> [String] {
        guard let file = files[path] else { return [] }
        file.urls.forEach { remove($0) }
        if files.removeValue(forKey: path) != nil { heapBytes -= file.bytes.heapBytes }
        return Array(file.urls)
    }

    // MARK: Responses

    /// Notes a response that was built; gives the URLs of those that go instead.
    ///
    /// Does nothing, and gives the response's own URL, where its file is not held: because it is too large, say.
    mutating func insert(_ url: String, path: String?, file: FileBytes?, isEndless: Bool) -> [String] {
        remove(url, keepingFile: true)
        if let path {
            guard files[path]?.bytes === file else { return [url] }
            files[path]?.urls.insert(url)
        }
        ordinals += 1
        records[url] = Record(path: path, file: file, ordinal: ordinals, isEndless: isEndless)
        guard isEndless else { return [] }
        endlessCount += 1
        endlessOrder.append(url, ordinal: ordinals, of: endlessCount) { records[$0]?.ordinal == $1 }
        guard endlessCount > endlessLimit, let oldest = endlessOrder.popFirst(where: { records[$0]?.ordinal == $1 })
        else { return [] }
        remove(oldest)
        return [oldest]
    }

    /// Lets go of a response, and of its file if it was the last one made of it.
    mutating func remove(_ url: String) {
        remove(url, keepingFile: false)
    }

    mutating func removeAll() {
        self = Retention(endlessLimit: endlessLimit, heapLimit: heapLimit)
    }

    private mutating func remove(_ url: String, keepingFile: Bool) {
        guard let record = records.removeValue(forKey: url) else { return }
        if record.isEndless { endlessCount -= 1 }
        guard let path = record.path, files[path]?.urls.remove(url) != nil else { return }
        guard !keepingFile, files[path]?.urls.isEmpty == true, let last = files.removeValue(forKey: path) else {
            return
        }
        heapBytes -= last.bytes.heapBytes
    }
}

/// Names in the order in which what they stand for was built. Those removed since are told by their ordinals; they are left
/// in it until they are the most of it.
private struct BuildOrder: Sendable {
    private var items: [(name: String, ordinal: Int)] = []
    private var first = 0

    /// - Parameter count: How many names still stand for something.
    mutating func append(_ name: String, ordinal: Int, of count: Int, where isCurrent: (String, Int) -> Bool) {
        items.append((name, ordinal))
        guard items.count - first > 2 * count + 64 else { return }
        items = items[first...].filter { isCurrent($0.name, $0.ordinal) }
        first = 0
    }

    /// How many names are in it, those removed since included.
    var count: Int { items.count }

    /// Takes names out until one is found that still stands for the same.
    mutating func popFirst(where isCurrent: (String, Int) -> Bool) -> String? {
        while first < items.count {
            let (name, ordinal) = items[first]
            first += 1
            if first > 64, first * 2 > items.count {
                items.removeFirst(first)
                first = 0
            }
            if isCurrent(name, ordinal) { return name }
        }
        return nil
    }
}
