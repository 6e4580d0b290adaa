/// The parameters of a URL's query by name, as conditions see them.
///
/// Names and values are in normal form, as in keys. So “a b” is `a%20b`, in a condition too. A parameter without `=` has an empty
/// value.
struct QueryFields {
    private let fields: [(name: String, value: String)]

    /// - Parameter query: A query in normal form, without its `?`.
    init(_ query: String?) {
        fields = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return (String(Substring(name)), String(Substring(parameter.dropFirst(name.count + 1))))
        }
    }

    /// Returns the values of a parameter, which may be given several times.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Returns the normal form of a name that is written in a condition.
    static func normalizedName(_ name: String) -> String { normalized(name, ofName: true) }

    /// Returns the normal form of a value that is written in a condition, with its wildcards.
    static func normalizedValue(_ value: String) -> Glob { Glob(Array(normalized(value, ofName: false).utf8)) }

    private static func normalized(_ text: String, ofName isName: Bool) -> String {
        let normal = URLPercentEncoding.normalize(
            text.utf8,
            allowed: URLPercentEncoding.query,
            keepsAsterisks: !isName
        )
        // A character that would end a parameter or its name is part of it here, so it must be encoded.
        let encoded = normal.reduce(into: [UInt8]()) { bytes, byte in
            if byte == UInt8(ascii: "&") || isName && byte == UInt8(ascii: "=") {
                PercentEncoding.append(byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
