import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if COMPARE_WITH_MOCKER
import Mocker
#endif

// Each fetch is `URLSession.data(from:)` for 10 kB, with as many URLs known as a few tests or a large app have.

extension Topic {
    static let counts = [10, 100, 10_000].map { count in
        let hand = Subject.byHand(count)
        let attached = Subject.attached(count)
        #if COMPARE_WITH_MOCKER
        let mocker = Subject.byMocker(count)
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

extension Subject {
    fileprivate static func byHand(_ count: Int) -> Subject {
        Subject("fetch among \(count) URLs, by hand", operations: 200) {
            for key in keys(count) { HandWrittenProtocol.bodies[key] = Data(repeating: 0, count: size) }
            return fetches(fetched(count), HandWrittenProtocol.self)
        }
    }

    fileprivate static func attached(_ count: Int) -> Subject {
        Subject("fetch among \(count) entries, attached", operations: 200) {
            let files = fetched(count).count
            let fixture = try Fixture(
                json: Fixture.json(entries: count, files: files),
                files: files,
                bytesPerFile: size
            )
            let configuration = URLSessionConfiguration.default
            try fixture.cache().attach(to: configuration)
            return fetches(fetched(count), configuration) { withExtendedLifetime(fixture) {} }
        }
    }

    #if COMPARE_WITH_MOCKER
    /// Mocker has one list of mocks, so those of the topic before are removed.
    fileprivate static func byMocker(_ count: Int) -> Subject {
        Subject("fetch among \(count) mocks, by Mocker", operations: 200) {
            Mocker.removeAll()
            let body = Data(repeating: 0, count: size)
            let urls = keys(count).compactMap { URL(string: $0) }
            let time = ContinuousClock().measure {
                for url in urls {
                    Mock(url: url, contentType: .imagePNG, statusCode: 200, data: [.get: body]).register()
                }
                // Mocker registers on a queue of its own. This waits until the last mock is known.
                if let last = urls.last { _ = MockingURLProtocol.canInit(with: URLRequest(url: last)) }
            }
            print("Registering \(count) mocks took \(time).")
            return fetches(fetched(count), MockingURLProtocol.self)
        }
    }
    #endif

    private static func keys(_ count: Int) -> [String] { (0..<count).map(Fixture.key) }

    /// The keys that are fetched in turn: at most 100 of them, spread over all.
    private static func fetched(_ count: Int) -> [String] {
        stride(from: 0, to: count, by: max(1, count / Fixture.files)).map(Fixture.key)
    }

    private static func fetches(
        _ urls: [String],
        _ protocolClass: URLProtocol.Type
    ) -> @Sendable (Int) async throws -> Void {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [protocolClass]
        return fetches(urls, configuration)
    }
}
