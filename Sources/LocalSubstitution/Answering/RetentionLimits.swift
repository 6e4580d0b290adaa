/// Decides which responses and files stay retained, and drops some when there are too many.
///
/// Patterns, `ignoreQuery` entries and alternative spellings match any number of URLs. Only the newest responses to such “endless”
/// URLs stay. All responses made from a file share its bytes. The bytes of all files have a limit, which mapped files don't count
/// toward. Dropping a file drops its responses.
struct RetentionLimits: Sendable {
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
        /// The URLs of the responses made from the file.
        var urls: Set<String> = []
    }

    let endlessLimit: Int
    let heapLimit: Int
    /// The heap memory of the retained files, in bytes.
    private(set) var heapBytes = 0

    private var records: [String: Record] = [:]
    private var files: [String: RetainedFile] = [:]
    private var ordinals = 0
    private var endlessCount = 0
    private var endlessOrder = NamesByAge()
    private var fileOrder = NamesByAge()

    init(endlessLimit: Int = 1_024, heapLimit: Int = 256 << 20) {
        self.endlessLimit = endlessLimit
        self.heapLimit = heapLimit
    }

    var count: Int { records.count }
    /// The number of names in both orders, including those of removed items.
    var noted: Int { endlessOrder.count + fileOrder.count }

    func record(for url: String) -> Record? { records[url] }

    /// Returns a file's held bytes.
    func file(at path: String) -> FileBytes? { files[path]?.bytes }

    // MARK: Files

    /// Holds a file's bytes in place of an older version. Returns the URLs of the responses that were dropped.
    mutating func hold(_ file: FileBytes, at path: String) -> [String] {
        guard files[path]?.bytes !== file else { return [] }
        var gone = drop(path)
        ordinals += 1
        files[path] = RetainedFile(bytes: file, ordinal: ordinals)
        heapBytes += file.heapBytes
        if file.heapBytes > 0 {
            fileOrder.append(path, stamp: ordinals, of: files.count) { files[$0]?.ordinal == $1 }
        }
        while heapBytes > heapLimit, let oldest = fileOrder.popFirst(where: { files[$0]?.ordinal == $1 }) {
            gone += drop(oldest)
        }
        return gone
    }

    /// Drops a file and the responses made from it. Returns the responses' URLs.
    mutating func drop(_ path: String) -> [String] {
        guard let file = files[path] else { return [] }
        file.urls.forEach { remove($0) }
        if files.removeValue(forKey: path) != nil { heapBytes -= file.bytes.heapBytes }
        return Array(file.urls)
    }

    // MARK: Responses

    /// Adds a response. Returns the URLs of the responses that were dropped to make room.
    ///
    /// If the response's file isn't held, for example because it's too large, this adds nothing and returns the response's own URL.
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
        endlessOrder.append(url, stamp: ordinals, of: endlessCount) { records[$0]?.ordinal == $1 }
        guard endlessCount > endlessLimit, let oldest = endlessOrder.popFirst(where: { records[$0]?.ordinal == $1 })
        else { return [] }
        remove(oldest)
        return [oldest]
    }

    /// Drops a response. Also drops its file if no other response is made from it.
    mutating func remove(_ url: String) {
        remove(url, keepingFile: false)
    }

    mutating func removeAll() {
        self = RetentionLimits(endlessLimit: endlessLimit, heapLimit: heapLimit)
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
