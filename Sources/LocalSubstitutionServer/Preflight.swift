import Loopback

#if !os(watchOS)
/// A browser's preflight request, which asks whether a page may send a request to another origin (WHATWG Fetch, section 3.3.4).
enum Preflight {
    /// Returns a response that allows the request if the server serves both origins; `nil` for any other request.
    ///
    /// Preflights aren't sent on, since the origin's server knows the page under another origin.
    static func response(to request: HTTPRequest, _ origins: ServedOrigins) -> ResponseHead? {
        guard request.method == "OPTIONS", let method = request.header("Access-Control-Request-Method"),
            let origin = request.header("Origin"), origins.origin(ofLocal: origin) != nil
        else { return nil }
        var head = ResponseHead(status: 204)
        head.fields = [
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Methods", method),
            ("Access-Control-Allow-Credentials", "true"),
        ]
        if let names = request.header("Access-Control-Request-Headers") {
            head.fields.append(("Access-Control-Allow-Headers", names))
        }
        return head
    }
}
#endif
