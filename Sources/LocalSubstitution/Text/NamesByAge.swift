/// Names, from oldest to newest.
///
/// Each added name has a stamp that's higher than all earlier stamps. If a name is added again, it's in the list twice,
/// with two stamps. The caller knows which stamp of a name is current, if any. Names with other stamps are out of date.
/// They're removed once they outnumber the current stamps by more than 64.
package struct NamesByAge: Sendable {
    /// The names and their stamps, the oldest first.
    private var items: [(name: String, stamp: Int)]
    /// The position of the oldest name. Those before it are removed later, all at once, so that removing the oldest doesn't
    /// move the others each time.
    private var start = 0

    /// - Parameter items: The names and their stamps, the oldest first.
    package init(_ items: [(name: String, stamp: Int)] = []) { self.items = items }

    /// The number of names in memory, including those that are out of date or removed.
    var count: Int { items.count }

    /// - Parameters:
    ///   - count: The number of names with a current stamp.
    ///   - isCurrent: Whether a stamp is the current stamp of a name.
    package mutating func append(_ name: String, stamp: Int, of count: Int, where isCurrent: (String, Int) -> Bool) {
        items.append((name, stamp))
        guard items.count > 2 * count + 64 else { return }
        items = items[start...].filter { isCurrent($0.name, $0.stamp) }
        start = 0
    }

    /// Removes and returns the oldest name with a current stamp. Also removes older names, which are out of date.
    package mutating func popFirst(where isCurrent: (String, Int) -> Bool) -> String? {
        let first = items[start...].firstIndex { isCurrent($0.name, $0.stamp) }
        start = first.map { $0 + 1 } ?? items.count
        return first.map { items[$0].name }
    }
}
