import Foundation
import LocalSubstitution

/// A response to keep in a map.
struct KeepableResponse {
    /// The method of the request.
    var method = "GET"
    var status = 200
    /// The headers for its entry.
    let headers: [String: String]
    let type: ContentType?
    let body: Data
}
