import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Output {
    /// Prints a row for each load: where it came from, its status, MIME type, size, time and URL.
    ///
    /// - Parameter showsTimes: Whether there is a column for times.
    func table(of fetches: [Fetch], showsTimes: Bool = true) {
        table(
            fetches.map { fetch in
                let color: PrintedText.Color? =
                    switch fetch.source {
                    case .substituted, .confirmed: .green
                    case .failed: .red
                    case .defaultCache, .network: nil
                    }
                let status = fetch.response.map { String($0.statusCode) } ?? "—"
                let cells = [
                    fetch.source.description, status, fetch.type.isEmpty ? "—" : fetch.type,
                    Self.format(bytes: fetch.body.count),
                ]
                let times = showsTimes ? [Self.format(milliseconds: fetch.milliseconds)] : []
                return (color, cells + times + [fetch.url.absoluteString])
            },
            numbers: showsTimes ? [3, 4] : [3]
        )
    }
}
