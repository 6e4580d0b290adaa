// Stands in for what Apple's Foundation has and Linux's doesn't: it is compiled as one more file of each target. Declared as
// Xcode shows it, with bodies that are never run.

public import Foundation
public import FoundationNetworking

/// The folder is a `URL` on Apple platforms. There, the initializer with `diskPath` is deprecated, and Mac Catalyst doesn't have
/// it; so it isn't here either.
open class URLCache: FoundationNetworking.URLCache, @unchecked Sendable {
    /// macOS 10.15, iOS 13.
    public init(memoryCapacity: Int, diskCapacity: Int, directory directoryURL: URL? = nil) {
        super.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: nil)
    }

    /// One of this class, as all caches are there.
    @_nonoverride static var shared: URLCache {
        get { URLCache(memoryCapacity: 0, diskCapacity: 0) }
        set {}
    }
}

/// `sys/fcntl.h`, which Apple's Foundation exports.
let F_GETPATH: Int32 = 50

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
