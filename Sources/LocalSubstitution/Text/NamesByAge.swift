/// Names, from oldest to newest.
///
/// Each added name has a stamp that's higher than all earlier stamps. If a name is added again, it's in the list twice,
/// with two stamps. The caller knows which stamp of a name is current, if any. Names with other stamps are out of date.
/// They're removed once they outnumber the current stamps by more than 64.
package struct NamesByAge: Sendable {
    /// `leaving` has the older names, the oldest last. `arriving` has the newer names, the newest last.
    private var (leaving, arriving): ([(name: String, stamp: Int)], [(name: String, stamp: Int)])

    /// - Parameter items: The names and their stamps, the oldest first.
    package init(_ items: [(name: String, stamp: Int)] = []) {
        (leaving, arriving) = ([], items)
    }

    /// The number of names, including those that are out of date.
    var count: Int { leaving.count + arriving.count }

    /// Adds a name as the newest.
    ///
    /// - Parameters:
    ///   - count: The number of names with a current stamp.
    ///   - isCurrent: Returns whether a stamp is the current stamp of a name.
    package mutating func append(_ name: String, stamp: Int, of count: Int, where isCurrent: (String, Int) -> Bool) {
        arriving.append((name, stamp))
        guard self.count > 2 * count + 64 else { return }
        (leaving, arriving) = ([], (leaving.reversed() + arriving).filter { isCurrent($0.name, $0.stamp) })
    }

    /// Removes and returns the oldest name with a current stamp; `nil` if there's none. Also removes older names, which
    /// are out of date.
    package mutating func popFirst(where isCurrent: (String, Int) -> Bool) -> String? {
        while count > 0 {
            if leaving.isEmpty { (leaving, arriving) = (arriving.reversed(), []) }
            let (name, stamp) = leaving.removeLast()
            if isCurrent(name, stamp) { return name }
        }
        return nil
    }
}
