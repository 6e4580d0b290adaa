import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The protocol class of one attaching.
///
/// Foundation tells a protocol neither its session nor its configuration, only its class. So each attaching has a class of its
/// own, and the class tells which map, `unmatched` and recorder apply.
final class Slot<Tag>: SubstitutionURLProtocol {
    override class var attachment: Attachment? { Slots.attachment(of: self) }
}
