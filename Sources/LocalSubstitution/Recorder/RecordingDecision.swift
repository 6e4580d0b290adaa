import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a recorder does with a response that has arrived.
enum RecordingDecision {
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
