import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The protocol classes made so far, one for each attachment. A class exists until the process ends, and is never used
/// for another attachment.
package enum Slots {
    /// The attachments by class; `nil` for a detached class.
    private static let attachments = Guarded<[ObjectIdentifier: Attachment?]>([:])

    /// Returns a new class that answers with an attachment.
    static func add(_ attachment: Attachment) -> SubstitutionURLProtocol.Type {
        attachments.withLock { attachments in
            let slot = slot(attachments.count + 1, End.self)
            attachments[ObjectIdentifier(slot)] = attachment
            return slot
        }
    }

    static func attachment(of slot: SubstitutionURLProtocol.Type) -> Attachment? {
        attachments.withLock { $0[ObjectIdentifier(slot)] ?? nil }
    }

    /// Detaches a class. From now on, it fails every request that would reach the network.
    package static func empty(_ slot: SubstitutionURLProtocol.Type) {
        let attachment = attachments.withLock { $0.updateValue(nil, forKey: ObjectIdentifier(slot)) }
        withExtendedLifetime(attachment) {}
    }

    static func isEmptied(_ slot: SubstitutionURLProtocol.Type) -> Bool {
        if case .some(nil) = attachments.withLock({ $0[ObjectIdentifier(slot)] }) { true } else { false }
    }

    /// Returns the n-th class, which nests one type for each binary digit of n. Nesting n types would fail: a class
    /// with 255 nested types has no mangled name, but Objective-C needs one.
    private static func slot<Tag>(_ number: Int, _ tag: Tag.Type) -> SubstitutionURLProtocol.Type {
        guard number > 0 else { return Slot<Tag>.self }
        return number & 1 == 0 ? slot(number >> 1, Zero<Tag>.self) : slot(number >> 1, One<Tag>.self)
    }

    private enum End {}
    private enum Zero<Tag> {}
    private enum One<Tag> {}
}

extension Slots {
    /// The protocol class of one attachment.
    ///
    /// Foundation tells a protocol neither its session nor its configuration, only its class. So each attachment has
    /// its own class, which determines the map, `unmatched` and the recorder.
    final class Slot<Tag>: SubstitutionURLProtocol {
        override class var attachment: Attachment? { Slots.attachment(of: self) }
    }
}
