#if canImport(Testing)
import MapTools
import Testing

/// What one test, or a test with one of its arguments, has recorded.
struct RecordedTest: Sendable {
    let name: SubstitutionScope.TestName
    /// The requests, without their responses, and what is kept of both.
    var recorded: [(request: TestSubstitutions.Request, exchange: RecordedExchange)] = []

    var exchanges: [RecordedExchange] { recorded.map(\.exchange) }

    mutating func add(_ exchange: RecordedExchange, to request: TestSubstitutions.Request) {
        var request = request
        request.response = nil
        recorded.append((request, exchange))
    }

    /// Returns whether a test comes before another in the source code. Responses determine the order of a test's
    /// arguments.
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
