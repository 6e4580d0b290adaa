import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The parts of a recorder that the protocol uses.
extension SubstitutionRecorder {
    /// Returns whether a request goes through the recorder. If so, its response is kept if the rules allow it, and the kept copy
    /// answers when there's no network.
    func takes(_ request: URLRequest) -> Bool {
        guard let url = Self.url(of: request), RecordingRules.refusal(of: request, url) == nil else { return false }
        return !contents.isClosed && !contents.foreign.isExcluded(url)
    }

    /// Returns the validators with which a request can ask the server whether the kept copy is still current. Returns `nil` if
    /// there's no copy, if a redirect led to it, or if the request has its own conditions.
    func validators(for request: URLRequest) -> Validators? {
        guard let url = Self.url(of: request), let kept = contents.response(for: url),
            let validators = Validators(entityTag: kept.entityTag, lastModified: kept.lastModified)
        else { return nil }
        let conditions = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        return conditions.contains { request.value(forHTTPHeaderField: $0) != nil } ? nil : validators
    }

    /// Returns the kept copy, or what the recorder's own map answers for the URL; `nil` if there is neither.
    ///
    /// If a body for the URL has arrived, it's written first, since an app that has received a response can request it again at
    /// once.
    func answer(_ request: URLRequest) throws(FileProblem) -> CachedURLResponse? {
        guard let url = Self.url(of: request), let requested = request.url else { return nil }
        contents.writeBodies(neededFor: url)
        while true {
            let kept = contents.response(for: url)
            let substitution =
                kept.map { Substitution($0.entry, fileName: $0.file, folder: contents.resources, url: url) }
                ?? contents.foreign.substitution(for: url)
            guard let substitution else { return nil }
            do throws(FileProblem) {
                let file = try substitution.fileName.map { name throws(FileProblem) in
                    try FileBytes(opening: name, in: contents.resources)
                }
                let builder = ResponseBuilder(substitution: substitution, file: file)
                if let range = request.rangeHeader { return builder.part(range, for: requested) }
                return builder.full(for: requested)
            } catch {
                // A newer copy may have arrived in the meantime, and the old file may be gone.
                guard let kept, contents.response(for: url)?.file != kept.file else { throw error }
            }
        }
    }

    /// Returns whether ``answer(_:)`` has something to read.
    func hasAnswer(to request: URLRequest) -> Bool {
        guard let url = Self.url(of: request) else { return false }
        return contents.response(for: url) != nil || contents.foreign.substitution(for: url) != nil
    }

    /// Notes that the server still has what is kept.
    func confirm(_ request: URLRequest) {
        guard let url = Self.url(of: request), !contents.isClosed else { return }
        contents.confirm(url)
        saveSoon()
    }

    /// Keeps a response if the rules allow it. It's written soon afterward, on another queue.
    ///
    /// Call this before the response is delivered, so that ``flush()`` waits for it.
    ///
    /// - Parameter report: Called once with what happened to the response.
    func record(_ response: ReceivedResponse, report: @escaping @Sendable (ReceivedResponse.Outcome) -> Void) {
        if contents.add(response, report: report) { writeBodiesSoon() }
        saveSoon()
    }

    /// Whether the responses that aren't written yet take too much memory. Then ``writeBodies()`` should be called before more are
    /// delivered.
    var isBehind: Bool { contents.hasTooManyPending }

    /// Writes the bodies of the responses that have arrived.
    func writeBodies() { contents.writeBodies() }

    private static func url(of request: URLRequest) -> NormalizedURL? {
        request.url.flatMap { try? NormalizedURL($0.absoluteString) }
    }
}
