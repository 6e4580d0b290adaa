import Foundation
import LocalSubstitution
import MapWriting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides about responses that arrived together. Of several for one URL, only the last can be kept.
struct RecordingBatch {
    /// A response to keep.
    struct Accepted {
        /// The response's index in the batch.
        let number: Int
        let response: ReceivedResponse
        let url: NormalizedURL
        let digest: String
    }

    /// The responses to keep, in the order of their arrival.
    let accepted: [Accepted]
    /// The URLs whose earlier copies are dropped.
    let dropped: [NormalizedURL]
    /// Why the other responses aren't kept, by their index in the batch.
    let refusals: [Int: NotKept]

    /// Decides about a batch of responses.
    ///
    /// - Parameters:
    ///   - limit: The largest total size of a recorder's files, in bytes.
    ///   - redact: Called once for each response that the rules would keep, in the order of their arrival.
    init(
        _ batch: [ReceivedResponse],
        _ foreign: ForeignEntries,
        limit: Int,
        redact: SubstitutionRecorder.Redaction?
    ) {
        var last: [String: (number: Int, response: ReceivedResponse, url: NormalizedURL)] = [:]
        var dropped: [NormalizedURL] = []
        var refusals: [Int: NotKept] = [:]
        for (number, response) in batch.enumerated() {
            var response = response
            var decision = RecordingDecision(response, foreign, limit: limit)
            if let redact, case .keep(let url) = decision {
                if response.redact(redact) {
                    decision = RecordingDecision(response, foreign, limit: limit)
                } else {
                    decision = .drop(url, .refused)
                }
            }
            switch decision {
            case .keep(let url):
                last[url.canonical] = (number, response, url)
            case .leave(let reason):
                refusals[number] = reason
            case .drop(let url, let reason):
                last[url.canonical] = nil
                dropped.append(url)
                refusals[number] = reason
            }
        }
        accepted = last.values.sorted { $0.number < $1.number }.map { number, response, url in
            let digest = Digest.hexadecimal(of: response.body)
            return Accepted(number: number, response: response, url: url, digest: digest)
        }
        self.dropped = dropped
        self.refusals = refusals
    }
}

/// What a recorder does with a response that has arrived.
private enum RecordingDecision {
    /// Keep the response in place of an earlier copy.
    case keep(NormalizedURL)
    /// Don't keep the response, and leave an earlier copy alone.
    case leave(NotKept)
    /// Don't keep the response, and drop an earlier copy, which is out of date or can't be kept any more.
    case drop(NormalizedURL, NotKept)

    /// - Parameter limit: The largest total size of a recorder's files, in bytes.
    init(_ received: ReceivedResponse, _ foreign: ForeignEntries, limit: Int) {
        let (request, response) = (received.request, received.response)
        let url: NormalizedURL
        do throws(NotKept) {
            url = try received.url()
            if let reason = RecordingRules.refusal(of: request, url) ?? foreign.refusal(of: url) { throw reason }
            for name in received.isBrowsed ? ["Range"] : ["Range", "Cookie"]
            where request.value(forHTTPHeaderField: name) != nil {
                throw .requestHeader(name)
            }
        } catch {
            self = .leave(error)
            return
        }
        let refusal =
            RecordingRules.refusal(ofRedirects: received.redirects)
            ?? Self.exclusion(ofTarget: response.url, of: request, foreign)
            ?? RecordingRules.refusal(
                of: response,
                bytes: received.body.count,
                most: limit / 20,
                isBrowsed: received.isBrowsed
            ) ?? received.obstacle
        if let refusal {
            self = [200, 404, 410].contains(response.statusCode) ? .drop(url, refusal) : .leave(refusal)
        } else {
            self = .keep(url)
        }
    }

    /// Returns why the map excludes the URL that a redirect led to; `nil` if it doesn't. A redirect must not bring in what the
    /// map excludes.
    private static func exclusion(ofTarget target: URL?, of request: URLRequest, _ foreign: ForeignEntries) -> NotKept?
    {
        guard let target, target != request.url, let url = try? NormalizedURL(target.absoluteString),
            let reason = foreign.refusal(of: url), case .excluded = reason
        else { return nil }
        return reason
    }
}
