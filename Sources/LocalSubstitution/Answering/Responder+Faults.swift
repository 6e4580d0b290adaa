import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Files that can't be read are counted and reported as events. The next entry or the default cache answers instead.
extension Responder {
    /// Counts and reports a file that can't be read, and drops the URL's retained response.
    func report(_ problem: FileProblem, of substitution: Substitution, _ url: URL) {
        report(problem, key: substitution.key, file: substitution.fileURL ?? URL(fileURLWithPath: "/"), url)
    }

    func report(_ problem: FileProblem, key: String, file: URL, _ url: URL) {
        retained.remove(url.absoluteString)
        observers.count { $0.faults += 1 }
        observers.emit(.fault(url, key: key, file: file, reason: problem.fragment))
    }

    /// Reports the entries that were passed over because their files are gone.
    func reportGoneFiles(_ lookup: Lookup) {
        guard let match = lookup.decision.match, let url = lookup.request.url, let folder = lookup.folder else {
            return
        }
        for case (let entry, .fileIsGone(let name)) in match.passedOver {
            report(.missing, key: entry.key, file: folder.url(of: name), url)
        }
    }
}
