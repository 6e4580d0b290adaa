public import Foundation

extension LocalSubstitutionCache {
    /// Something that a cache did, for logs and for finding mistakes in a map.
    public enum Event: Sendable, CustomStringConvertible {
        /// A request was answered from a file, or by an entry with a status alone. Of an `untilUpdated` entry it may be a newer
        /// copy of the file that answered: after ``refreshed(_:key:bytes:)``, or one that an earlier process kept.
        case substituted(URL, key: String, file: URL?, bytes: Int)
        /// An entry names the URL, but did not answer the request. The reason is readable.
        case bypassed(URL, key: String, reason: String)
        /// The network answered a request for which something stood by: an entry's file, or a recorder's copy.
        case forwarded(URL, key: String)
        /// The network failed, so that what stood by answers. The reason is readable.
        case fellBack(URL, key: String, reason: String)
        /// A recorder has kept a response, new or changed.
        case recorded(URL, file: URL, bytes: Int)
        /// A recorder has not kept a response. The reason is readable.
        case notRecorded(URL, reason: String)
        /// No entry names the URL, and the default cache answered.
        case fallbackHit(URL)
        /// No entry names the URL, and the default cache did not answer. The near misses are keys that almost do.
        case missed(URL, nearMisses: [NearMiss])
        /// A file could not be read when it was asked for.
        case fault(URL, key: String, file: URL, reason: String)
        /// The network gave other bytes than the file of an `untilUpdated` entry has: this newer copy answers from now on.
        case refreshed(URL, key: String, bytes: Int)
        /// The network was asked for a newer copy, and has none.
        case upToDate(URL, key: String)
        /// The network was asked for a newer copy in vain: what has answered so far still does. The reason is readable.
        case refreshFailed(URL, key: String, reason: String)
        /// The map's file changed and was loaded again; it has so many entries.
        case mapReloaded(entries: Int)
        /// The map's file changed but has problems: the last good map stays in place.
        case mapNotReloaded(SubstitutionMapError)

        /// One line, but for a map with several problems.
        public var description: String {
            switch self {
            case .substituted(let url, let key, let file, let bytes):
                "substituted \(url.absoluteString) ← \(file?.path ?? "no file") (\(bytes) bytes; entry “\(key)”)"
                    .printable
            case .bypassed(let url, let key, let reason):
                "bypassed \(url.absoluteString): \(reason) (entry “\(key)”)".printable
            case .forwarded(let url, let key):
                "forwarded \(url.absoluteString): the network answered (entry “\(key)”)".printable
            case .fellBack(let url, let key, let reason):
                "fell back \(url.absoluteString): \(reason) (entry “\(key)”)".printable
            case .recorded(let url, let file, let bytes):
                "recorded \(url.absoluteString) → \(file.path) (\(bytes) bytes)".printable
            case .notRecorded(let url, let reason):
                "not recorded \(url.absoluteString): \(reason)".printable
            case .fallbackHit(let url):
                "default cache \(url.absoluteString)"
            case .missed(let url, let nearMisses):
                ("missed \(url.absoluteString)" + nearMisses.map { "; near miss: \($0)" }.joined()).printable
            case .fault(let url, let key, let file, let reason):
                "fault \(url.absoluteString): the file \(file.path) \(reason) (entry “\(key)”)".printable
            case .refreshed(let url, let key, let bytes):
                "refreshed \(url.absoluteString): a newer copy answers (\(bytes) bytes; entry “\(key)”)".printable
            case .upToDate(let url, let key):
                "up to date \(url.absoluteString): the network has no newer copy (entry “\(key)”)".printable
            case .refreshFailed(let url, let key, let reason):
                "not refreshed \(url.absoluteString): \(reason) (entry “\(key)”)".printable
            case .mapReloaded(let entries):
                "map reloaded: \(entries) entries"
            case .mapNotReloaded(let error):
                "map not reloaded, the last good one stays in place:\n\(error)"
            }
        }
    }
}
