/// The parameters of a URL's query by name, as conditions see them.
///
/// Names and values are in normal form, as those of keys are. So “a b” is `a%20b`, also in a condition. A parameter without `=`
/// has an empty value.
struct QueryFields {
    private let fields: [(name: String, value: String)]

    /// - Parameter query: A query in normal form, without its `?`.
    init(_ query: String?) {
        fields = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return (String(Substring(name)), String(Substring(parameter.dropFirst(name.count + 1))))
        }
    }

    /// The values of a parameter, which may be given several times.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// A name in normal form, as it's written in a condition.
    static func normalizedName(_ name: String) -> String { normalized(name, ofName: true) }

    /// A value in normal form, as it's written in a condition, with its wildcards.
    static func normalizedValue(_ value: String) -> Glob { Glob(Array(normalized(value, ofName: false).utf8)) }

    private static func normalized(_ text: String, ofName isName: Bool) -> String {
        let normal = URLPercentEncoding.normalize(
            text.utf8,
            allowed: URLPercentEncoding.query,
            keepsAsterisks: !isName
        )
        // What would end a parameter or its name can only be meant encoded.
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
