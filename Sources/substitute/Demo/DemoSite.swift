import Foundation
import LoopbackOrigin

/// The small site that the demo loads twice.
struct DemoSite {
    /// The page's parts, in the order in which a browser finds them. The page itself is `/`.
    static let parts = ["style.css", "nav-bg.png", "hero.png", "app.js", "status.json"]

    static let types = [
        "index.html": "text/html; charset=utf-8", "style.css": "text/css; charset=utf-8", "nav-bg.png": "image/png",
        "hero.png": "image/png", "app.js": "text/javascript; charset=utf-8", "status.json": "application/json",
    ]

    /// Returns what the origin serves, by path.
    static func routes() throws -> [String: LoopbackServer.Answer] {
        let folder = try DemoBundle.url("Origin")
        var routes: [String: LoopbackServer.Answer] = [:]
        for (name, type) in types {
            let file = try Data(contentsOf: folder.appendingPathComponent(name))
            routes[name == "index.html" ? "/" : "/\(name)"] = .ok(file, type: type)
        }
        return routes
    }

    /// The URL in the article of 2010 that this package goes back to. Its host doesn't have to answer.
    static let originalURL = URL(string: "http://images.apple.com/global/nav/images/globalnavbg.png")
}
