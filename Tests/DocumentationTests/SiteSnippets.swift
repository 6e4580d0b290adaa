import Foundation
import LocalSubstitution
import LocalSubstitutionServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(WebKit)
import WebKit
#endif
#if canImport(AVFoundation)
import AVFoundation
#endif

// The Swift code of the article on web views and browsers, as in Snippets.swift.

#if !canImport(WebKit)
/// Remembers the page that it would load.
@MainActor
final class WKWebView {
    private(set) var url: URL?

    func load(_ request: URLRequest) { url = request.url }
}
#endif

// snippet: a web view
@MainActor
func show(_ page: URL, in webView: WKWebView, from bundle: Bundle = .main) throws -> SubstitutionServer {
    let cache = try LocalSubstitutionCache(bundle: bundle)
    let server = try SubstitutionServer(cache: cache)
    webView.load(URLRequest(url: try server.url(for: page)))
    return server
}
// end

#if canImport(AVFoundation)
@MainActor
func player(of video: URL, from server: SubstitutionServer) throws -> AVPlayer {
    // snippet: a player
    let player = AVPlayer(url: try server.url(for: video))
    // end
    return player
}
#endif
