package import Foundation
import LocalSubstitution
import MapWriting

/// A request with any method and its response with any status, to keep in a map. It has no credential headers.
package struct RecordedExchange: Sendable {
    package let method: String
    package let url: URL
    /// The request's body; `nil` if there is none.
    package let requestBody: Data?
    /// The condition on the request's body. Kept, since reading a long body takes time.
    let condition: RecordedCondition
    package let status: Int
    /// The headers for its entry.
    package let headers: [String: String]
    package let contentType: String?
    package let body: Data

    package init(
        method: String,
        url: URL,
        requestBody: Data?,
        requestType: String? = nil,
        status: Int,
        headers: [String: String],
        contentType: String?,
        body: Data
    ) {
        self.method = method
        self.url = url
        self.requestBody = requestBody
        condition = RecordedCondition(requestBody, type: requestType)
        self.status = status
        self.headers = headers
        self.contentType = contentType
        self.body = body
    }

    /// Returns whether this exchange comes before another one, in an order that depends only on what both have.
    package func precedes(_ other: RecordedExchange) -> Bool {
        let (first, second) = (key, other.key)
        guard first == second else { return first.lexicographicallyPrecedes(second) }
        return body.lexicographicallyPrecedes(other.body)
    }

    private var key: [String] {
        let request = requestBody.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return [String(status), method, url.absoluteString, request, contentType ?? ""] + fields
    }

    /// Returns whether both have the same response.
    ///
    /// - Parameter countsRates: Whether headers count that say how many requests a client may still make.
    func hasResponse(of other: RecordedExchange, countsRates: Bool = true) -> Bool {
        let isCompared = { (header: (key: String, value: String)) in
            countsRates || !Headers.isRate(header.key.asciiLowercased)
        }
        return status == other.status && contentType == other.contentType && body == other.body
            && headers.filter(isCompared) == other.headers.filter(isCompared)
    }
}

extension RecordedExchange {
    /// The response headers that a test's recording keeps: those that clients read, and that belong to the response rather than to one
    /// transfer, one user or a cache.
    package enum Headers {
        /// Returns the headers of a response to keep, and why each other one is left out, by name. None is a credential.
        ///
        /// - Parameters:
        ///   - names: The names of the response's headers. `Content-Type` is neither kept nor left out, since an entry has other fields
        ///     for it.
        ///   - value: Returns a header's value by its name, in any letter case.
        package static func sorted(
            _ names: [String],
            _ value: (String) -> String?
        ) -> (kept: [String: String], leftOut: [String]) {
            var wanted: [String] = []
            var leftOut: [String] = []
            for name in names where name.asciiLowercased != "content-type" {
                if isKept(name.asciiLowercased) {
                    wanted.append(spellings[name.asciiLowercased] ?? name)
                } else {
                    leftOut.append(name)
                }
            }
            let kept = RecordedHeaders.kept(wanted, value)
            leftOut += wanted.filter { kept[$0] == nil }.map { "\($0) (its value may be a credential)" }
            if value("Content-Type").map({ SecretName.isIn($0) }) == true {
                leftOut.append("a parameter of Content-Type (its value may be a credential)")
            }
            return (kept, leftOut)
        }

        private static func isKept(_ name: String) -> Bool {
            spellings[name] != nil || isRate(name)
                || prefixes.contains { name.hasPrefix($0) } && !ofTransfer.contains(name)
        }

        /// Returns whether a header says how many requests a client may still make, such as `X-RateLimit-Remaining`.
        static func isRate(_ name: String) -> Bool {
            name == "ratelimit" || name.hasPrefix("ratelimit-") || name.contains("-ratelimit-")
        }

        private static let spellings: [String: String] = {
            let names = RecordedHeaders.names + ["Deprecation", "Location", "Retry-After", "Sunset", "X-Total-Count"]
            return Dictionary(names.map { ($0.asciiLowercased, $0) }) { $1 }
        }()
        private static let prefixes = ["access-control-", "content-"]
        /// Headers that a map's answer has by itself, or that would be wrong for it.
        private static let ofTransfer = ["content-length", "content-encoding", "content-range"]
    }
}
