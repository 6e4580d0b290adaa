/// The query parameters that an entry ignores when URLs are compared: the map's field `ignoreQuery`.
package struct IgnoreQuery: Hashable, Sendable {
    /// The parameters' names, some perhaps with a `*` at the end; `nil` for all parameters.
    let names: [String]?

    package init(names: [String]?) { self.names = names }

    func ignores(_ encodedName: [UInt8]) -> Bool {
        guard let names else { return true }
        let name = PercentEncoding.decode(encodedName)
        return names.contains { rule in
            rule.hasSuffix("*") ? name.starts(with: rule.utf8.dropLast()) : name.elementsEqual(rule.utf8)
        }
    }
}
