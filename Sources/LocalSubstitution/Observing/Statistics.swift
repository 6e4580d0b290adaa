extension LocalSubstitutionCache {
    /// Counts of what a cache has done. They begin at 0.
    ///
    /// A request that an attached session, a server or ``LocalSubstitutionCache/answer(to:)`` handles with the map counts
    /// once, when it ends, even if redirects were followed. It counts in ``matched``, ``offlineFallbacks``,
    /// ``forwarded``, ``defaultCacheHits``, ``unmatched`` or ``failures``.
    ///
    /// In a session that isn't attached, each lookup counts. So a redirect that URLSession follows counts twice.
    ///
    /// On Apple platforms, URLSession may look a request up in the cache before an attached session intercepts it. That
    /// lookup counts only until the session intercepts the request.
    public struct Statistics: Sendable, Hashable {
        /// Requests that ended with an entry's response or error, or with a recording in a session that doesn't use the
        /// network.
        public internal(set) var matched = 0
        /// Requests for which the network failed, so that a `whenOffline` entry or a recording responded.
        public internal(set) var offlineFallbacks = 0
        /// Requests that were intercepted, and to which the network responded. A 304 that confirms a recording also
        /// counts here.
        public internal(set) var forwarded = 0
        /// Requests to which the default cache responded, since no entry did.
        public internal(set) var defaultCacheHits = 0
        /// Requests that failed because the session's `unmatched` is `fail`, and requests for which neither the map nor
        /// the default cache had a response.
        public internal(set) var unmatched = 0
        /// Requests that ended in any other way without a response: a file couldn't be read, the network failed, the
        /// request timed out, or it was cancelled.
        public internal(set) var failures = 0
        /// Responses that a recorder recorded because they were new or had changed.
        public internal(set) var recorded = 0
        /// The total size of the bodies of ``matched`` and ``offlineFallbacks``, in bytes.
        public internal(set) var bytes = 0
    }
}

extension LocalSubstitutionCache.Statistics {
    /// The number of requests that have ended.
    package var requests: Int {
        matched + offlineFallbacks + forwarded + defaultCacheHits + unmatched + failures
    }
}
