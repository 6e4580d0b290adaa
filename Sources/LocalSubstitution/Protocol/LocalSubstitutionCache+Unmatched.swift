extension LocalSubstitutionCache {
    /// What happens, in an attached session, to a request that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request is loaded from the network, as if nothing were attached.
        case load
        /// The request fails, unless its URL matches one of these keys: exact URLs, or match patterns such as
        /// `http://127.0.0.1:*/*`. A redirect of an exception is followed only to another exception or to an entry.
        ///
        /// On Linux, a download task for an exception fails, because Foundation can't finish one from a protocol.
        case fail(except: [String])

        /// Every request fails at once, with an error that explains why. Such a session reaches no network, and files answer
        /// even if there's a newer copy. The cache itself then asks for newer copies only in sessions that load what's unmatched.
        public static var fail: Unmatched { .fail(except: []) }
    }
}
