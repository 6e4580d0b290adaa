import Foundation

#if COMPARE_WITH_MOCKER
import Mocker

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#endif

// Each fetch is `URLSession.data(from:)` for 10 kB, with as many URLs known as a few tests or a large app have.

extension Topic {
    static let counts = [10, 100, 10_000].map { count in
        let hand = Subject.byHand(among: count)
        let attached = Subject.attached(among: count)
        #if COMPARE_WITH_MOCKER
        let mocker = Subject.byMocker(among: count)
        let others = [mocker]
        let rows = [Row(mocker.name, .time(mocker), per: .time(hand))]
        #else
        let (others, rows): ([Subject], [Row]) = ([], [])
        #endif
        return Topic(
            name: "\(count) entries",
            subjects: [hand, attached] + others,
            rows: [Row(attached.name, .time(attached), per: .time(hand))] + rows
        )
    }
}

#if COMPARE_WITH_MOCKER
extension Subject {
    /// Mocker has one list of mocks, so those of the topic before are removed.
    fileprivate static func byMocker(among count: Int) -> Subject {
        Subject("fetch among \(count) mocks, by Mocker", operations: 200) {
            Mocker.removeAll()
            let body = Data(repeating: 0, count: size)
            let urls = keys(count).compactMap { URL(string: $0) }
            let time = ContinuousClock().measure {
                for url in urls {
                    Mock(url: url, contentType: .imagePNG, statusCode: 200, data: [.get: body]).register()
                }
                // Mocker registers mocks on a separate queue. This waits until the last mock is known.
                if let last = urls.last { _ = MockingURLProtocol.canInit(with: URLRequest(url: last)) }
            }
            // Not in the table, which standard output gets.
            FileHandle.standardError.write(Data("Registering \(count) mocks took \(time).\n".utf8))
            let configuration = URLSessionConfiguration.default
            configuration.protocolClasses = [MockingURLProtocol.self]
            return fetches(spread(count), configuration)
        }
    }
}
#endif
