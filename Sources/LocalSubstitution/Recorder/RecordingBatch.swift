import Foundation

/// What becomes of responses that arrived together: of those for one URL, only the last one can be kept.
struct RecordingBatch {
    /// A response that is to be kept.
    struct Accepted {
        /// Its place in the batch.
        let number: Int
        let response: ReceivedResponse
        let url: NormalizedURL
        let digest: String
    }

    /// In the order of their arrival.
    let accepted: [Accepted]
    /// The URLs whose earlier copies go.
    let dropped: [NormalizedURL]
    /// Why the others are not kept, by their places in the batch.
    let refusals: [Int: NotKept]

    /// - Parameters:
    ///   - limit: How many bytes a recorder's files may have together.
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
