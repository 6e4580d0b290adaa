public import Foundation

extension LocalSubstitutionCache {
    /// Something that a cache did. Use events for logs, and to find mistakes in a map: see
    /// ``LocalSubstitutionCache/events(bufferingNewest:)``.
    public struct Event: Sendable, CustomStringConvertible {
        /// What happened.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// Creates a kind with a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// An entry's response or error ended the request.
            ///
            /// In a session that doesn't use the network, a recording may have responded instead (see
            /// `SubstitutionRecorder`). For an `untilUpdated` entry, the response may be a refreshed file: one from an
            /// earlier ``refreshed`` event, or one that an earlier process stored.
            public static var matched: Kind { Kind(rawValue: "matched") }
            /// The network failed, so a `whenOffline` entry or a recording responded.
            public static var usedOffline: Kind { Kind(rawValue: "usedOffline") }
            /// The network responded to an intercepted request. For example, an entry forwards the request or waits for the
            /// network to fail, a recorder records it, or the session allows its URL.
            public static var forwarded: Kind { Kind(rawValue: "forwarded") }
            /// The network confirmed a recording with a 304, so the recording responded.
            public static var confirmed: Kind { Kind(rawValue: "confirmed") }
            /// The default cache responded, since no entry did.
            public static var defaultCacheHit: Kind { Kind(rawValue: "defaultCacheHit") }
            /// No entry matches the URL, and the default cache has nothing for it.
            public static var missed: Kind { Kind(rawValue: "missed") }
            /// An entry matches the URL, but didn't respond, and the default cache has nothing for the request.
            public static var bypassed: Kind { Kind(rawValue: "bypassed") }
            /// The request ended without a response: an entry's file couldn't be read, a handler's answer isn't
            /// allowed, the network failed, or the request timed out.
            public static var failed: Kind { Kind(rawValue: "failed") }
            /// The request was cancelled.
            public static var cancelled: Kind { Kind(rawValue: "cancelled") }
            /// A recorder recorded a response that is new or has changed.
            public static var recorded: Kind { Kind(rawValue: "recorded") }
            /// A recorder didn't record a response.
            public static var notRecorded: Kind { Kind(rawValue: "notRecorded") }
            /// An entry's file couldn't be read when a request needed it. How the request ended is another event, since
            /// the next entry or the default cache may respond instead.
            public static var fault: Kind { Kind(rawValue: "fault") }
            /// Another file for an `untilUpdated` entry arrived from the network. This refreshed file is returned from
            /// now on.
            public static var refreshed: Kind { Kind(rawValue: "refreshed") }
            /// The network has no other file for an `untilUpdated` entry.
            public static var upToDate: Kind { Kind(rawValue: "upToDate") }
            /// The request for another file failed, or the response can't replace the file. The file that was returned
            /// before stays in use.
            public static var refreshFailed: Kind { Kind(rawValue: "refreshFailed") }
            /// The map's file changed and was loaded again.
            public static var mapReloaded: Kind { Kind(rawValue: "mapReloaded") }
            /// The map's file changed but has problems, so the last good map stays in use.
            public static var mapNotReloaded: Kind { Kind(rawValue: "mapNotReloaded") }
            /// The cache was installed, but isn't the cache of `URLSession.shared`. On Apple platforms, the installed
            /// protocol may still respond.
            public static var sharedSessionInUse: Kind { Kind(rawValue: "sharedSessionInUse") }
            /// The cache was installed, but `URLSession.shared` uses the newer of Apple's two loaders, which might not ask
            /// the installed protocol.
            public static var newerLoader: Kind { Kind(rawValue: "newerLoader") }
        }

        /// What happened.
        public let kind: Kind
        /// The request's URL; `nil` for events about the map or about installing.
        public let url: URL?
        /// The entry's key; `nil` for events without an entry. If a recording responded, the event has none.
        public internal(set) var key: String?
        /// The file of the entry that responded, even if its refreshed file was returned, or the file of the recording
        /// that responded. For ``Kind/fault``, the file that couldn't be read. For ``Kind/recorded``, the file that was
        /// written. `nil` for other events, and for an entry without a file.
        public internal(set) var file: URL?
        /// The size in bytes of the body that was delivered, recorded or refreshed; `nil` for other events.
        public internal(set) var bytes: Int?
        /// The reason, in words; `nil` for events that need none.
        ///
        /// For ``Kind/matched``, the reason is `nil`, or says that a refreshed file was returned. For ``Kind/recorded``,
        /// it lists the response's headers that were left out because they may contain a credential. It also says whether
        /// the response replaced a different one. That happens if a map can't tell the two requests apart.
        public internal(set) var reason: String?
        /// The keys that almost match the URL, for ``Kind/missed``; empty for other events.
        public internal(set) var nearMisses: [SubstitutionMap.NearMiss] = []

        /// One line, or several for a map with several problems.
        public var description: String {
            // Returned as it is: the reason has several lines and is already printable.
            if kind == .mapNotReloaded {
                return "map not reloaded; the last good map stays in use:\n\(reason ?? "")"
            }
            let address = url?.absoluteString ?? ""
            let entry = key.map { "entry “\($0)”" } ?? "recorded"
            let size = (bytes ?? 0).counted("byte", "bytes")
            let text =
                switch kind {
                case .matched:
                    "matched \(address) ← \(reason == nil ? "" : "refreshed file of ")\(file?.path ?? "no file") "
                        + "(\(size); \(entry))"
                case .usedOffline:
                    "used offline \(address) ← \(file?.path ?? "no file") (\(size); \(entry)): \(reason ?? "")"
                case .bypassed: "bypassed \(address): \(reason ?? "") (\(entry))"
                case .forwarded: "forwarded \(address): the network responded" + (key == nil ? "" : " (\(entry))")
                case .confirmed:
                    "confirmed \(address): the network says that the recorded response is current (\(size))"
                case .recorded:
                    "recorded \(address) → \(file?.path ?? "") (\(size)\(reason.map { "; \($0)" } ?? ""))"
                case .notRecorded: "not recorded \(address): \(reason ?? "")"
                case .defaultCacheHit: "found in the default cache: \(address)"
                case .failed: "failed \(address): \(reason ?? "")" + (key == nil ? "" : " (\(entry))")
                case .missed:
                    "missed \(address)" + nearMisses.map { " (near miss: \($0))" }.joined()
                case .fault: "fault \(address): the file \(file?.path ?? "") \(reason ?? "") (\(entry))"
                case .refreshed: "refreshed \(address): the network had another file (\(size); \(entry))"
                case .upToDate: "up to date \(address): the network has no other file (\(entry))"
                case .refreshFailed: "not refreshed \(address): \(reason ?? "") (\(entry))"
                case .mapReloaded: "map reloaded: \(reason ?? "")"
                case .sharedSessionInUse, .newerLoader: "installed, but \(reason ?? "")"
                default: "\(kind.rawValue) \(address)"
                }
            return text.printable
        }
    }
}
