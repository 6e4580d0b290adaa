/// Something whose cost is measured.
package struct Subject: Sendable {
    package enum Work: Sendable {
        /// Does the operation so many times; what counts is the time for one.
        case operations(@Sendable (Int) async throws -> Void)
        /// Does it once and says how many bytes it took.
        case bytes(@Sendable () throws -> Int)
    }

    package let name: String
    /// How many operations are one measurement: as many as take some milliseconds.
    package let operations: Int
    /// Makes all that is needed beforehand, and gives the work.
    package let prepare: @Sendable () throws -> Work

    init(
        _ name: String,
        operations: Int,
        _ prepare: @escaping @Sendable () throws -> @Sendable (Int) async throws -> Void
    ) {
        self.name = name
        self.operations = operations
        self.prepare = { .operations(try prepare()) }
    }

    init(bytesOf name: String, _ prepare: @escaping @Sendable () throws -> @Sendable () throws -> Int) {
        self.name = name
        operations = 1
        self.prepare = { .bytes(try prepare()) }
    }
}

/// Uses a value, so that the compiler can't leave out what made it.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
