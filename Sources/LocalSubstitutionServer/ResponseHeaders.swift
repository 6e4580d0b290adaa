import Foundation
import LocalSubstitution
import Loopback
import WebReferences

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if !os(watchOS)
/// The headers of an origin's response, adapted for the client.
struct ResponseHeaders {
    /// Headers that don't apply on 127.0.0.1.
    private static let dropped: Set<String> = [
        // These name origins, or keep a page's origins apart.
        "content-security-policy", "content-security-policy-report-only", "cross-origin-opener-policy",
        "cross-origin-opener-policy-report-only", "cross-origin-embedder-policy",
        "cross-origin-embedder-policy-report-only", "cross-origin-resource-policy", "origin-agent-cluster",
        // These apply to https, to other servers, or to what the browser has stored for every port.
        "strict-transport-security", "alt-svc", "clear-site-data", "nel", "report-to", "reporting-endpoints",
        // Every response says that it must not be stored: see `ServedConnection`.
        "cache-control", "expires", "pragma", "age",
    ]

    /// Headers that describe the exact bytes of a body, which change when it's rewritten.
    private static let ofBytes: Set<String> = [
        "accept-ranges", "content-digest", "content-length", "content-md5", "digest", "etag", "repr-digest",
    ]

    /// The content codings that URLSession decodes.
    private static let decodedCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    let port: UInt16
    let origins: ServedOrigins
    /// Maps URLs in headers.
    let rewriter: ReferenceRewriter

    /// Returns the header fields for the client.
    ///
    /// - Parameters:
    ///   - isRewritten: Whether the body may be rewritten.
    ///   - requestOrigin: The client's `Origin`.
    func fields(
        of response: HTTPURLResponse,
        isRewritten: Bool,
        requestOrigin: String?
    ) -> [(name: String, value: String)] {
        let all = response.allHeaderFields as? [String: String] ?? [:]
        let isDecoded = !Self.decodedCodings.isDisjoint(with: HTTPRequest.elements(of: all[header: "Content-Encoding"]))
        let ofConnection = RequestHeaders.ofConnection(naming: all[header: "Connection"])
        // The length doesn't count beside chunks (RFC 9112 section 6.3).
        let isChunked = all[header: "Transfer-Encoding"] != nil
        var fields: [(name: String, value: String)] = []
        for (name, value) in all {
            let key = name.asciiLowercased
            if Self.dropped.contains(key) || ofConnection.contains(key)
                || (isRewritten && Self.ofBytes.contains(key))
            {
                continue
            }
            if isDecoded, key == "content-encoding" || key == "content-length" { continue }
            if isChunked, key == "content-length" { continue }
            switch key {
            case "content-length":
                // Only once, even if the origin repeats it.
                if let length = HTTPSyntax.length(value) { fields.append((name, String(length))) }
            case "set-cookie":
                guard let origin = origins.origin(of: port) else { continue }
                let cookies = ServedCookies(of: origin)
                fields += ServedCookies.separated(value).map { (name, cookies.set($0)) }
            case "location":
                fields.append((name, rewriter.url(value) ?? value))
            case "link":
                fields.append((name, links(value)))
            case "refresh":
                fields.append((name, refresh(value)))
            case "access-control-allow-origin":
                fields.append((name, WebOrigin(of: value).flatMap(origins.local) ?? value))
            default:
                fields.append((name, value))
            }
        }
        return fields + access(requestOrigin, all)
    }

    /// Lets a page from one served origin read a response from another, unless that response says who may read it.
    private func access(_ requestOrigin: String?, _ all: [String: String]) -> [(name: String, value: String)] {
        guard let requestOrigin, let asking = origins.origin(ofLocal: requestOrigin),
            asking != origins.origin(of: port), all[header: "Access-Control-Allow-Origin"] == nil
        else { return [] }
        return [
            ("Access-Control-Allow-Origin", requestOrigin), ("Access-Control-Allow-Credentials", "true"),
            ("Vary", "Origin"),
        ]
    }

    /// Maps the URLs in a `Link` header: `<URL>; rel=preload, <URL>; rel=…` (RFC 8288 section 3).
    private func links(_ value: String) -> String {
        var result = ""
        var rest = value[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let url = String(rest[rest.index(after: start)..<end])
            result += rest[...start] + (rewriter.url(url) ?? url)
            rest = rest[end...]
        }
        return result + rest
    }

    /// Maps the URL in a `Refresh` header: `5; url=URL`.
    private func refresh(_ value: String) -> String {
        guard let range = value.range(of: "url=", options: .caseInsensitive) else { return value }
        let url = value[range.upperBound...].trimmingCharacters(in: ["\"", "'", " "])
        return value[..<range.upperBound] + (rewriter.url(url) ?? url)
    }
}
#endif
