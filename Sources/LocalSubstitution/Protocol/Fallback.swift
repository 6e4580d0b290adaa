/// What answers if the network fails.
enum Fallback: Sendable {
    case entry(Substitution)
    case recorder(SubstitutionRecorder)
}
