#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// Returns the response to record, and the names of its headers that aren't recorded. A reason in parentheses
    /// follows some names. `nil` if the request has no URL, if there's no HTTP response, or if the response's body was
    /// too long for memory.
    ///
    /// - Parameter recorded: The request to record. It isn't the test's own if entries redirected that one.
    func response(to recorded: URLRequest) -> (response: RecordedResponse, leftOut: [String])? {
        guard let response, let body = response.data, let http = response.head as? HTTPURLResponse else { return nil }
        let (headers, leftOut) = RecordingRules.Headers.sorted(http.headers)
        return RecordedResponse(
            Exchange(request: recorded, response: http, body: body, redirects: []),
            headers: headers,
            requestBody: recorded.httpBody ?? (recorded.httpMethod == request.httpMethod ? self.body : nil)
        ).map { ($0, leftOut) }
    }
}
#endif
