/// Something whose cost is measured.
package struct Subject: Sendable {
    package enum Work: Sendable {
        /// Does the operation this many times. The figure is the time for one.
        case operations(@Sendable (Int) async throws -> Void)
        /// Does the operation once and returns how many bytes it took, or another count.
        case bytes(@Sendable () throws -> Int)
    }

    package let name: String
    /// How many operations make one measurement: enough to take some milliseconds.
    package let operations: Int
    /// Makes everything that's needed in advance, and returns the work.
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

    init(countOf name: String, _ prepare: @escaping @Sendable () throws -> @Sendable () throws -> Int) {
        self.init(bytesOf: name, prepare)
    }

    init(bytesOf name: String, _ prepare: @escaping @Sendable () throws -> @Sendable () throws -> Int) {
        self.name = name
        operations = 1
        self.prepare = { .bytes(try prepare()) }
    }
}

/// Uses a value, so that the compiler can't leave out the code that makes it.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
