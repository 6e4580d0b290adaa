import Foundation
import LocalSubstitution
import LoopbackOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Which headers a server that stands between a client and a URLSession passes on (RFC 9110 §7.6.1).
enum ServedHeaders {
    private static let ofConnections: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// The session has these of its own, or none.
    private static let ofSession: Set<String> = ["host", "accept-encoding", "content-length", "expect"]

    /// The codings that URLSession undoes.
    private static let decodedCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// The client's headers, for the origin.
    static func requested(_ request: LoopbackServer.Request) -> [(name: String, value: String)] {
        let named = (request.header("Connection") ?? "").asciiLowercased.split { $0 == "," || $0 == " " }.map(
            String.init
        )
        var headers = request.headers.filter { header in
            let name = header.name.asciiLowercased
            return !ofConnections.contains(name) && !ofSession.contains(name) && !named.contains(name)
        }
        // Part of a coded body can't be decoded.
        if request.header("Range") != nil { headers.append(("Accept-Encoding", "identity")) }
        return headers
    }

    /// The answer's headers, for the client.
    static func answered(_ response: HTTPURLResponse, isSubstituted: Bool) -> [(String, String)] {
        let all = response.allHeaderFields as? [String: String] ?? [:]
        let coding = all[header: "Content-Encoding"]?.asciiLowercased
        let isDecoded = coding.map(decodedCodings.contains) ?? false
        var headers: [(String, String)] = []
        for (name, value) in all {
            switch name.asciiLowercased {
            case let name where ofConnections.contains(name):
                continue
            case "content-encoding" where isDecoded, "content-length" where isDecoded:
                continue
            case "cache-control" where isSubstituted && value == ResponseBuilder.cacheControl:
                // That is for URLSession, which asks the cache each time. A browser would keep the file for a year.
                headers.append((name, "no-cache"))
            case "set-cookie":
                headers += cookies(in: value).map { (name, $0) }
            default:
                headers.append((name, value))
            }
        }
        return headers
    }

    /// The cookies of which Foundation has made one line. A comma inside a date has no name and equals sign behind it.
    private static func cookies(in line: String) -> [String] {
        var cookies: [String] = []
        for part in line.split(separator: ",", omittingEmptySubsequences: false) {
            let cookie = part.drop(while: \.isWhitespace)
            let name = cookie.prefix { $0 != ";" && $0 != "=" && !$0.isWhitespace }
            if !name.isEmpty, cookie.dropFirst(name.count).first == "=" {
                cookies.append(String(cookie))
            } else if let last = cookies.popLast() {
                cookies.append("\(last),\(part)")
            } else {
                cookies.append(String(part))
            }
        }
        return cookies.filter { !$0.isEmpty }
    }
}
