#if os(Linux)
/// What may be used though it looks newer than the systems that Package.swift names.
enum Floor {
    /// Found wrongly.
    static let exceptions = [
        // The attribute is that of another overload, for the atomic integers.
        "FixedWidthInteger.&*(_:_:)",
        // Only a `for await` calls it, and only where it is there.
        "AsyncStream.Iterator.next(isolation:)", "TaskGroup.Iterator.next(isolation:)",
    ]

    /// Still to be replaced: this may only become less. By target.
    static let notYet: [String: [String]] = [:]
}
#endif
