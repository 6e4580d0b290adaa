/// What answers if the network fails.
enum Fallback: Sendable {
    case entry(Substitution)
    case keeper(any ResponseKeeper)
}
