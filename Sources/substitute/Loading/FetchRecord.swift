import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The JSON that `--json` prints for a load.
struct FetchRecord: Encodable {
    let url: String
    let source: String
    let file: String?
    let status: Int?
    let type: String?
    let bytes: Int
    let milliseconds: Double?
    let error: String?

    init(_ fetch: Fetch, isTimed: Bool = true) {
        url = fetch.url.absoluteString
        status = fetch.response?.statusCode
        type = fetch.response == nil ? nil : fetch.type
        bytes = fetch.body.count
        milliseconds = isTimed ? (fetch.milliseconds * 100).rounded() / 100 : nil
        switch fetch.source {
        case .substituted(let name): (source, file, error) = ("substituted", name, nil)
        case .confirmed: (source, file, error) = ("confirmed", nil, nil)
        case .defaultCache: (source, file, error) = ("default cache", nil, nil)
        case .network: (source, file, error) = ("network", nil, nil)
        case .failed(let message): (source, file, error) = ("failed", nil, message)
        }
    }
}
