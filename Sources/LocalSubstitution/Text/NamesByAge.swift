/// Names, from oldest to newest.
///
/// Each name has a stamp, higher than all earlier stamps. A name that's added again has a new stamp. The owner knows which of
/// a name's stamps is current, if any. Names with other stamps are out of date. They're removed once they're in the majority.
package struct NamesByAge: Sendable {
    private var items: [(name: String, stamp: Int)] = []
    private var first = 0

    init() {}

    /// - Parameter items: The names and their stamps, the oldest first.
    package init(_ items: [(name: String, stamp: Int)]) {
        self.items = items
    }

    /// The number of names, including those that are out of date.
    var count: Int { items.count }

    /// Adds a name as the newest.
    ///
    /// - Parameter count: The number of names with a current stamp.
    package mutating func append(_ name: String, stamp: Int, of count: Int, where isCurrent: (String, Int) -> Bool) {
        items.append((name, stamp))
        guard items.count - first > 2 * count + 64 else { return }
        items = items[first...].filter { isCurrent($0.name, $0.stamp) }
        first = 0
    }

    /// Removes and returns the oldest name with a current stamp; `nil` if there's none. Also removes the names before it.
    package mutating func popFirst(where isCurrent: (String, Int) -> Bool) -> String? {
        while first < items.count {
            let (name, stamp) = items[first]
            first += 1
            if first > 64, first * 2 > items.count {
                items.removeFirst(first)
                first = 0
            }
            if isCurrent(name, stamp) { return name }
        }
        return nil
    }
}
