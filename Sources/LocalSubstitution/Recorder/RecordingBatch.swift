import Foundation

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
