/// The parameters of a URL's query: split at `&`, each with its name before the first `=`.
struct Query {
    private let parameters: [Substring.UTF8View]

    /// - Parameter text: A query in normal form, without its `?`.
    init(_ text: some StringProtocol) {
        parameters = Substring(text).utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    }

    private init(parameters: [Substring.UTF8View]) {
        self.parameters = parameters
    }

    var count: Int { parameters.count }

    var text: String {
        parameters.map { String(Substring($0)) }.joined(separator: "&")
    }

    /// The same parameters, sorted by name. Parameters with the same name keep their order.
    var sorted: Query {
        Query(parameters: parameters.sorted { Self.name($0).lexicographicallyPrecedes(Self.name($1)) })
    }

    /// For each wildcard of `sorted`, in order, its position among those of this query.
    var wildcardsOfSorted: [Int] {
        var places: [[Int]] = []
        for parameter in parameters {
            let first = places.reduce(0) { $0 + $1.count }
            places.append(Array(first..<first + parameter.count { $0 == UInt8(ascii: "*") }))
        }
        return parameters.indices
            .sorted { Self.name(parameters[$0]).lexicographicallyPrecedes(Self.name(parameters[$1])) }
            .flatMap { places[$0] }
    }

    /// Returns the query without the parameters that a rule ignores; `nil` if nothing is left.
    func removing(_ rule: IgnoreQuery) -> Query? {
        let left = parameters.filter { !rule.ignores(Array(Self.name($0))) }
        return left.isEmpty ? nil : Query(parameters: left)
    }

    private static func name(_ parameter: Substring.UTF8View) -> Substring.UTF8View {
        parameter.prefix { $0 != UInt8(ascii: "=") }
    }
}
