#if DEBUG && os(Linux)
import Foundation

/// ThreadSanitizer's own words for “taken” and “given back” (its header `tsan_interface.h`); absent where it doesn't run.
@usableFromInline enum ThreadSanitizer {
    @usableFromInline typealias Annotation = @convention(c) (UnsafeMutableRawPointer?) -> Void

    @usableFromInline static let acquire = annotation("__tsan_acquire")
    @usableFromInline static let release = annotation("__tsan_release")

    private static func annotation(_ name: String) -> Annotation? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Annotation.self) }
    }
}
#endif
