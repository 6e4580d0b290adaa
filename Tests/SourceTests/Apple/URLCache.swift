// A substitute for Apple's `URLCache`, compiled as one more file of `LocalSubstitution`. In other targets, the name means this class.

public import Foundation
public import FoundationNetworking

/// One initializer isn't here: the one with `directory` is a convenience of Apple's overlay, so a subclass's designated initializer
/// can't call it. The compiler misses that error if a `let` is set before (Swift 6.3.1).
open class URLCache: FoundationNetworking.URLCache, @unchecked Sendable {
    /// NSObject's, so a subclass must override it.
    public init() { super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil) }

    /// macOS 10.15, iOS 13. The header refines it for Swift.
    public init(__memoryCapacity memoryCapacity: Int, diskCapacity: Int, directoryURL: URL?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: nil)
    }

    /// To be deprecated. Mac Catalyst doesn't have it.
    public override init(memoryCapacity: Int, diskCapacity: Int, diskPath: String?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: nil)
    }

    /// An instance of this class, like all caches there.
    @_nonoverride public static var shared: URLCache {
        get { URLCache() }
        set {}
    }
}
