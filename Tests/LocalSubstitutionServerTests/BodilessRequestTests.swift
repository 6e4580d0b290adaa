import Foundation
import LocalSubstitution
import LocalSubstitutionServer
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Requests without a body", .sessions, .timeLimit(.minutes(5)))
struct BodilessRequestTests {
    /// The status of the network's responses. Each entry and alternative has its own.
    private static let ofNetwork = 299

    private static let offline = #"{ "methods": ["POST", "PUT"], "use": "whenOffline", "status": 201 }"#
    private static let offlineWithText =
        #"{ "methods": ["POST"], "use": "whenOffline", "when": { "text": "*" }, "status": 201 }"#
    private static let text =
        #"{ "methods": ["GET", "POST", "PATCH"], "alternatives": [{ "when": { "text": "*" }, "status": 201 }, { "status": 202 }] }"#
    private static let letter = text.replacing(#""*""#, with: #""a*""#)
    private static let json = text.replacing(#""text": "*""#, with: #""json": {}"#)

    @Test(
        "A session, answer(to:), the server and explain agree on what responds",
        arguments: [
            ("dead", offline, "POST", nil, 201), ("dead", offline, "POST", "", 201),
            ("dead", offline, "POST", "a", 201),
            ("dead", offline, "PUT", nil, 201),
            ("live", #"{ "use": "whenOffline", "status": 201 }"#, "POST", nil, ofNetwork),
            ("dead", offlineWithText, "POST", nil, 201), ("dead", offlineWithText, "POST", "a", 201),
            ("live", text, "POST", nil, 201), ("live", text, "PATCH", nil, 201), ("live", text, "POST", "", 201),
            ("live", text, "POST", "a", 201), ("live", text, "GET", nil, 201),
            ("live", letter, "POST", nil, 202), ("live", letter, "POST", "", 202), ("live", letter, "POST", "a", 201),
            ("live", json, "POST", nil, 202), ("live", json, "POST", "", 202), ("live", json, "POST", "{}", 201),
            ("live", #"{ "methods": ["POST"], "when": { "text": "a*" }, "status": 201 }"#, "POST", nil, ofNetwork),
        ] as [(String, String, String, String?, Int)]
    )
    func agree(_ path: String, _ entry: String, _ method: String, _ body: String?, _ status: Int) async throws {
        let origin = try LoopbackServer { request in
            request.path == "/dead" ? LoopbackServer.Answer(fault: .dropBeforeHead) : .status(Self.ofNetwork)
        }
        defer { origin.stop() }
        let url = origin.url(path)
        let served = try ServedMap(#"{ "\#(url.absoluteString)": \#(entry) }"#, unmatched: .load)
        let (session, client) = (try served.cache.makeSession(), URLSession(configuration: .ephemeral))
        defer {
            session.finishTasksAndInvalidate()
            client.finishTasksAndInvalidate()
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        var local = request
        local.url = try served.server.url(for: url)

        #expect(served.cache.explain(request).status ?? Self.ofNetwork == status)
        #expect(try await Self.status(session.data(for: request)) == status)
        #expect(try await served.cache.answer(to: request)?.1.statusCode ?? Self.ofNetwork == status)
        #expect(try await Self.status(client.data(for: local)) == status)
    }

    private static func status(_ loaded: (Data, URLResponse)) -> Int? { (loaded.1 as? HTTPURLResponse)?.statusCode }
}
