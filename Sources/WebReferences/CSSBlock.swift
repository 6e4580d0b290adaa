/// An open block in a style sheet: parentheses, brackets or braces (CSS Syntax §5.4.8 and §5.4.9).
enum CSSBlock {
    /// A function whose strings are URLs (CSS Images 4 §2.4).
    case imageSet
    case parentheses
    case brackets
    case braces

    var closingByte: UInt8 {
        switch self {
        case .imageSet, .parentheses: UInt8(ascii: ")")
        case .brackets: UInt8(ascii: "]")
        case .braces: UInt8(ascii: "}")
        }
    }
}
