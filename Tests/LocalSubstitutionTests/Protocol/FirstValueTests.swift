import TestSupport
import Testing

@testable import LocalSubstitution

@Suite("A value that a callback sets", .values)
struct FirstValueTests {
    @Test("The first value counts, whether it's set before or after someone waits", arguments: [false, true])
    func first(isEarly: Bool) async {
        let value = FirstValue<Int>()
        if isEarly { value.set(1) }
        let waiting = Task { await value.wait() }
        if isEarly { value.set(2) } else { value.set(1) }
        #expect(await waiting.value == 1)
        value.set(3)
    }

    @Test("A cancelled task stops waiting")
    func cancelled() async {
        let value = FirstValue<Int>()
        let waiting = Task { await value.wait() }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}
