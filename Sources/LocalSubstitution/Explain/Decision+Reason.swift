extension Decision {
    /// Why a request gets what it gets, in a sentence without a full stop.
    var reason: String {
        switch verdict {
        case .substituted: "an entry answers it"
        case .notHTTP: "only http and https URLs with a host and without user info are substituted"
        case .fileIsGone: "the file of the entry that names it does not exist any more"
        case .noEntry where match?.passedOver.isEmpty == false:
            "the entries that name it are disabled or have no file for it"
        case .noEntry: "no entry names it"
        case .excluded: "the entry is null: such URLs are never substituted"
        case .methodNotListed(let method): "the entry does not list the method \(method)"
        case .ignoresLocalData: "the request's cache policy ignores local data"
        case .waitsForOffline: "the entry's file answers only when the network fails (“use”: “whenOffline”)"
        case .refused(let refusal): refusal.message
        }
    }
}
