import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the protocol asks of a recorder.
extension SubstitutionRecorder {
    /// Whether a request goes through the recorder: kept where its response may be, answered by the kept copy without a network.
    func takes(_ request: URLRequest) -> Bool {
        guard let url = Self.url(of: request), RecordingRules.refusal(of: request, url) == nil else { return false }
        return !contents.isClosed && !contents.foreign.isExcluded(url)
    }

    /// What a request can ask the server with whether the kept copy is still right; `nil` if none is kept, if it came from
    /// another URL, or if the request has conditions of its own.
    func validators(for request: URLRequest) -> Validators? {
        guard let url = Self.url(of: request), let kept = contents.response(for: url),
            let validators = Validators(entityTag: kept.entityTag, lastModified: kept.lastModified)
        else { return nil }
        let conditions = ["Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"]
        return conditions.contains { request.value(forHTTPHeaderField: $0) != nil } ? nil : validators
    }

    /// The kept copy, or what the recorder's own map says for the URL; `nil` if there is none.
    ///
    /// If a body for the URL has arrived, it's written first: an app that has received a response can ask for it at once.
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
                // A newer copy may have arrived meanwhile, and the old file may be gone.
                guard let kept, contents.response(for: url)?.file != kept.file else { throw error }
            }
        }
    }

    /// Whether ``answer(_:)`` has something to read.
    func hasAnswer(to request: URLRequest) -> Bool {
        guard let url = Self.url(of: request) else { return false }
        return contents.response(for: url) != nil || contents.foreign.substitution(for: url) != nil
    }

    /// Notes that the kept copy is what the server still has.
    func confirm(_ request: URLRequest) {
        guard let url = Self.url(of: request), !contents.isClosed else { return }
        contents.confirm(url)
        saveSoon()
    }

    /// Keeps a response if it may be kept, soon and on another queue.
    ///
    /// Call it before the response is delivered, so that ``flush()`` waits for it.
    ///
    /// - Parameter report: Called once, with what became of the response.
    func record(_ response: ReceivedResponse, report: @escaping @Sendable (ReceivedResponse.Outcome) -> Void) {
        if contents.add(response, report: report) { writeBodiesSoon() }
        saveSoon()
    }

    /// Whether the responses that aren't written yet take too much memory, so that ``writeBodies()`` should be called before more
    /// are delivered.
    var isBehind: Bool { contents.hasTooManyPending }

    /// Writes the bodies of the responses that have arrived.
    func writeBodies() { contents.writeBodies() }

    private static func url(of request: URLRequest) -> NormalizedURL? {
        request.url.flatMap { try? NormalizedURL($0.absoluteString) }
    }
}
