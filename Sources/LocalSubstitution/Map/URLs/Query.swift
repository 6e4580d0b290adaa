/// The parameters of a URL's query, split at `&`. A parameter's name ends at its first `=`.
package struct Query {
    private let parameters: [ArraySlice<UInt8>]

    /// - Parameter text: A query in normal form, without its `?`.
    init(_ text: String) {
        parameters = Array(text.utf8).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    }

    private init(parameters: [ArraySlice<UInt8>]) {
        self.parameters = parameters
    }

    var count: Int { parameters.count }

    @inline(never)  // Otherwise, each of its callers would contain a copy.
    var text: String {
        parameters.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "&")
    }

    func texts(notIn other: Query) -> [String] {
        var others = Dictionary(other.parameters.map { ($0, 1) }, uniquingKeysWith: +)
        let left = parameters.filter { parameter in
            guard let count = others[parameter], count > 0 else { return !parameter.isEmpty }
            others[parameter] = count - 1
            return false
        }
        return left.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The parameters sorted by name. Parameters with the same name keep their order.
    var sorted: Query {
        Query(parameters: parameters.ordered { Self.name($0).lexicographicallyPrecedes(Self.name($1)) })
    }

    /// A query may have a parameter several times. Without an `=`, the value is empty.
    ///
    /// - Parameter name: The name in normal form; see ``normalizedName(_:)``.
    func values(of name: String) -> [String] {
        parameters.compactMap { parameter in
            let own = Self.name(parameter)
            guard !parameter.isEmpty, own.elementsEqual(name.utf8) else { return nil }
            return String(decoding: parameter.dropFirst(own.count + 1), as: UTF8.self)
        }
    }

    /// For each wildcard of the query ``sorted``, in order, its position among the wildcards of this query, from 0.
    var wildcardsOfSorted: [Int] {
        var places: [Range<Int>] = []
        for parameter in parameters {
            let first = places.last?.upperBound ?? 0
            places.append(first..<first + parameter.count { $0 == UInt8(ascii: "*") })
        }
        return parameters.indices
            .ordered { Self.name(parameters[$0]).lexicographicallyPrecedes(Self.name(parameters[$1])) }
            .flatMap { places[$0] }
    }

    /// `nil` if nothing is left.
    func removing(_ rule: Query.Ignored) -> Query? {
        let left = parameters.filter { !rule.ignores(Self.name($0)) }
        return left.isEmpty ? nil : Query(parameters: left)
    }

    private static func name(_ parameter: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        parameter.prefix { $0 != UInt8(ascii: "=") }
    }
}

extension Query {
    /// The query parameters that an entry ignores when URLs are compared: the map's field `ignoreQuery`.
    package struct Ignored: Equatable, Sendable {
        /// The parameters' names in UTF-8, each of which may end in `*`; `nil` for all parameters.
        let names: [[UInt8]]?

        /// A text that's the same for equal rules. Empty if the rule ignores nothing.
        var text: String { names?.map { "\($0.count) \(String(decoding: $0, as: UTF8.self))" }.joined() ?? "*" }

        package init(names: [String]?) { self.names = names?.map { Array($0.utf8) } }

        func ignores(_ encodedName: ArraySlice<UInt8>) -> Bool {
            guard let names else { return true }
            let name = PercentEncoding.decode(encodedName)
            return names.contains { $0.last == UInt8(ascii: "*") ? name.starts(with: $0.dropLast()) : name == $0 }
        }
    }
}

/// The normal form of names and values in conditions. It's the same as in a URL's query: “a b” becomes `a%20b`.
extension Query {
    static func normalizedName(_ name: String) -> String { normalized(name, ofName: true) }

    /// An asterisk is a wildcard.
    static func normalizedValue(_ value: String) -> Glob { Glob(normalized(value, ofName: false)) }

    private static func normalized(_ text: String, ofName isName: Bool) -> String {
        // In a condition, `&` is an ordinary character, and so is `=` in a name. In a query, `&` would end the
        // parameter and `=` the name, so both are encoded.
        var bytes: [UInt8] = []
        for byte in URLParts.normalizedQuery(Array(text.utf8)[...], keepsAsterisks: !isName) {
            if byte == UInt8(ascii: "&") || isName && byte == UInt8(ascii: "=") {
                PercentEncoding.append(byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
