extension LocalSubstitutionCache {
    /// What becomes of a request in an attached session that no entry answers.
    public enum Unmatched: Sendable, Hashable {
        /// The request is loaded from the network, as if nothing were attached.
        case load
        /// The request fails, unless its URL matches one of these keys: exact URLs, or match patterns such as
        /// `http://127.0.0.1:*/*`.
        case fail(except: [String])

        /// Every request fails at once, with an error that explains why. Sessions reach no network, not even for newer copies.
        public static var fail: Unmatched { .fail(except: []) }
    }
}
