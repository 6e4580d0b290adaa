#if canImport(Testing)
import LocalSubstitution
import Testing

/// The arguments of a trait or of `withSubstitutions`.
struct ScopeOptions: Sendable {
    let source: MapSource
    let unmatched: TestSubstitutions.Unmatched
    let redact: (@Sendable (inout RecordedAnswer) -> Void)?
    /// Where issues are shown.
    let place: SourceLocation
}
#endif
