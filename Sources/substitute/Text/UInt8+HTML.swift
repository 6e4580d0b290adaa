/// What HTML and CSS say of single bytes.
extension UInt8 {
    /// Also in CSS, once its line ends are made alike.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || isLineEnd }

    var isLineEnd: Bool { self == 0x0A || self == 0x0D || self == 0x0C }
}
