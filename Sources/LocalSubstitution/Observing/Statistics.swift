extension LocalSubstitutionCache {
    /// Counts of what a cache has done. They begin at 0 and never decrease.
    ///
    /// Every lookup also counts in one of ``substituted``, ``bypassed``, ``fallbackHits`` and ``misses``. A request
    /// that an attached session's protocol answers or forwards itself isn't a lookup, even if the loader asked the cache
    /// first. If the protocol can't read the entry's file, the request counts only in ``faults``.
    public struct Statistics: Sendable, Hashable {
        /// Requests that the loader looked up in the cache, except those that a protocol answers or forwards itself. A
        /// request that fails in a protocol also counts, unless an entry makes it fail or has an unreadable file.
        public var lookups: Int { substituted + bypassed + fallbackHits + misses }
        /// Lookups that an entry answered.
        public internal(set) var substituted = 0
        /// Lookups that no entry answered although one matches the URL. Reasons are the entry's `null`, `use`, handler
        /// or conditions, the request's cache policy or method, a fault, a response that the loader would refuse, and a
        /// task that the loader can't finish.
        public internal(set) var bypassed = 0
        /// Lookups that the default cache answered, since no entry matches the URL.
        public internal(set) var fallbackHits = 0
        /// Lookups that the default cache didn't answer, and whose URL no entry matches.
        public internal(set) var misses = 0
        /// Requests that a protocol answered with an entry or a recorder's copy, because the loader didn't ask the cache
        /// or would have refused its response. Also counts requests that an entry made fail. These
        /// requests aren't lookups.
        public internal(set) var served = 0
        /// Requests that the network answered, and that had a fallback (an entry's file, or a recorder's copy) or were
        /// forwarded by an entry.
        public internal(set) var forwarded = 0
        /// Requests that the fallback answered because the network failed.
        public internal(set) var fellBack = 0
        /// Responses that a recorder kept because they were new or had changed.
        public internal(set) var recorded = 0
        /// The number of times that an entry's file couldn't be read for a request, in a lookup or by a protocol.
        public internal(set) var faults = 0
        /// The total size of all bodies that were substituted or served, in bytes.
        public internal(set) var bytes = 0
        /// Newer copies that arrived for the files of `untilUpdated` entries. They aren't lookups.
        public internal(set) var refreshed = 0
    }
}

extension LocalSubstitutionCache.Statistics {
    /// Counts an event. Doesn't count `confirmed`, since the request was already counted as forwarded.
    mutating func count(_ kind: LocalSubstitutionCache.Event.Kind, by answerer: Observers.Answerer, bytes: Int) {
        switch kind {
        case .substituted:
            switch answerer {
            case .cache: substituted += 1
            case .protocol: served += 1
            }
            self.bytes += bytes
        case .bypassed: bypassed += 1
        case .fallbackHit: fallbackHits += 1
        case .missed: misses += 1
        case .forwarded: forwarded += 1
        case .fellBack: fellBack += 1
        case .recorded: recorded += 1
        case .fault: faults += 1
        case .refreshed: refreshed += 1
        default: break
        }
    }
}
