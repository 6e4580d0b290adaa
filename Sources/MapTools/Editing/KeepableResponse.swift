import Foundation
import LocalSubstitution

/// A response to keep in a map.
struct KeepableResponse {
    /// The request that it answers.
    var request = RecordedRequest("GET", RecordedCondition(nil))
    var status = 200
    /// The headers for its entry.
    let headers: [String: String]
    let type: ContentType?
    let body: Data
}
