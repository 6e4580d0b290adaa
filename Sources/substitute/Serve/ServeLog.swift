import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionServer

/// Prints a line for each request that a server has answered, and keeps totals.
final class ServeLog: Sendable {
    struct Totals: Sendable, Encodable {
        var requests = 0
        var substituted = 0
        var confirmed = 0
        var fromNetwork = 0
        var failed = 0
        var bytes = 0
    }

    private let cache: LocalSubstitutionCache
    private let output: Output
    private let counted = Guarded(Totals())

    init(_ cache: LocalSubstitutionCache, _ output: Output) {
        self.cache = cache
        self.output = output
    }

    var totals: Totals { counted.withLock { $0 } }

    func add(_ request: SubstitutionServer.LoggedRequest) {
        counted.withLock {
            $0.requests += 1
            $0.bytes += request.bytes
            switch request.source {
            case .substituted: $0.substituted += 1
            case .confirmed: $0.confirmed += 1
            case .network: $0.fromNetwork += 1
            case .failed: $0.failed += 1
            }
        }
        let milliseconds = request.seconds * 1_000
        let file = file(of: request)
        guard !output.printsJSON else {
            try? output.jsonLine(Record(request, file: file, milliseconds: milliseconds))
            return
        }
        let source: PrintedText
        switch request.source {
        case .substituted: source = "\(Fetch.Source.substituted(file: file), .green)"
        case .confirmed: source = "\(Fetch.Source.confirmed, .green)"
        case .network: source = "\(Fetch.Source.network)"
        case .failed(let reason): source = "\("failed", .red): \(reason.prefix { $0 != "\n" })"
        }
        output.line(
            """
            \(request.method) \(request.url)  \(request.status)  \(source)  \(Output.format(bytes: request.bytes))  \
            \(Output.format(milliseconds: milliseconds))
            """
        )
    }

    private func file(of request: SubstitutionServer.LoggedRequest) -> String? {
        guard case .substituted = request.source, let response = request.response else { return nil }
        return AnswerSources.file(of: response, by: cache)
    }

    private struct Record: Encodable {
        let method: String
        let url: String
        let status: Int
        let source: String
        let file: String?
        let bytes: Int
        let milliseconds: Double
        let error: String?

        init(_ request: SubstitutionServer.LoggedRequest, file: String?, milliseconds: Double) {
            method = request.method
            url = request.url
            status = request.status
            bytes = request.bytes
            self.file = file
            self.milliseconds = (milliseconds * 100).rounded() / 100
            switch request.source {
            case .substituted: (source, error) = ("substituted", nil)
            case .confirmed: (source, error) = ("confirmed", nil)
            case .network: (source, error) = ("network", nil)
            case .failed(let reason): (source, error) = ("failed", reason)
            }
        }
    }
}
