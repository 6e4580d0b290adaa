#if os(Linux)
/// The version of a system, such as 15.4.
struct SystemVersion: Comparable, Sendable, CustomStringConvertible {
    let major: Int
    let minor: Int

    init(_ major: Int, _ minor: Int = 0) { (self.major, self.minor) = (major, minor) }

    static func < (left: Self, right: Self) -> Bool { (left.major, left.minor) < (right.major, right.minor) }

    var description: String { minor == 0 ? "\(major)" : "\(major).\(minor)" }
}
#endif
