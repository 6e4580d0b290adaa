import Foundation
import Guarded

/// The protocol of an installed cache, for `URLSession.shared`.
///
/// On Linux, that session only asks the protocol classes that are registered when it's first used. So this class stays
/// registered, even after the cache is uninstalled. It then intercepts nothing.
final class InstalledProtocol: SubstitutionURLProtocol {
    private static let current = Guarded<Attachment?>(nil)

    override class var attachment: Attachment? { current.withLock { $0 } }

    /// `nil` to intercept nothing from now on.
    static func use(_ attachment: Attachment?) {
        let former = current.withLock { current in
            defer { current = attachment }
            return current
        }
        withExtendedLifetime(former) {}
    }
}
