import Foundation
import Guarded

/// The protocol with which an installed cache answers `URLSession.shared`.
///
/// That session keeps the classes that it finds at its first use. On Linux, it doesn't ask a class that is registered
/// later. So this class stays registered, and answers with the attachment of the installed cache, if any.
final class InstalledProtocol: SubstitutionURLProtocol {
    private static let current = Guarded<Attachment?>(nil)

    override class var attachment: Attachment? { current.withLock { $0 } }

    /// Sets the attachment with which this class answers from now on; `nil` to leave every request to the loader.
    static func use(_ attachment: Attachment?) {
        let former = current.withLock { current in
            defer { current = attachment }
            return current
        }
        withExtendedLifetime(former) {}
    }
}
