/// Names, from oldest to newest.
///
/// Each name has a stamp, which is higher than those of older names. The owner knows the current stamp of each name; a name
/// with another stamp is out of date. Names that are out of date are removed once they're in the majority.
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

    /// - Parameter count: The number of names with a current stamp.
    package mutating func append(_ name: String, stamp: Int, of count: Int, where isCurrent: (String, Int) -> Bool) {
        items.append((name, stamp))
        guard items.count - first > 2 * count + 64 else { return }
        items = items[first...].filter { isCurrent($0.name, $0.stamp) }
        first = 0
    }

    /// Removes the oldest names, up to and including the first with a current stamp, and returns that name; `nil` if
    /// there's none.
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
