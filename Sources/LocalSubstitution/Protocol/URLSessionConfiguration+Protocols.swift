import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// The protocol classes without ours. On Linux with all of Foundation's.
    ///
    /// What no listed class takes, Linux's loader offers to the registered ones, and so to an installed cache's
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
