/// Responses that have arrived and aren't written yet, in the order of their arrival.
struct PendingResponses: Sendable {
    typealias Report = @Sendable (ReceivedResponse.Outcome) -> Void

    private(set) var all: [(response: ReceivedResponse, report: Report)] = []
    /// The total size of the bodies, in bytes.
    private(set) var bytes = 0
    /// Whether no more responses are accepted.
    var isClosed = false

    /// Whether the bodies take so much memory that they should be written now.
    var areMany: Bool { bytes > 1 << 20 }
    /// Whether the bodies take so much memory that no more should be delivered before they're written.
    var areTooMany: Bool { bytes > 16 << 20 }

    mutating func append(_ response: ReceivedResponse, report: @escaping Report) {
        all.append((response, report))
        bytes += response.body.count
    }

    mutating func removeFirst(_ count: Int) {
        bytes -= all.prefix(count).reduce(0) { $0 + $1.response.body.count }
        all.removeFirst(count)
    }
}
