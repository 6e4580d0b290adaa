import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An empty cache that keeps the loader waiting until it's told to answer.
final class HoldingCache: URLCache, @unchecked Sendable {
    // Unchecked, since a subclass of `URLCache` has to restate its superclass's conformance. Everything it adds is Sendable.
    private let held = Guarded<[@Sendable (CachedURLResponse?) -> Void]>([])

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        held.withLock { $0.append(completionHandler) }
    }

    func release() {
        let completionHandlers = held.withLock { held in
            defer { held = [] }
            return held
        }
        for completionHandler in completionHandlers { completionHandler(nil) }
    }
}
