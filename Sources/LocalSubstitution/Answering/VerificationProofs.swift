import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Proves to a verification that its cache answered, rather than a server that sends the same headers.
///
/// The verification's request has a token in a header. The cache's response has the proof, which the network never sees. Such a
/// response isn't retained.
final class VerificationProofs: Sendable {
    static let header = "LocalSubstitution-Proof"

    private let proofs = Guarded<[String: String]>([:])

    /// Creates a token and its proof.
    func begin() -> (token: String, proof: String) {
        let (token, proof) = (UUID().uuidString, UUID().uuidString)
        proofs.withLock { $0[token] = proof }
        return (token, proof)
    }

    func end(_ token: String) { proofs.withLock { $0[token] = nil } }

    /// Returns the proof for a request's token; `nil` for a request without one.
    func proof(for request: URLRequest) -> String? {
        guard let token = request.value(forHTTPHeaderField: Self.header) else { return nil }
        return proofs.withLock { $0[token] }
    }
}
