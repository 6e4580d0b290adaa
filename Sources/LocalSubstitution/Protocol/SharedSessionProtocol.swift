import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The protocol of `URLSession.shared` while a test's map is used for its requests.
///
/// The session asks this class before ``InstalledProtocol``, which gets the requests that this class doesn't intercept.
/// So an installed cache keeps working.
final class SharedSessionProtocol: SubstitutionURLProtocol {
    private struct Use: Sendable {
        let attachment: Attachment
        let takes: @Sendable (URLRequest) -> Bool
    }

    /// The attachments in use. The last one decides.
    private static let uses = Guarded<[Use]>([])
    /// The closures to call with the requests that aren't intercepted.
    private static let witnesses = Guarded<[(id: UUID, hear: @Sendable (URLRequest) -> Void)]>([])

    override class var attachment: Attachment? { uses.withLock { $0.last }?.attachment }

    override class func canInit(with request: URLRequest) -> Bool {
        guard let use = uses.withLock({ $0.last }), use.takes(request) else {
            guard !request.isOwn(.current) else { return false }
            for witness in witnesses.withLock({ $0 }) { witness.hear(request) }
            return false
        }
        return super.canInit(with: request)
    }

    /// Calls a closure with each request of `URLSession.shared` that isn't intercepted for a test. It may be called
    /// several times for a request. Returns a closure that ends this.
    static func watch(_ witness: @escaping @Sendable (URLRequest) -> Void) -> @Sendable () -> Void {
        let id = UUID()
        witnesses.withLock { $0.append((id, witness)) }
        return { witnesses.withLock { $0.removeAll { $0.id == id } } }
    }

    /// Returns a closure that removes the attachment.
    ///
    /// - Parameter takes: Returns whether to intercept a request. On Linux, called on the thread that resumes the task.
    static func use(
        _ attachment: Attachment,
        takes: @escaping @Sendable (URLRequest) -> Bool
    ) -> @Sendable () -> Void {
        uses.withLock { $0.append(Use(attachment: attachment, takes: takes)) }
        return {
            let former = uses.withLock { uses in
                uses.firstIndex { $0.attachment === attachment }.map { uses.remove(at: $0) }
            }
            withExtendedLifetime(former) {}
        }
    }
}
