/// Why a client doesn't get the response of an entry.
package enum Obstacle: Sendable {
    /// No map can match the URL, because it isn't http or https, has no host, or has user info.
    case notHTTP
    /// No entry matches the URL.
    case noEntry
    /// All entries that match the URL are disabled, or have no file for it.
    case noFile
    /// The file of the entry that would win no longer exists.
    case fileIsGone
    /// The entry is `null`.
    case isNull
    /// The entry's handler returned `.notSubstituted`.
    case declined
    /// The entry doesn't list the request's method.
    case methodNotListed(String)
    /// The entries that match the URL are for other requests, or have reached their limit of `times`.
    case skipped
    /// The request's cache policy ignores local data, so only an attached session responds.
    case policy
    /// The session can't use the network, and the entry forwards to the request's own URL.
    case noNetwork

    // Why an entry or alternative doesn't respond cache only.

    /// The entry has this field, which needs an attached session.
    case field(String)
    /// The response is for when the network fails, which a cache doesn't notice.
    case whenOffline
    /// URLSession wouldn't accept the response from a cache. The text says why, without a period.
    case refused(String)

    /// Returns why a match leads to no response. Returns `nil` if an entry responds, forwards the request or makes
    /// it fail, or may do so once the request's body is read.
    ///
    /// - Parameter match: The map's match; `nil` if no map can match the URL.
    init?(_ match: MapMatch?) {
        guard let match else {
            self = .notHTTP
            return
        }
        if match.winner != nil {
            guard match.isExcluded else { return nil }
            self = .isNull
        } else if match.goneFile != nil {
            self = .fileIsGone
        } else if match.skippedForRequest != nil {
            self = match.unlistedMethod.map { .methodNotListed($0.method) } ?? .skipped
        } else {
            self = match.isEmpty ? .noEntry : .noFile
        }
    }

    /// How the entry excludes the request, so that not even a recording responds: a clause that follows the entry's key.
    /// `nil` if no entry excludes the request.
    var exclusion: String? {
        switch self {
        case .isNull: "is null"
        case .declined: "has a handler that returned .notSubstituted"
        default: nil
        }
    }

    /// The obstacle in words, without a period.
    var reason: String {
        switch self {
        case .notHTTP: "only http and https URLs with a host and no user info are substituted"
        case .noEntry: "no entry matches it"
        case .noFile: "every entry that matches its URL is disabled or has no file for it"
        case .fileIsGone: "the file of the entry that matches its URL no longer exists"
        case .isNull: "the entry is null, so the URL is never substituted"
        case .declined: "the entry's handler returned .notSubstituted"
        case .methodNotListed(let method): "the entry doesn't list the method \(method)"
        case .skipped: "every entry that matches its URL is skipped"
        case .policy: "the request's cache policy ignores local data"
        case .noNetwork: "the entry that matches it has no “forwardTo”, and the request can't use the network"
        case .field(let name): "the entry's field “\(name)” needs an attached session"
        case .whenOffline: "the entry is used only if the network fails (\"use\": \"whenOffline\")"
        case .refused(let reason): reason
        }
    }
}
