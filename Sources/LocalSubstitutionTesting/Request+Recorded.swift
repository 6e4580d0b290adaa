#if canImport(Testing)
import Foundation
import LocalSubstitution
import MapTools

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TestSubstitutions.Request {
    /// The response to record, and the names of its headers that aren't recorded. A reason in parentheses follows some
    /// names. `nil` if the request has no URL, if there's no HTTP response, or if the response's body was too long to
    /// keep in memory.
    var recorded: (response: RecordedResponse, leftOut: [String])? {
        guard let url = request.url, let response, let http = response.response as? HTTPURLResponse else { return nil }
        let names = Array(http.headers.keys)
        var (headers, leftOut) = RecordedExchange.Headers.sorted(names) { http.value(forHTTPHeaderField: $0) }
        headers["Content-Type"] = http.value(forHTTPHeaderField: "Content-Type")
        let recorded = RecordedResponse(
            method: request.httpMethod ?? "GET",
            url: url,
            requestBody: body,
            status: http.statusCode,
            headers: headers,
            body: response.data
        )
        return (recorded, leftOut)
    }
}
#endif
