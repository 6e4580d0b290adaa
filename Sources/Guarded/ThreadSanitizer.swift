#if DEBUG && os(Linux)
import Foundation

/// The functions of `tsan_interface.h` that tell ThreadSanitizer when a lock is taken and released; `nil` if
/// ThreadSanitizer isn't running.
@usableFromInline enum ThreadSanitizer {
    @usableFromInline typealias Annotation = @convention(c) (UnsafeMutableRawPointer?) -> Void

    @usableFromInline static let acquire = annotation("__tsan_acquire")
    @usableFromInline static let release = annotation("__tsan_release")

    private static func annotation(_ name: String) -> Annotation? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Annotation.self) }
    }
}
#endif
