extension LocalSubstitutionCache {
    /// How often a cache was asked, and with what result. A cache's counts begin at 0 and never decrease.
    ///
    /// Every lookup counts as ``substituted``, ``bypassed``, ``fallbackHits`` or ``misses``. A request that
    /// ``SubstitutionURLProtocol`` answers or forwards itself isn't a lookup, even if the loader asked the cache first. If it
    /// can't read the file, the request counts only in ``faults``.
    public struct Statistics: Sendable, Hashable {
        /// Requests that the loader asked the cache for, except those that a protocol answers or forwards itself. Requests that a
        /// protocol fails also count, unless it can't read their files.
        public internal(set) var lookups = 0
        /// Lookups that a local file, or an entry with a status alone, answered.
        public internal(set) var substituted = 0
        /// Lookups whose URL an entry names, but which it does not answer: because of `null`, the request's cache policy or
        /// method, `use`, a fault, or because the loader would refuse the response or can't finish the task.
        public internal(set) var bypassed = 0
        /// Lookups that no entry names and the default cache answered.
        public internal(set) var fallbackHits = 0
        /// Lookups that no entry names and the default cache did not answer.
        public internal(set) var misses = 0
        /// Requests that ``SubstitutionURLProtocol`` answered from a file, or by an entry with a status alone, where the cache
        /// wasn't asked or the loader would have refused its response. They aren't lookups.
        public internal(set) var served = 0
        /// Requests that had a fallback, and that the network answered.
        public internal(set) var forwarded = 0
        /// Requests that the fallback answered, since the network failed.
        public internal(set) var fellBack = 0
        /// Responses that a recorder has kept, new or changed.
        public internal(set) var recorded = 0
        /// Files that could not be read when they were asked for: in a lookup, or by a protocol.
        public internal(set) var faults = 0
        /// The bytes of all bodies that were substituted or served.
        public internal(set) var bytes = 0
        /// Newer copies that arrived for the files of `untilUpdated` entries. They aren't lookups.
        public internal(set) var refreshed = 0
    }
}
