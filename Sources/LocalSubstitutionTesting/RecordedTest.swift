#if canImport(Testing)
import MapTools
import Testing

/// The recorded exchanges of a test, or of a test with one of its arguments.
struct RecordedTest: Sendable {
    let name: SubstitutionScope.TestName
    /// The requests, without their responses, and the exchanges to keep.
    var recorded: [(request: TestSubstitutions.Request, exchange: RecordedExchange)] = []

    var exchanges: [RecordedExchange] { recorded.map(\.exchange) }

    mutating func add(_ exchange: RecordedExchange, to request: TestSubstitutions.Request) {
        var request = request
        request.response = nil
        recorded.append((request, exchange))
    }

    /// Returns whether a test comes before another in the source code. One test's recordings with different arguments
    /// are ordered by their exchanges.
    static func < (one: Self, other: Self) -> Bool {
        for (first, second) in [(one.name.location, other.name.location), (one.name.scope, other.name.scope)] {
            let (first, second) = (
                (first.fileID, first.line, first.column), (second.fileID, second.line, second.column)
            )
            if first != second { return first < second }
        }
        return one.exchanges.lexicographicallyPrecedes(other.exchanges) { $0.precedes($1) }
    }
}
#endif
