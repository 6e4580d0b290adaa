public import Foundation

extension LocalSubstitutionCache {
    /// Something that a cache did. Use events for logs, and to find mistakes in a map.
    public struct Event: Sendable, CustomStringConvertible {
        /// What happened.
        public struct Kind: RawRepresentable, Sendable, Hashable {
            /// The name of the static member.
            public let rawValue: String

            /// Creates a kind with a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// An entry answered or made the request fail. Or a recorder's copy answered (see `SubstitutionRecorder`).
            /// For an `untilUpdated` entry, a newer copy of its file may have answered: one that ``refreshed``
            /// announced, or that an earlier process stored.
            public static var substituted: Kind { Kind(rawValue: "substituted") }
            /// An entry matches the URL, but didn't answer the request.
            public static var bypassed: Kind { Kind(rawValue: "bypassed") }
            /// The network answered a request that had a fallback (an entry's file, or a recorder's copy), or that an
            /// entry forwarded.
            public static var forwarded: Kind { Kind(rawValue: "forwarded") }
            /// The network failed, so the fallback answers.
            public static var fellBack: Kind { Kind(rawValue: "fellBack") }
            /// The network confirmed a recorder's copy with a 304, so the copy answers.
            public static var confirmed: Kind { Kind(rawValue: "confirmed") }
            /// A recorder kept a response that is new or has changed.
            public static var recorded: Kind { Kind(rawValue: "recorded") }
            /// A recorder didn't keep a response.
            public static var notRecorded: Kind { Kind(rawValue: "notRecorded") }
            /// No entry matches the URL, and the default cache answered.
            public static var fallbackHit: Kind { Kind(rawValue: "fallbackHit") }
            /// No entry matches the URL, and the default cache didn't answer.
            public static var missed: Kind { Kind(rawValue: "missed") }
            /// An entry's file couldn't be read when a request needed it.
            public static var fault: Kind { Kind(rawValue: "fault") }
            /// A newer copy of an `untilUpdated` entry's file arrived from the network. The copy answers from now on.
            public static var refreshed: Kind { Kind(rawValue: "refreshed") }
            /// The network has no newer copy of an `untilUpdated` entry's file.
            public static var upToDate: Kind { Kind(rawValue: "upToDate") }
            /// The request for a newer copy failed, or the response can't replace the file. The file or copy that
            /// answered before stays in use.
            public static var refreshFailed: Kind { Kind(rawValue: "refreshFailed") }
            /// The map's file changed and was loaded again.
            public static var mapReloaded: Kind { Kind(rawValue: "mapReloaded") }
            /// The map's file changed but has problems, so the last good map stays in use.
            public static var mapNotReloaded: Kind { Kind(rawValue: "mapNotReloaded") }
            /// The cache was installed, but isn't the cache of `URLSession.shared`. On Apple platforms, the installed
            /// protocol may still answer.
            public static var sharedSessionInUse: Kind { Kind(rawValue: "sharedSessionInUse") }
            /// The cache was installed, but `URLSession.shared` uses the newer of Apple's two loaders, which might not ask
            /// the installed protocol.
            public static var newerLoader: Kind { Kind(rawValue: "newerLoader") }
        }

        /// What happened.
        public let kind: Kind
        /// The request's URL; `nil` for events about the map or about installing.
        public let url: URL?
        /// The entry's key, or the URL if a recorder's copy or the network answers without an entry. `nil` for other
        /// events without an entry.
        public internal(set) var key: String?
        /// The file of the entry that answered, even if a newer copy of the file did. For ``Kind/fault``, the file that
        /// couldn't be read. For ``Kind/recorded``, the file that was written. `nil` for other events, for an entry
        /// without a file, and for a recorder's copy.
        public internal(set) var file: URL?
        /// The size in bytes of the body that was delivered, recorded or refreshed; `nil` for other events.
        public internal(set) var bytes: Int?
        /// The reason, in words; `nil` for events that need none. For ``Kind/substituted``, it says that a newer copy
        /// answers; `nil` if none does. For ``Kind/recorded``, it lists the response's headers that were left out because
        /// they may contain a credential. It also says if the response replaced a different one, since a map can't tell
        /// the requests for the two apart.
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
            let entry = key.map { "entry “\($0)”" } ?? ""
            let size = (bytes ?? 0).counted("byte", "bytes")
            let text =
                switch kind {
                case .substituted:
                    "substituted \(address) ← \(reason == nil ? "" : "newer copy of ")\(file?.path ?? "no file") "
                        + "(\(size); \(entry))"
                case .bypassed: "bypassed \(address): \(reason ?? "") (\(entry))"
                case .forwarded: "forwarded \(address): the network answered (\(entry))"
                case .fellBack: "fell back for \(address): \(reason ?? "") (\(entry))"
                case .confirmed:
                    "confirmed \(address): the network says that the copy is current (\(size); \(entry))"
                case .recorded:
                    "recorded \(address) → \(file?.path ?? "") (\(size)\(reason.map { "; \($0)" } ?? ""))"
                case .notRecorded: "not recorded \(address): \(reason ?? "")"
                case .fallbackHit: "answered by the default cache: \(address)"
                case .missed:
                    "missed \(address)" + nearMisses.map { " (near miss: \($0))" }.joined()
                case .fault: "fault \(address): the file \(file?.path ?? "") \(reason ?? "") (\(entry))"
                case .refreshed: "refreshed \(address): a newer copy answers (\(size); \(entry))"
                case .upToDate: "up to date \(address): the network has no newer copy (\(entry))"
                case .refreshFailed: "not refreshed \(address): \(reason ?? "") (\(entry))"
                case .mapReloaded: "map reloaded: \(reason ?? "")"
                case .sharedSessionInUse, .newerLoader: "installed, but \(reason ?? "")"
                default: "\(kind.rawValue) \(address)"
                }
            return text.printable
        }
    }
}
