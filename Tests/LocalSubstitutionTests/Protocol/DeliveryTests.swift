import Testing

@testable import LocalSubstitution

@Suite("A protocol's delivery")
struct DeliveryTests {
    @Test("ends once")
    func once() throws {
        var delivery = Delivery()
        let begun = delivery.begin()
        let attempt = try #require(begun)
        let result1 = delivery.end(attempt)
        #expect(result1 == false)
        let result2 = delivery.end(attempt)
        #expect(result2 == nil)
        let result3 = delivery.pass(attempt)
        #expect(!result3)
    }

    @Test("does not end once it was stopped, until it is begun again")
    func stopped() throws {
        var delivery = Delivery()
        let begun = delivery.begin()
        let first = try #require(begun)
        let result4 = delivery.stop()
        #expect(result4 == nil)
        let result5 = delivery.end(first)
        #expect(result5 == nil)
        let again = delivery.begin()
        let second = try #require(again)
        let result6 = delivery.end(first)
        #expect(result6 == nil)
        let result7 = delivery.end(second)
        #expect(result7 == false)
    }

    @Test("says that pieces were passed on, and is not begun again after that")
    func pieces() throws {
        var delivery = Delivery()
        let begun = delivery.begin()
        let attempt = try #require(begun)
        let result8 = delivery.pass(attempt)
        #expect(result8)
        let result9 = delivery.begin()
        #expect(result9 == nil)
        let result10 = delivery.end(attempt)
        #expect(result10 == true)
    }
}
