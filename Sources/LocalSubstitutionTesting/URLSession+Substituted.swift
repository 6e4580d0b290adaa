#if canImport(Testing)
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// The running test's session, from ``TestSubstitutions/current``.
    public static var substituted: URLSession { TestSubstitutions.current.session }
}
#endif
