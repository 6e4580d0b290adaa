extension Sequence {
    /// Equal elements keep their order.
    ///
    /// Sorts positions, not elements, so that all callers share the code of one sort. The compiler would copy
    /// `sorted(by:)` for each caller, which takes 4 kB.
    package func ordered(by isBefore: @escaping (Element, Element) -> Bool) -> [Element] {
        let elements = Array(self)
        let order = Order { isBefore(elements[$0], elements[$1]) }
        return order.positions(elements.count)?.map { elements[$0] } ?? elements
    }
}

/// An order of positions. It's a class that stores the closure. If a function took the closure, the compiler would copy
/// the function for each closure.
private final class Order {
    private let isBefore: (Int, Int) -> Bool

    init(_ isBefore: @escaping (Int, Int) -> Bool) { self.isBefore = isBefore }

    /// `nil` if the positions are already in order.
    @inline(never)
    func positions(_ count: Int) -> [Int]? {
        var last = 1
        while last < count, !isBefore(last, last - 1) { last += 1 }
        return last < count ? (0..<count).sorted(by: isBefore) : nil
    }
}
