import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("A protocol's delivery", .values)
struct DeliveryTests {
    @Test("It ends once")
    func once() {
        var delivery = Delivery()
        let start = delivery.begin()
        #expect(start == .attempt(1))
        let end = delivery.end(1)
        #expect(end == false)
        let again = delivery.end(1)
        #expect(again == nil)
        let piece = delivery.pass(1)
        #expect(!piece)
    }

    @Test("It doesn't begin again once it has ended, whether stopped or not", arguments: [false, true])
    func ended(isStopped: Bool) {
        var delivery = Delivery()
        _ = delivery.begin()
        _ = delivery.end(1)
        if isStopped { _ = delivery.stop() }
        let again = delivery.begin()
        #expect(again == nil)
    }

    @Test("It doesn't begin again while an attempt is running")
    func underWay() {
        var delivery = Delivery()
        _ = delivery.begin()
        let again = delivery.begin()
        #expect(again == nil)
        let end = delivery.end(1)
        #expect(end == false)
    }

    @Test("It doesn't end after it was stopped, until it begins again")
    func stopped() {
        var delivery = Delivery()
        _ = delivery.begin()
        let forwarding = delivery.stop()
        #expect(forwarding == nil)
        let early = delivery.end(1)
        #expect(early == nil)
        let again = delivery.begin()
        #expect(again == .attempt(2))
        let former = delivery.end(1)
        #expect(former == nil)
        let end = delivery.end(2)
        #expect(end == false)
    }

    @Test("It says that pieces were delivered")
    func pieces() {
        var delivery = Delivery()
        _ = delivery.begin()
        let piece = delivery.pass(1)
        #expect(piece)
        let end = delivery.end(1)
        #expect(end == true)
    }

    @Test("It fails once if it begins again after pieces were delivered")
    func takesNothingBack() {
        var delivery = Delivery()
        _ = delivery.begin()
        _ = delivery.pass(1)
        _ = delivery.stop()
        let again = delivery.begin()
        #expect(again == .failure)
        let last = delivery.begin()
        #expect(last == nil)
    }
}
