import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The protocol class of one attachment.
///
/// Foundation tells a protocol neither its session nor its configuration, only its class. So each attachment has its own class,
/// which determines the map, `unmatched` and the keeper.
final class Slot<Tag>: SubstitutionURLProtocol {
    override class var attachment: Attachment? { Slots.attachment(of: self) }
}
