/// Which query parameters an entry leaves out of the comparison: the map's field `ignoreQuery`.
struct IgnoreQuery: Hashable, Sendable {
    /// Names, each perhaps with a trailing `*`; `nil` = every parameter.
    let names: [String]?

    func ignores(_ encodedName: [UInt8]) -> Bool {
        guard let names else { return true }
        let name = PercentEncoding.decode(encodedName)
        return names.contains { rule in
            rule.hasSuffix("*") ? name.starts(with: rule.utf8.dropLast()) : name.elementsEqual(rule.utf8)
        }
    }
}
