import Dispatch
import Foundation
import Guarded

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One response that may be kept, from before it is delivered: ``SubstitutionRecorder/flush()`` waits for it to end.
///
/// It ends once, at the latest when it goes.
final class Keeping: Sendable {
    /// What became of a response.
    enum Outcome: Sendable {
        case kept(file: URL, bytes: Int)
        /// The same bytes are kept already, or just being kept.
        case unchanged
        case notKept(NotKept)
    }

    private let recorder: SubstitutionRecorder
    /// `nil` if the recorder was closed before.
    private let number: Int?

    init(_ recorder: SubstitutionRecorder) {
        self.recorder = recorder
        number = recorder.keepings.begin()
    }

    deinit {
        end()
    }

    /// Whether few enough are being kept that this one need not be waited for: else what has come but is not yet written would
    /// fill the memory.
    var isTimely: Bool { recorder.keepings.count <= 16 }

    /// Keeps a response. Writes the body here and now; the map follows on another queue.
    ///
    /// - Parameters:
    ///   - redirects: The requests for the targets of redirects that led to it. If there are any, it has no validators.
    ///   - obstacle: The reason why it can't be kept, if it could otherwise.
    func keep(
        response: HTTPURLResponse,
        body: Data,
        for request: URLRequest,
        redirects: [URLRequest],
        obstacle: NotKept? = nil
    ) -> Outcome {
        guard number != nil else { return .notKept(.closed) }
        return recorder.keep(response, body, for: request, redirects: redirects, obstacle: obstacle)
    }

    /// Notes that the kept copy is what the server still has, and ends.
    func confirm(_ request: URLRequest) {
        if number != nil { recorder.confirm(request) }
        end()
    }

    /// Ends without keeping anything.
    func end() {
        if let number { recorder.keepings.end(number) }
    }
}
