// A substitute for what Apple's Foundation has and Linux's doesn't. It's compiled as one more file of each target. It's declared as
// Xcode shows it, with bodies that never run.

public import Foundation
public import FoundationNetworking

/// Two initializers aren't here. The one with `diskPath` is deprecated, and Mac Catalyst doesn't have it. The one with `directory`
/// is a convenience of Apple's overlay, so a subclass's designated initializer can't call it. The compiler misses that error if a
/// `let` is set before (Swift 6.3.1).
open class URLCache: FoundationNetworking.URLCache, @unchecked Sendable {
    /// macOS 10.15, iOS 13. The header refines it for Swift.
    public init(__memoryCapacity memoryCapacity: Int, diskCapacity: Int, directoryURL: URL?) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: nil)
    }

    /// An instance of this class, like all caches there.
    @_nonoverride static var shared: URLCache {
        get { URLCache(__memoryCapacity: 0, diskCapacity: 0, directoryURL: nil) }
        set {}
    }
}

extension URLSessionConfiguration {
    /// In Apple's headers it's a property of the class.
    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    var usesClassicLoadingMode: Bool {
        get { true }
        set {}
    }
}

/// `sys/fcntl.h`, which Apple's Foundation exports.
let F_GETPATH: Int32 = 50

/// From the module `ObjectiveC`, which Apple's Foundation exports.
func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

final class CFRunLoop {}
final class CFString {}

struct CFRunLoopMode {
    let rawValue: CFString

    static var defaultMode: CFRunLoopMode { CFRunLoopMode(rawValue: CFString()) }
}

func CFRunLoopGetCurrent() -> CFRunLoop! { nil }
func CFRunLoopPerformBlock(_ loop: CFRunLoop!, _ mode: AnyObject!, _ block: (() -> Void)!) {}
func CFRunLoopWakeUp(_ loop: CFRunLoop!) {}

extension stat {
    var st_mtimespec: timespec { st_mtim }
    var st_ctimespec: timespec { st_ctim }
}
