import Foundation
import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Subject {
    private static let entries = 10_000

    fileprivate static let bareOneThread = bare("bare dictionary, one thread", threads: 1)
    fileprivate static let bareTwoThreads = bare("bare dictionary, two threads", threads: 2)
    fileprivate static let hitOneThread = hit("hits, one thread", threads: 1)
    fileprivate static let hitTwoThreads = hit("hits, two threads", threads: 2)

    private static func bare(_ name: String, threads: Int) -> Subject {
        Subject(name, operations: 400_000) {
            let files = Fixture.dictionary(entries: entries)
            let requests = ownRequests(threads)
            return { count in
                run(threads: threads) { thread in
                    requests[thread].cycle(count / threads) { request in
                        if let url = request.url { consume(files[url.absoluteString]) }
                    }
                }
            }
        }
    }

    private static func hit(_ name: String, threads: Int) -> Subject {
        Subject(name, operations: 400_000) {
            let fixture = try Fixture(json: Fixture.json(entries: entries))
            let cache = try fixture.cache()
            let requests = ownRequests(threads)
            for own in requests { try own.load(into: cache) }
            return { count in
                run(threads: threads) { thread in
                    requests[thread].cycle(count / threads) { consume(cache.cachedResponse(for: $0)) }
                }
                withExtendedLifetime(fixture) {}
            }
        }
    }

    /// Returns requests for each thread, for every second entry even if there is only one thread.
    private static func ownRequests(_ threads: Int) -> [Requests] {
        (0..<threads).map { Requests(entries: stride(from: $0, to: entries, by: 2)) }
    }

    private static func run(threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<threads {
            group.enter()
            Thread {
                body(number)
                group.leave()
            }.start()
        }
        group.wait()
    }
}

extension Topic {
    /// Each thread has its own requests. The figure is how much more two threads do than one.
    static let threads = Topic(
        name: "threads",
        subjects: [.bareOneThread, .bareTwoThreads, .hitOneThread, .hitTwoThreads],
        rows: [
            Row(
                "two threads: gain over one",
                .gain(of: .hitTwoThreads, over: .hitOneThread),
                per: .gain(of: .bareTwoThreads, over: .bareOneThread),
                .atLeast(0.8)
            )
        ]
    )
}
