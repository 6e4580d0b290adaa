import Foundation
import Guarded

/// The protocol with which an installed cache answers `URLSession.shared`.
///
/// On Linux, that session only asks the protocol classes that are registered when it's first used. So this class stays
/// registered, even after the cache is uninstalled. It then leaves every request to the loader.
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
