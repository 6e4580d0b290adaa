public import Foundation

extension LocalSubstitutionCache {
    /// Something that a cache did, for logs and for finding mistakes in a map.
    public enum Event: Sendable, CustomStringConvertible {
        /// A request was answered from a file, or by an entry with a status alone.
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
            case .mapReloaded(let entries):
                "map reloaded: \(entries) entries"
            case .mapNotReloaded(let error):
                "map not reloaded, the last good one stays in place:\n\(error)"
            }
        }
    }
}
