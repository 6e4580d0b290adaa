import Foundation
import LocalSubstitution

/// A response that is to be kept in a map.
struct KeepableResponse {
    /// The method of the request that it answers.
    var method = "GET"
    var status = 200
    /// The headers for its entry.
    let headers: [String: String]
    let type: ContentType?
    let body: Data
}
