import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The protocol classes made so far, one for each attachment. A class exists until the process ends, and is never used
/// for another attachment.
package enum Slots {
    private enum Content: Sendable {
        case attachment(Attachment)
        /// What makes the attachment again, if the class turns out to be in use.
        case remains(Attachment.Remains)
        case detached
    }

    private static let contents = Guarded<[ObjectIdentifier: Content]>([:])

    static func add(_ attachment: Attachment) -> SubstitutionURLProtocol.Type {
        contents.withLock { contents in
            let slot = slot(contents.count, Slot<Left, Left>.self)
            contents[ObjectIdentifier(slot)] = .attachment(attachment)
            return slot
        }
    }

    static func attachment(of slot: SubstitutionURLProtocol.Type) -> Attachment? {
        contents.withLock { contents in
            switch contents[ObjectIdentifier(slot)] {
            case .attachment(let attachment): return attachment
            case .remains(let remains):
                let attachment = remains()
                contents[ObjectIdentifier(slot)] = .attachment(attachment)
                return attachment
            case .detached, nil: return nil
            }
        }
    }

    /// Doesn't make a released attachment again.
    static func current(of slot: SubstitutionURLProtocol.Type) -> Attachment? {
        contents.withLock {
            if case .attachment(let attachment)? = $0[ObjectIdentifier(slot)] { attachment } else { nil }
        }
    }

    /// Releases the classes' attachments. If a session still uses a class, the attachment is made again. Call this when
    /// the cache is gone: its sessions probably are, too, but Foundation doesn't say so.
    static func release(_ slots: [SubstitutionURLProtocol.Type]) {
        for slot in slots {
            replace(slot) { if case .attachment(let attachment) = $0 { .remains(attachment.remains) } else { $0 } }
        }
    }

    /// Detaches a class. From now on, it fails every request that would reach the network.
    package static func empty(_ slot: SubstitutionURLProtocol.Type) { replace(slot) { _ in .detached } }

    /// Replaces a class's content. The old one ends outside the lock.
    private static func replace(_ slot: SubstitutionURLProtocol.Type, by content: (Content?) -> Content?) {
        let former = contents.withLock { contents in
            let former = contents[ObjectIdentifier(slot)]
            contents[ObjectIdentifier(slot)] = content(former)
            return former
        }
        withExtendedLifetime(former) {}
    }

    static func isEmptied(_ slot: SubstitutionURLProtocol.Type) -> Bool {
        if case .detached = contents.withLock({ $0[ObjectIdentifier(slot)] }) { true } else { false }
    }

    /// Returns the n-th class of a tree. Below each class are two others, which have it as a parameter, so a class
    /// nests about as many types as n has binary digits. Nesting n types would fail: a class with 255 nested types has
    /// no mangled name, but Objective-C needs one.
    private static func slot<Side, Above>(_ number: Int, _ top: Slot<Side, Above>.Type) -> SubstitutionURLProtocol.Type
    {
        guard number > 0 else { return top }
        let next = (number - 1) >> 1
        return number & 1 == 0
            ? slot(next, Slot<Left, Slot<Side, Above>>.self) : slot(next, Slot<Right, Slot<Side, Above>>.self)
    }

    private enum Left {}
    private enum Right {}
}

extension Slots {
    /// The protocol class of one attachment.
    ///
    /// Foundation tells a protocol neither its session nor its configuration, only its class. So each attachment has
    /// its own class, which determines the map, `unmatched` and the recorder.
    final class Slot<Side, Above>: SubstitutionURLProtocol {
        override class var attachment: Attachment? { Slots.attachment(of: self) }
        override class var attachmentInUse: Attachment? { Slots.current(of: self) }
    }
}
