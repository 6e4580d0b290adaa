import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Proves to a verification that its cache answered, and not a server that sends the same headers.
///
/// The verification's request carries a token in a header. The cache's response to it carries the proof, which the network never
/// sees. No such response is retained.
final class VerificationProofs: Sendable {
    static let header = "LocalSubstitution-Proof"

    private let proofs = Guarded<[String: String]>([:])

    /// Makes a token and its proof.
    func begin() -> (token: String, proof: String) {
        let (token, proof) = (UUID().uuidString, UUID().uuidString)
        proofs.withLock { $0[token] = proof }
        return (token, proof)
    }

    func end(_ token: String) { proofs.withLock { $0[token] = nil } }

    /// The proof that a request asks for; `nil` for most.
    func proof(for request: URLRequest) -> String? {
        guard let token = request.value(forHTTPHeaderField: Self.header) else { return nil }
        return proofs.withLock { $0[token] }
    }
}
