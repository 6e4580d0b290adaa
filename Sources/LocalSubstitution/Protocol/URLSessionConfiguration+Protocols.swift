import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// The protocol classes without the package's, and on Linux with all of Foundation's.
    ///
    /// Linux's loader offers a request that no listed class takes to the registered classes, which include an installed cache's
    /// (`URLSessionTask.swift`, `init(session:request:taskIdentifier:body:)`).
    var otherProtocolClasses: [AnyClass] {
        let others = (protocolClasses ?? []).filter { !($0 is SubstitutionURLProtocol.Type) }
        #if canImport(Darwin)
        return others
        #else
        let foundations = URLSessionConfiguration.ephemeral.protocolClasses ?? []
        return others + foundations.filter { foundation in !others.contains { $0 == foundation } }
        #endif
    }
}
