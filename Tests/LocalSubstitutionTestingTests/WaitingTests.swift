import Foundation
import Guarded
import LocalSubstitution
import LocalSubstitutionTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// No wait here ends by itself: those that aren't woken exceed the time limit.
@Suite(
    "Waiting for a request",
    .sessions,
    .timeLimit(.minutes(1)),
    .substituting(
        [
            "https://shop.example.com/orders": .text("ok").methods("GET", "POST"),
            "https://shop.example.com/slow": .text("late").methods("*").delay(3600),
        ],
        unmatched: .fail
    )
)
struct WaitingTests {
    private static let orders = "https://shop.example.com/orders"

    @Test("A request that was made before the call is returned at once")
    func before() async throws {
        _ = try await text(Self.orders)
        let found = try await TestSubstitutions.current.request(Self.orders, within: 0)
        #expect(found.outcome == .matched)
    }

    @Test("A request that is made after the call ends the wait", arguments: 0..<20)
    func after(_ number: Int) async throws {
        let current = TestSubstitutions.current
        async let found = current.request(Self.orders, method: "POST", within: 600)
        if number > 0 { await Task.yield() }
        _ = try await URLSession.substituted.data(for: order(Self.orders))
        #expect(try await found.body == Data("{}".utf8))
    }

    @Test("The request may still be under way")
    func underWay() async throws {
        let url = "https://shop.example.com/slow"
        let task = URLSession.substituted.dataTask(with: try #require(URL(string: url)))
        task.resume()
        let found = try await TestSubstitutions.current.request(url, within: 600)
        #expect(found.outcome == .underWay)
        task.cancel()
    }

    @Test(
        "A request whose task was cancelled before it had an outcome is cancelled, even if it was suspended",
        arguments: 0..<4
    )
    func cancelled(_ number: Int) async throws {
        let url = try #require(URL(string: "https://shop.example.com/slow"))
        let current = TestSubstitutions.current
        let error = await withCheckedContinuation { continuation in
            let task = URLSession.substituted.dataTask(with: url) { _, _, error in continuation.resume(returning: error)
            }
            task.resume()
            Task {
                if number > 0 { _ = try await current.request(url.absoluteString, within: 600) }
                if number > 1 { task.suspend() }
                if number > 2 { task.resume() }
                task.cancel()
            }
        }
        #expect((error as? URLError)?.code == .cancelled)
        // The first may have been cancelled before it began.
        let outcomes = current.requests.map(\.outcome)
        #expect(outcomes == [.cancelled] || number == 0 && outcomes.isEmpty)
        #expect(current.requests.allSatisfy { $0.error?.code == .cancelled })
    }

    enum Way: CaseIterable {
        case swiftTask, swiftTaskWithBody, ownSession, invalidatedSession
    }

    @Test("The requests of a cancelled Swift task and of an invalidated session are cancelled", arguments: Way.allCases)
    func cancelledOtherwise(_ way: Way) async throws {
        let url = "https://shop.example.com/slow"
        let current = TestSubstitutions.current
        let isOwn = way == .ownSession || way == .invalidatedSession
        let session = isOwn ? URLSession(configuration: current.configuration) : current.session
        let request = way == .swiftTaskWithBody ? try order(url) : URLRequest(url: try #require(URL(string: url)))
        // Several requests of one task group aren't tried: on Linux, cancelling them can hang in Foundation.
        let reading = Task { try await session.data(for: request) }
        _ = try await current.request(url, within: 600)
        if way == .invalidatedSession { session.invalidateAndCancel() } else { reading.cancel() }
        await #expect(throws: (any Error).self) { try await reading.value }
        #expect(current.requests.map(\.outcome) == [.cancelled])
    }

    @Test("The first outcome counts: cancelling afterwards changes nothing, and a timeout is a failure")
    func cancelledLate() async throws {
        let answered = try #require(URL(string: Self.orders))
        await withCheckedContinuation { continuation in
            let tasks = Guarded<[URLSessionTask]>([])
            let task = URLSession.substituted.dataTask(with: answered) { _, _, _ in
                tasks.withLock { $0.first }?.cancel()
                continuation.resume()
            }
            tasks.withLock { $0 = [task] }
            task.resume()
        }
        let url = try #require(URL(string: "https://shop.example.com/slow"))
        let slow = URLRequest(url: url, timeoutInterval: 0.01)
        await #expect(throws: URLError.self) { try await URLSession.substituted.data(for: slow) }
        #expect(TestSubstitutions.current.requests.map(\.outcome) == [.matched, .failed])
    }

    @Test("A request that is made after the call ends the wait before the request ends", arguments: 0..<20)
    func underWayAfter(_ number: Int) async throws {
        let url = "https://shop.example.com/slow"
        let current = TestSubstitutions.current
        async let found = current.request(url, within: 600)
        for _ in 0..<number { await Task.yield() }
        let task = URLSession.substituted.dataTask(with: try #require(URL(string: url)))
        task.resume()
        #expect(try await found.outcome == .underWay)
        task.cancel()
    }

    @Test("Any request can be waited for by its number", arguments: 1...4)
    func number(_ number: Int) async throws {
        let current = TestSubstitutions.current
        async let found = current.request("https://*.example.com/orders", number: number, within: 600)
        for count in 1...4 {
            _ = try? await text("https://shop.example.com/other")
            _ = try await URLSession.substituted.data(for: order(Self.orders, body: "\(count)"))
        }
        #expect(try await found.text == "\(number)")
    }

    @Test("Many can wait at once")
    func many() async throws {
        let current = TestSubstitutions.current
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...100 {
                group.addTask {
                    let found = try await current.request(Self.orders, method: "POST", number: number, within: 600)
                    return found.text == "\(number)"
                }
            }
            for number in 1...100 {
                _ = try await URLSession.substituted.data(for: order(Self.orders, body: "\(number)"))
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("All requests of a URL, a pattern or a method can be listed")
    func all() async throws {
        let current = TestSubstitutions.current
        _ = try await text(Self.orders)
        _ = try await URLSession.substituted.data(for: order(Self.orders))
        _ = try? await text("https://shop.example.com/other?page=2")
        #expect(try current.requests(matching: Self.orders).map(\.outcome) == [.matched, .matched])
        #expect(try current.requests(matching: Self.orders, method: "POST").map(\.text) == ["{}"])
        #expect(try current.requests(matching: "https://*/*").count == 3)
        let first = try await current.request(Self.orders, within: 0)
        #expect(first.request.httpMethod == "GET")
        #expect(try current.requests(matching: "https://shop.example.com/other").isEmpty)
        #expect(throws: (any Error).self) { try current.requests(matching: "shop/orders") }
    }

    @Test("If the time is over, the error lists what was requested instead")
    func timeout() async throws {
        let current = TestSubstitutions.current
        let message = { (method: String?, number: Int) in
            await #expect(throws: (any Error).self) {
                try await current.request(Self.orders, method: method, number: number, within: 0)
            }?.localizedDescription
        }
        #expect(await message(nil, 1)?.contains("The test has made no requests at all.") == true)
        _ = try await text(Self.orders)
        _ = try? await text("https://shop.example.com/order?token=s3cr3t")
        let one = try #require(await message("POST", 1))
        #expect(one.hasPrefix("No POST request for “https://shop.example.com/orders” was made within 0 seconds."))
        for line in [
            "\n  GET https://shop.example.com/orders: matched",
            "\n  GET https://shop.example.com/order?token=redacted: unmatched",
        ] {
            #expect(one.contains(line), "\(one)")
        }
        #expect(await message(nil, 2)?.hasPrefix("1 of 2 requests for “") == true)
    }

    @Test(
        "A short wait ends with the error, and so does one of 1 second if no time is given",
        arguments: [(0.01, "within 0.01 seconds."), (nil, "within 1 second.")] as [(Double?, String)]
    )
    func short(_ seconds: Double?, _ words: String) async throws {
        let current = TestSubstitutions.current
        let error = await #expect(throws: (any Error).self) {
            guard let seconds else { return try await current.request(Self.orders) }
            return try await current.request(Self.orders, within: seconds)
        }
        #expect(error?.localizedDescription.contains(words) == true, "\(error.debugDescription)")
    }

    @Test(
        "What isn't valid throws at once and says so",
        arguments: [
            ("shop/orders", 1, 600, "“shop/orders”"), ("https://sh*op/", 1, 600, "“https://sh*op/”"),
            (orders, 0, 600, "“number” is 0."), (orders, 1, -1, "“within” is -1.0 seconds."),
            (orders, 1, .nan, "“within” is nan seconds."),
        ]
    )
    func invalid(_ url: String, _ number: Int, _ seconds: Double, _ words: String) async throws {
        let error = await #expect(throws: (any Error).self) {
            try await TestSubstitutions.current.request(url, number: number, within: seconds)
        }
        #expect(error?.localizedDescription.contains(words) == true, "\(error.debugDescription)")
    }

    @Test("Cancelling ends the wait", arguments: [true, false])
    func cancelled(_ isEarly: Bool) async throws {
        let current = TestSubstitutions.current
        let waiting = Task {
            if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
            return try await current.request(Self.orders, within: 600)
        }
        if !isEarly {
            _ = try? await text("https://shop.example.com/other")
            waiting.cancel()
        }
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("Outside a test with substitutions, the error says what to write")
    func outside() async {
        let error = await #expect(throws: (any Error).self) {
            try await Task.detached { try await TestSubstitutions.current.request(Self.orders, within: 600) }.value
        }
        #expect(error?.localizedDescription.contains("There are no substitutions here") == true)
        await #expect(throws: (any Error).self) {
            try await Task.detached { try TestSubstitutions.current.requests(matching: Self.orders) }.value
        }
    }
}
