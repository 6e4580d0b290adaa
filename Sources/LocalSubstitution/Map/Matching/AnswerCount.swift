/// An alternative that answers a limited number of requests: the map's field `times`.
package struct AnswerCount: Hashable, Sendable {
    /// The entry's number in the map's index.
    let entry: Int
    /// The alternative's position, from 1.
    let alternative: Int
    /// How many requests it answers.
    let most: Int

    init(entry: Int, _ options: EntryOptions, most: Int) {
        self.entry = entry
        alternative = options.place?.number ?? 0
        self.most = most
    }
}
