/// What a session adds to what the map says. An object, so that a plan can tell for which session it was made.
final class SessionRules: Sendable {
    /// Which requests must not reach the network.
    let unmatched: UnmatchedRule
    /// Keeps what the network answers, and answers when there's no network; `nil` for most sessions.
    let recorder: (any ResponseRecorder)?
    /// Hears of the requests that the protocol takes, which are all requests whose bodies it sees; `nil` for most sessions.
    let listener: RequestListener?

    init(unmatched: UnmatchedRule, recorder: (any ResponseRecorder)? = nil, listener: RequestListener? = nil) {
        self.unmatched = unmatched
        self.recorder = recorder
        self.listener = listener
    }
}
