extension LocalSubstitutionCache {
    /// What happens in an attached session to a request that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request is loaded from the network, as if nothing were attached.
        case load
        /// The request fails, unless its URL matches an exception. An exception is an exact URL, or a match pattern such as
        /// `http://127.0.0.1:*/*`. A redirect of an exception is followed only to another exception or to an entry.
        ///
        /// On Linux, a download task for an exception fails, because Foundation can't finish a download task that a protocol
        /// answers.
        case fail(except: [String])

        /// Every such request fails at once, with an error that explains why. The session never reaches the network, and a file
        /// answers even if there's a newer copy of it. Once there's such a session, newer copies are requested only for sessions
        /// attached with `.load`.
        public static var fail: Unmatched { .fail(except: []) }
    }
}
