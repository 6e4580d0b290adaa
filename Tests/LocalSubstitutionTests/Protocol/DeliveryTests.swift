import Foundation
import TestSupport
import Testing

@testable import LocalSubstitution

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A protocol's delivery", .values)
struct DeliveryTests {
    private let piece = RequestLoad.Event.data(Data("a".utf8))
    private let end = RequestLoad.Event.end(.failed(nil, URLError(.timedOut)))

    @Test("It begins and ends once")
    func once() {
        var delivery = SubstitutionURLProtocol.Delivery()
        let early = delivery.takes(piece)
        #expect(!early)
        let begins = [delivery.begin(), delivery.begin()]
        #expect(begins == [true, false])
        let taken = [delivery.takes(piece), delivery.takes(end), delivery.takes(piece), delivery.takes(end)]
        #expect(taken == [true, true, false, false])
        let again = delivery.begin()
        #expect(!again)
    }

    @Test("It holds what arrives while the task is suspended, and delivers it in order")
    func suspended() {
        var delivery = SubstitutionURLProtocol.Delivery()
        _ = delivery.begin()
        delivery.suspend()
        let early = [delivery.takes(piece), delivery.takes(end)]
        #expect(early == [false, false])
        let held = delivery.resume()
        let taken = held.map { delivery.takes($0) }
        #expect(taken == [true, true])
        guard case .data? = held.first, case .end? = held.last else {
            Issue.record("The events aren't in order")
            return
        }
        let again = delivery.resume()
        #expect(again.isEmpty)
    }

    @Test("A task that's suspended twice gets nothing twice")
    func suspendedTwice() {
        var delivery = SubstitutionURLProtocol.Delivery()
        _ = delivery.begin()
        var counts: [Int] = []
        for _ in 0..<2 {
            delivery.suspend()
            _ = delivery.takes(piece)
            counts.append(delivery.resume().count)
        }
        #expect(counts == [1, 1])
    }

    @Test("It delivers nothing after it was cancelled, whether suspended or not", arguments: [false, true])
    func cancelled(isSuspended: Bool) {
        var delivery = SubstitutionURLProtocol.Delivery()
        _ = delivery.begin()
        let load = Task {}
        delivery.wait(for: load)
        if isSuspended {
            delivery.suspend()
            _ = delivery.takes(piece)
        }
        let cancelled = delivery.cancel().load
        #expect(cancelled == load)
        let held = delivery.resume()
        #expect(held.isEmpty)
        let late = delivery.takes(end)
        #expect(!late)
        let again = delivery.begin()
        #expect(!again)
    }

    @Test("It keeps no load once it has ended")
    func ended() {
        var delivery = SubstitutionURLProtocol.Delivery()
        _ = delivery.begin()
        delivery.wait(for: Task {})
        _ = delivery.takes(end)
        let load = delivery.cancel().load
        #expect(load == nil)
    }
}
