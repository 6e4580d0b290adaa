import Foundation
import LocalSubstitution
import LocalSubstitutionTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The Swift code of *Record responses for tests*, as in Snippets.swift. `TutorialTests` runs the suite in a separate process.

extension Trait where Self == SubstitutionsTrait {
    /// The library's trait, for a test in a file that `TutorialTests` names.
    fileprivate static func substituting(
        _ map: String,
        redacting redact: @escaping @Sendable (inout RecordedResponse) -> Void
    ) -> Self {
        .substituting(map, redacting: redact, filePath: Tutorial.file ?? #filePath)
    }
}

// snippet: a closure for several tests
@Sendable func hide(_ response: inout RecordedResponse) {
    if response.url.path == "/token" { response.isExcluded = true }
}
// end

@Suite(.enabled(if: Tutorial.isInChild))
struct LoginSteps {
    /// The code to test.
    enum App {
        // snippet: a client that logs in
        struct Account {
            let session: URLSession
            var server = "https://shop.example.com"

            /// Logs in, and returns the names of what the user has ordered.
            func orders(of user: String, password: String) async throws -> [String] {
                var login = URLRequest(url: try url("login"))
                login.httpMethod = "POST"
                login.httpBody = try JSONEncoder().encode(["user": user, "password": password])
                let (body, _) = try await session.data(for: login)
                let token = try JSONDecoder().decode([String: String].self, from: body)["token"] ?? ""

                var orders = URLRequest(url: try url("orders"))
                orders.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                return try JSONDecoder().decode([String].self, from: try await session.data(for: orders).0)
            }

            private func url(_ path: String) throws -> URL {
                guard let url = URL(string: "\(server)/\(path)") else { throw URLError(.badURL) }
                return url
            }
        }
        // end
    }

    // snippet: a recorded login without its token
    @Test(
        .substituting(
            "Fixtures/login.json",
            redacting: { response in
                guard response.url.path == "/login", response.status == 200 else { return }
                let body = String(decoding: response.body, as: UTF8.self)
                let token = #""token": *"[^"]*""#
                let hidden = body.replacingOccurrences(
                    of: token,
                    with: #""token": "redacted""#,
                    options: .regularExpression
                )
                response.body = Data(hidden.utf8)
            }
        )
    )
    func ordersAfterLogin() async throws {
        let account = Account(session: .substituted)
        let orders = try await account.orders(of: "ada", password: "correct horse")
        #expect(orders == ["socks"])
    }
    // end

    /// The client, with the server that `TutorialTests` names.
    private struct Account {
        let session: URLSession

        func orders(of user: String, password: String) async throws -> [String] {
            var account = App.Account(session: session)
            if let server = Tutorial.server { account.server = server }
            return try await account.orders(of: user, password: password)
        }
    }
}
