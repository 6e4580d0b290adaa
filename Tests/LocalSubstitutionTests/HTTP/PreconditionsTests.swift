import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A request's preconditions", .values)
struct PreconditionsTests {
    private static let (before, then, after) = (
        "Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"
    )
    private static let tagged = ["ETag": "\"a\""]
    private static let weak = ["etag": "W/\"a\""]
    private static let dated = ["Last-Modified": then]
    private static let both = ["ETag": "\"a\"", "Last-Modified": then]

    @Test(
        "They're evaluated in the standard's order",
        arguments: [
            (tagged, ["If-None-Match": "\"a\""], 304), (tagged, ["if-none-match": "W/\"a\""], 304),
            (tagged, ["If-None-Match": "\"b\", W/\"c,d\" , \"a\""], 304), (tagged, ["If-None-Match": " * "], 304),
            (tagged, ["If-None-Match": "\"b\""], nil), (tagged, ["If-None-Match": "a"], nil),
            (tagged, ["If-None-Match": "\"a"], nil), (tagged, ["If-None-Match": ""], nil),
            (tagged, ["If-None-Match": "\"A\""], nil), (["ETag": "\"a,\""], ["If-None-Match": "\"a,\""], 304),
            (weak, ["If-None-Match": "\"a\""], 304), (weak, ["If-None-Match": "W/\"a\""], 304),
            ([:], ["If-None-Match": "\"a\""], nil), ([:], ["If-None-Match": "\"\""], nil),
            ([:], ["If-None-Match": "*"], 304), (["ETag": "a"], ["If-None-Match": "\"a\""], nil),
            (tagged, ["If-Match": "\"a\""], nil), (tagged, ["If-Match": "\"b\", \"a\""], nil),
            (tagged, ["If-Match": "*"], nil), (tagged, ["If-Match": "\"b\""], 412),
            (tagged, ["If-Match": "W/\"a\""], 412), (weak, ["If-Match": "W/\"a\""], 412),
            ([:], ["If-Match": "\"a\""], 412),
            (tagged, ["If-Match": "\"a\"", "If-None-Match": "\"a\""], 304),
            (tagged, ["If-Match": "\"b\"", "If-None-Match": "\"a\""], 412),
            (dated, ["If-Modified-Since": then], 304), (dated, ["If-Modified-Since": after], 304),
            (dated, ["If-Modified-Since": before], nil), (dated, ["If-Modified-Since": "yesterday"], nil),
            (dated, ["If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT"], 304),
            (tagged, ["If-Modified-Since": then], nil), (["Last-Modified": "x"], ["If-Modified-Since": then], nil),
            (both, ["If-None-Match": "\"b\"", "If-Modified-Since": after], nil),
            (both, ["If-None-Match": "\"a\"", "If-Modified-Since": before], 304),
            (dated, ["If-Unmodified-Since": then], nil), (dated, ["If-Unmodified-Since": after], nil),
            (dated, ["If-Unmodified-Since": before], 412), (dated, ["If-Unmodified-Since": "yesterday"], nil),
            (both, ["If-Match": "\"a\"", "If-Unmodified-Since": before], nil), (tagged, [:], nil),
        ] as [([String: String], [String: String], Int?)]
    )
    func status(_ ofResponse: [String: String], _ ofRequest: [String: String], _ expected: Int?) throws {
        #expect(try Self.status(200, ofResponse, to: request("https://h/a", headers: ofRequest)) == expected)
    }

    @Test(
        "They count for GET and HEAD, if the status is 200 or 206",
        arguments: [
            ("GET", 200, 304), ("HEAD", 200, 304), ("GET", 206, 304), ("POST", 200, nil), ("GET", 404, nil),
            ("GET", 304, nil), ("GET", 201, nil),
        ] as [(String, Int, Int?)]
    )
    func kinds(_ method: String, _ status: Int, _ expected: Int?) throws {
        let request = try request("https://h/a", method: method, headers: ["If-None-Match": "*"])
        #expect(try Self.status(status, [:], to: request) == expected)
    }

    private static func status(_ status: Int, _ headers: [String: String], to request: URLRequest) throws -> Int? {
        let url = try #require(request.url)
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        return Preconditions.status(insteadOf: try #require(head), to: request)
    }
}
